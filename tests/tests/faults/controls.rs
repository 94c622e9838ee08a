//! Controls: layers that handle a failed launch wrongly. Each layer is between the platform and the driver that
//! fails the launch, and the trial must find the mistake.

use std::sync::Arc;
use std::time::Duration;

use streamflow::driver::Driver;
use streamflow_tests::layers::faults::{Fault, How, Mishandles, Target, functions};
use streamflow_tests::{Failed, Suite, check, check_equal, check_text, child};

use super::base::{Above, Base, Way};
use super::reports::Ending;
use super::trial::{self, Trial};
use super::watchdog::{HANGS, Watchdog};
use super::world::World;

/// The role of the child process with a trial that hangs.
pub(crate) const HANGING: &str = "a trial that hangs";

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("control_a_right_library_is_explained", right)
        .plain("control_a_wrong_library_is_found", wrong)
        .plain("control_a_trial_that_hangs_is_ended", hangs)
}

/// Makes a trial with a layer above the driver, in which the second launch of the first source fails.
fn trial_with(above: Above) -> Result<Result<Ending, String>, Failed> {
    let base = Base::Host(Way::KeepsNothing);
    let clean = trial::clean(base, World::Seed).map_err(Failed::msg)?;
    let of_source = |place: &str| place.starts_with("run: source1.compute");
    let launch = clean.calls.iter().find(|(place, call, _)| of_source(place) && *call == "launch");
    let (place, call, _) = launch.ok_or_else(|| Failed::msg("the source launches nothing"))?;
    let target = Target { place: place.clone(), call, nth: 1 };
    let code = functions("launch")
        .iter()
        .flat_map(|function| function.errors)
        .find(|code| code.name == "CUDA_ERROR_INVALID_VALUE");
    let code = *code.ok_or_else(|| Failed::msg("no such error"))?;
    let fault = Fault { function: "cuLaunchKernel", code, takes_effect: false, lasts: false };
    let (world, expected) = (World::Seed, &clean.results);
    Ok(Trial { base, world, fault: Some((target, fault)), above, expected }.run())
}

fn right() -> Result<(), Failed> {
    check_equal(trial_with(|driver| driver)?, Ok(Ending::Returned))
}

fn layer(below: Arc<dyn Driver>, how: How) -> Arc<dyn Driver> {
    Arc::new(Mishandles::new(below, how))
}

fn wrong() -> Result<(), Failed> {
    let controls: [(How, Above, &str); 8] = [
        (How::Swallows, |driver| layer(driver, How::Swallows), "reported 0 times"),
        (How::ReportsTwice, |driver| layer(driver, How::ReportsTwice), "reported 2 times"),
        (How::IsNameless, |driver| layer(driver, How::IsNameless), "are missing"),
        (How::Leaks, |driver| layer(driver, How::Leaks), "leaked: 0 streams, "),
        (How::GivesBackTwice, |driver| layer(driver, How::GivesBackTwice), "not alive"),
        (How::IsUnusable, |driver| layer(driver, How::IsUnusable), "afterwards: "),
        (How::IsWrong, |driver| layer(driver, How::IsWrong), "afterwards has wrong data"),
        (How::DropsWaits, |driver| layer(driver, How::DropsWaits), "has wrong data"),
    ];
    for (how, above, found) in controls {
        match trial_with(above)? {
            Ok(ending) => return Err(Failed::msg(format!("{how:?} is not found: {ending:?}"))),
            Err(trouble) => check_text(&trouble, &[found])?,
        }
    }
    Ok(())
}

/// Runs a trial that hangs in a separate process. The watchdog ends that process.
fn hangs() -> Result<(), Failed> {
    let Err(ended) = child::run("faults", HANGING, &[]) else {
        return Err(Failed::msg("it did not hang"));
    };
    check_text(
        &ended.to_string(),
        &[&format!("exit code {HANGS}"), "a trial hangs", "the trial's name"],
    )
}

/// The code of the child process whose trial hangs.
pub(crate) fn hang() -> Result<(), Failed> {
    let watchdog = Watchdog::with_limit(Duration::from_millis(200));
    watchdog.begin("the trial's name".into());
    let ended = trial_with(|driver| layer(driver, How::Hangs))?;
    check(false, || format!("{ended:?}"))
}
