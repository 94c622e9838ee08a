//! Who is watched: builds, the environment, and what a program says.

use streamflow::driver::race::RaceChecker;
use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check, check_text, child};

const VARIABLE: &str = "STREAMFLOW_RACE_CHECK";

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .plain("the_environment_decides_where_the_program_does_not", || {
            child::run("on", &[(VARIABLE, "1")])?;
            child::run("off", &[(VARIABLE, "0")])
        })
        .plain("another_value_is_an_error", || {
            child::run("neither", &[(VARIABLE, "yes")])?;
            child::run("neither", &[(VARIABLE, "")])
        })
        .plain("a_driver_gets_one_checker", one_checker)
}

pub(super) fn in_child(role: &str) -> Result<(), Failed> {
    let by_default = Platform::host().build();
    if role == "neither" {
        let Err(error) = by_default else { return Err(Failed::new("no error")) };
        check(matches!(error, Error::Variable { .. }), || format!("{error:?}"))?;
        check_text(&error.to_string(), &[VARIABLE, "1, to look for races, or 0"])?;
        check(Platform::detect().is_err(), || "no error".into())?;
        // What the program says needs no environment.
        Platform::host().race_check(true).build()?;
        return Ok(());
    }
    let expected = role == "on";
    let raw = Platform::host().race_check(false).build()?;
    for (what, platform) in [
        ("host", by_default?),
        ("detect", Platform::detect()?),
        ("from_driver", Platform::from_driver(raw.driver().clone())?),
    ] {
        check(platform.is_race_checked() == expected, || format!("{what}: not {expected}"))?;
    }
    check(!raw.is_race_checked(), || "off is off".into())?;
    let on = Platform::host().race_check(true).build()?;
    check(on.is_race_checked(), || "on is on".into())
}

/// A platform on a driver that is watched adds no second checker, and finds the races of the first.
fn one_checker() -> Result<(), Failed> {
    let raw = Platform::host().race_check(false).build()?;
    let first = Platform::from_driver(std::sync::Arc::new(RaceChecker::new(raw.driver().clone())))?;
    let options = PlatformOptions { race_check: Some(true), ..PlatformOptions::default() };
    let second = Platform::with_options(first.driver().clone(), options)?;
    let checkers = format!("{:?}", second.driver()).matches("RaceChecker").count();
    check(checkers == 1, || format!("{checkers} checkers: {:?}", second.driver()))?;
    check(first.is_race_checked() && second.is_race_checked(), || "not watched".into())
}
