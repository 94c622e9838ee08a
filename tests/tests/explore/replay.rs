//! Seeds and schedules that the environment sets, each in a process of its own.

use streamflow::prelude::*;
use streamflow::testing::{Exploration, Explorer, explore};
use streamflow_tests::races::{self, Program};
use streamflow_tests::{Failed, check, check_error, check_text, child};

use super::edges::without_waits;

const SEED: &str = "STREAMFLOW_TEST_SEED";
const SEEDS: &str = "STREAMFLOW_TEST_SEEDS";
const SCHEDULE: &str = "STREAMFLOW_TEST_SCHEDULE";

/// The racy program that is replayed.
const RACE: Program = races::ALL[0].1;

fn race(platform: &Platform) -> Result<()> {
    without_waits(RACE, platform)
}

/// Fails in the states where a record is complete, if no layer gets notes of the runtime.
fn fails_unwatched(platform: &Platform) -> Result<()> {
    let stream = platform.stream_pool("TEST", &CudaStreamPool::new())?.allocate("a")?;
    stream.record()?;
    let is_complete = stream.is_complete()?;
    check(platform.driver().observer().watches() || !is_complete, || "the data is wrong".into())?;
    Ok(())
}

fn fine(platform: &Platform) -> Result<()> {
    platform.upload(&[1_u8])?;
    Ok(())
}

pub(crate) fn seeds() -> Result<(), Failed> {
    let runs = |explorer: Explorer| {
        let found = explorer.run(fine)?;
        found.check()?;
        Ok::<_, Failed>(found.runs)
    };
    // Each seed is run twice: with the race checker, and without it.
    check(runs(Explorer::new().seeds(5))? == 10, || "not two runs for each of five seeds".into())?;
    for checked in [true, false] {
        let found = runs(Explorer::new().seeds(5).race_check(checked))?;
        check(found == 5, || "not five runs".into())?;
    }
    // A test without any run has not passed.
    let none = Explorer::new().seeds(0).run(fine);
    check_error("no seeds", none, |error| *error == Error::NoSeeds)?;
    check(runs(Explorer::new().first_seed(u64::MAX).seeds(3))? == 2, || {
        "a run beyond the last seed".into()
    })?;

    // The failing seed is the smallest one from the first seed of the search on.
    let smallest = |first| {
        (first..first + 100).find(|seed| {
            Platform::host().seed(*seed).build().is_ok_and(|platform| race(&platform).is_err())
        })
    };
    for first in [0, 1, 3, 8] {
        let found = Explorer::new().first_seed(first).seeds(100).run(race)?;
        let seed = found.failing.as_ref().and_then(|failing| failing.seed);
        check(seed.is_some() && seed == smallest(first), || format!("from {first}: {found}"))?;
        check(seed == Some(first + (found.runs - 1) / 2), || found.to_string())?;
    }
    Ok(())
}

pub(crate) fn seed() -> Result<(), Failed> {
    let found = Explorer::new().seeds(100).run(race)?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(found)) };
    check_text(&found.to_string(), &["the data is wrong", SEED])?;
    let Some((SEED, value)) = failing.replay.split_once('=') else {
        return Err(Failed::msg(&failing.replay));
    };
    child::run("explore", "fails by seeds", &[(SEED, value)])?;
    // Seed 0 executes eagerly, which hides the missing edge.
    child::run("explore", "passes by seeds", &[(SEED, "0")])?;
    child::run("explore", "runs three seeds", &[(SEEDS, "3")])
}

pub(crate) fn schedule() -> Result<(), Failed> {
    let found = Explorer::new().run_exhaustively(race)?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(found)) };
    check_text(&found.to_string(), &["the data is wrong", SCHEDULE])?;
    let Some((SCHEDULE, value)) = failing.replay.split_once('=') else {
        return Err(Failed::msg(&failing.replay));
    };
    child::run("explore", "fails exhaustively", &[(SCHEDULE, value)])?;
    child::run("explore", "passes exhaustively", &[(SCHEDULE, "-")])?;
    child::run("explore", "another test's schedule", &[(SCHEDULE, "3:1,100000:1")])?;
    child::run("explore", "another test's schedule", &[(SCHEDULE, "0:99")])
}

pub(crate) fn unwatched() -> Result<(), Failed> {
    let found = Explorer::new().run_exhaustively(fails_unwatched)?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(found)) };
    let Some((SCHEDULE, value)) = failing.replay.split_once('=') else {
        return Err(Failed::msg(&failing.replay));
    };
    child::run("explore", "fails unwatched", &[(SCHEDULE, value)])
}

pub(crate) fn bad_variables() -> Result<(), Failed> {
    for value in ["", "five", "-1", "1.5", "99999999999999999999", "3 4"] {
        child::run("explore", "a bad seed", &[(SEED, value)])?;
        child::run("explore", "bad seeds", &[(SEEDS, value)])?;
    }
    child::run("explore", "bad seeds", &[(SEEDS, "0")])?;
    for value in ["", "5", "1:", "1:2,", "a:b"] {
        child::run("explore", "a bad schedule", &[(SCHEDULE, value)])?;
    }
    Ok(())
}

/// Runs the role of a child process.
pub(crate) fn child(role: &str) -> Result<(), Failed> {
    match role {
        "fails by seeds" => fails(&Explorer::new().run(race)?, SEED),
        "fails exhaustively" => fails(&Explorer::new().run_exhaustively(race)?, SCHEDULE),
        "passes by seeds" => passes(&Explorer::new().run(race)?, 2),
        "passes exhaustively" => passes(&Explorer::new().run_exhaustively(race)?, 2),
        "fails unwatched" => {
            let found = Explorer::new().run_exhaustively(fails_unwatched)?;
            check(found.runs == 2 && found.failing.is_some(), || found.to_string())
        }
        "runs three seeds" => three_seeds(),
        "another test's schedule" => refused(Explorer::new().run_exhaustively(race), SCHEDULE),
        "a bad seed" => refused(explore(fine), SEED),
        "bad seeds" => refused(explore(fine), SEEDS),
        "a bad schedule" => refused(Explorer::new().run_exhaustively(fine), SCHEDULE),
        other => Err(Failed::msg(format!("no role: {other}"))),
    }
}

fn passes(found: &Exploration, runs: u64) -> Result<(), Failed> {
    found.check()?;
    check(found.runs == runs, || found.to_string())
}

/// Checks that the selected run fails as before, and that its error names the same variable.
fn fails(found: &Exploration, variable: &str) -> Result<(), Failed> {
    check(found.runs == 1, || found.to_string())?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(found)) };
    check(failing.cause == Error::Other(Failure::msg("the data is wrong")), || found.to_string())?;
    let value = std::env::var(variable)?;
    check(failing.replay == format!("{variable}={value}"), || found.to_string())
}

/// Checks that the variable's number of seeds applies to tests that set none.
fn three_seeds() -> Result<(), Failed> {
    check(Explorer::new().run(fine)?.runs == 6, || "not two runs of three seeds".into())?;
    check(Explorer::new().seeds(2).run(fine)?.runs == 4, || {
        "not two runs of the two seeds that the test sets".into()
    })
}

fn refused<T: std::fmt::Debug>(found: Result<T, Error>, variable: &str) -> Result<(), Failed> {
    let is_right =
        |error: &Error| matches!(error, Error::Variable { name, .. } if *name == variable);
    let text = check_error(variable, found, is_right)?;
    let value = std::env::var(variable)?;
    check_text(&text, &[variable, &format!("{value:?}"), "set it to "])
}
