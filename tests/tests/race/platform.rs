//! Which platforms have a race checker, depending on the build, the environment and options.

use streamflow::prelude::*;
use streamflow_driver::driver::race::RaceChecker;
use streamflow_tests::{Failed, Suite, check, check_text, child};

const VARIABLE: &str = "STREAMFLOW_RACE_CHECK";

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .plain("the_environment_enables_the_race_checker_by_default", || {
            child::run("race", "on", &[(VARIABLE, "1")])?;
            child::run("race", "off", &[(VARIABLE, "0")])
        })
        .plain("an_invalid_race_check_variable_is_an_error", || {
            child::run("race", "invalid", &[(VARIABLE, "yes")])?;
            child::run("race", "invalid", &[(VARIABLE, "")])
        })
        .plain("a_driver_gets_only_one_race_checker", one_checker)
}

pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    let by_default = Platform::host().build();
    if role == "invalid" {
        let Err(error) = by_default else { return Err(Failed::msg("no error")) };
        check(matches!(error, Error::Variable { .. }), || format!("{error:?}"))?;
        check_text(&error.to_string(), &[VARIABLE, "1, to switch it on, or 0"])?;
        check(Platform::detect().is_err(), || "no error".into())?;
        // With the option set explicitly, the environment variable is not read.
        Platform::host().race_check(true).build()?;
        return Ok(());
    }
    let expected = role == "on";
    let raw = Platform::host().race_check(false).build()?;
    for (what, platform) in [
        ("host", by_default?),
        ("detect", Platform::detect()?),
        ("from_driver", Platform::builder().driver(raw.driver().clone())?),
    ] {
        check(platform.is_race_checked() == expected, || {
            format!("{what}: is_race_checked is not {expected}")
        })?;
    }
    check(!raw.is_race_checked(), || "race_check(false) left the checker on".into())?;
    let on = Platform::host().race_check(true).build()?;
    check(on.is_race_checked(), || "race_check(true) left the checker off".into())
}

/// Checks that a platform on a driver that has a race checker adds no second one, and reads the reports of the
/// first.
fn one_checker() -> Result<(), Failed> {
    let raw = Platform::host().race_check(false).build()?;
    let first =
        Platform::builder().driver(std::sync::Arc::new(RaceChecker::new(raw.driver().clone())))?;
    let builder = Platform::builder().race_check(true);
    let second = builder.driver(first.driver().clone())?;
    let checkers = format!("{:?}", second.driver()).matches("RaceChecker").count();
    check(checkers == 1, || format!("{checkers} checkers: {:?}", second.driver()))?;
    check(first.is_race_checked() && second.is_race_checked(), || {
        "a platform has no race checker".into()
    })
}
