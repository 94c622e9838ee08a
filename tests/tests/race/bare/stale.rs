//! Handles of streams and events that were destroyed. The race checker reports their use whether or not the
//! driver has given the same handle to another object since. If it has not, the driver refuses the call; if it
//! has, the driver accepts it.

use std::collections::BTreeSet;
use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::prelude::*;
use streamflow_driver::driver::DriverResult;
use streamflow_driver::driver::race::{RaceAction, RaceChecker, RaceKind};
use streamflow_tests::foreign::{self, Bare};
use streamflow_tests::layers::ReusesHandles;
use streamflow_tests::{Failed, Suite, check, check_text};

use super::STREAM;

/// A program that uses a handle after its object was destroyed, unless it is `right`.
type Program = fn(&Bare, right: bool) -> DriverResult<()>;

const PROGRAMS: &[(&str, Program)] = &[
    ("a_record_on_a_stale_event_is_reported", record),
    ("a_wait_for_a_stale_event_is_reported", wait),
    ("a_host_wait_for_a_stale_event_is_reported", host_wait),
    ("a_record_on_a_stale_stream_is_reported", record_on_stream),
    ("a_stream_that_is_destroyed_twice_is_reported", destroyed_twice),
];

pub(super) fn add(suite: Suite) -> Suite {
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, program)| {
        suite.seeded(name, move |seed| {
            for reuse in [false, true] {
                let host = Platform::host().seed(seed).race_check(false).build()?;
                reported(host.driver().clone(), reuse, program)?;
            }
            Ok(())
        })
    });
    let suite = suite
        .plain("what_was_made_at_the_lower_of_two_checkers_is_not_stale::host", || {
            made_elsewhere(true)
        })
        .plain("what_was_made_at_another_checker_of_the_driver_is_not_stale::host", || {
            made_elsewhere(false)
        });
    suite.seeded("work_on_a_stale_stream_is_reported_where_the_handle_is_used_again", |seed| {
        let host = Platform::host().seed(seed).race_check(false).build()?;
        reported(Arc::new(ReusesHandles::new(host.driver().clone())), true, work)
    })
}

fn reported(below: Arc<dyn Driver>, reuse: bool, program: Program) -> Result<(), Failed> {
    for right in [false, true] {
        let below: Arc<dyn Driver> =
            if reuse { Arc::new(ReusesHandles::new(below.clone())) } else { below.clone() };
        let bare = Bare::new(below)?;
        // If the handle is not used again for another object, the driver refuses the call, too.
        let done = program(&bare, right);
        check(done.is_ok() || !(right || reuse), || format!("reuse {reuse}: {done:?}"))?;
        let races = bare.races();
        let what = || format!("reuse {reuse}, right {right}: {races}");
        check(races.races.len() == usize::from(!right), what)?;
        if let Some(race) = races.races.first() {
            check(race.kind == RaceKind::Stale, what)?;
            check(matches!(race.earlier.action, RaceAction::Destroy(_)), what)?;
            check_text(&races.to_string(), &["stale handle", "is destroyed", "uses its handle"])?;
        }
    }
    Ok(())
}

/// One checker makes streams and events, twice with the same number. Another checker, above or beside the first
/// one, uses them.
fn made_elsewhere(above: bool) -> Result<(), Failed> {
    let host = Arc::new(HostDriver::builder().build());
    let driver: Arc<dyn Driver> = Arc::new(ReusesHandles::new(host));
    let checked: Arc<dyn Driver> = Arc::new(RaceChecker::new(driver.clone()));
    let maker = Bare::unwatched(checked.clone())?;
    let user = Bare::new(if above { checked } else { driver })?;
    let mut numbers = BTreeSet::new();
    for _ in 0..2 {
        let (stream, event) = (maker.stream(STREAM)?, maker.event()?);
        numbers.insert((stream, event));
        user.record(event, stream)?;
        user.wait(stream, event)?;
        user.synchronize_event(event)?;
        maker.destroy_event(event)?;
        maker.destroy_stream(stream)?;
    }
    check(numbers.len() == 1, || format!("no handle was given out again: {numbers:?}"))?;
    let races = user.races();
    check(races.is_empty(), || races.to_string())?;

    // The control: the checker that uses the handles also sees how they are destroyed.
    let (stream, event) = (maker.stream(STREAM)?, maker.event()?);
    user.record(event, stream)?;
    user.destroy_event(event)?;
    user.record(event, stream)?;
    let races = user.races();
    let is_stale = matches!(&races.races[..], [one] if one.kind == RaceKind::Stale);
    check(is_stale, || races.to_string())
}

fn record(bare: &Bare, right: bool) -> DriverResult<()> {
    let (a, stale) = (bare.stream(STREAM)?, bare.event()?);
    bare.destroy_event(stale)?;
    let fresh = bare.event()?;
    bare.record(if right { fresh } else { stale }, a)
}

fn wait(bare: &Bare, right: bool) -> DriverResult<()> {
    let (a, stale) = (bare.stream(STREAM)?, bare.event()?);
    bare.record(stale, a)?;
    bare.destroy_event(stale)?;
    let fresh = bare.event()?;
    bare.wait(a, if right { fresh } else { stale })
}

fn host_wait(bare: &Bare, right: bool) -> DriverResult<()> {
    let stale = bare.event()?;
    bare.destroy_event(stale)?;
    let fresh = bare.event()?;
    bare.synchronize_event(if right { fresh } else { stale })
}

fn record_on_stream(bare: &Bare, right: bool) -> DriverResult<()> {
    let (stale, event) = (bare.stream(STREAM)?, bare.event()?);
    bare.destroy_stream(stale)?;
    let fresh = bare.stream(STREAM)?;
    bare.record(event, if right { fresh } else { stale })
}

fn destroyed_twice(bare: &Bare, right: bool) -> DriverResult<()> {
    let stale = bare.stream(STREAM)?;
    bare.destroy_stream(stale)?;
    let _fresh = bare.stream(STREAM)?;
    if right { Ok(()) } else { bare.destroy_stream(stale) }
}

fn work(bare: &Bare, right: bool) -> DriverResult<()> {
    let (stale, other) = (bare.stream(STREAM)?, bare.stream(STREAM)?);
    bare.destroy_stream(stale)?;
    let fresh = bare.stream(STREAM)?;
    let memory = bare.allocate(fresh)?;
    foreign::fill_range(&*bare.driver(), if right { fresh } else { stale }, memory)?;
    bare.synchronize(other)
}
