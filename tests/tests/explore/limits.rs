//! Explorations that end before all states are visited, and say so.

use std::cell::Cell;
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::testing::{Explorer, Limit};
use streamflow_tests::{Failed, check, check_error, check_text};

/// Queues five operations on each of two streams.
fn program(platform: &Platform) -> Result<()> {
    let pool = platform.stream_pool("LIMITED", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    for _ in 0..5 {
        a.record()?;
        b.record()?;
    }
    a.synchronize_blocking()?;
    Ok(b.synchronize_blocking()?)
}

pub(crate) fn each() -> Result<(), Failed> {
    let all = Explorer::new().run_exhaustively(program)?;
    all.check()?;
    check_text(&all.to_string(), &["states in", "runs, none failed; no state is left"])?;
    // With and without the race checker, the exploration visits the same states.
    for checked in [true, false] {
        let one = Explorer::new().race_check(checked).run_exhaustively(program)?;
        check((one.states, 2 * one.runs) == (all.states, all.runs), || format!("{one}; {all}"))?;
    }
    let explorer = Explorer::new();
    for (explorer, limit, text) in [
        (explorer.clone().max_states(17), Limit::States, "there is no room for more states"),
        (explorer.clone().max_runs(3), Limit::Runs, "no more runs are allowed"),
        (explorer.clone().max_time(Duration::ZERO), Limit::Time, "the time is over"),
    ] {
        let found = explorer.run_exhaustively(program)?;
        let Some(stopped) = found.stopped else { return Err(Failed::msg(found)) };
        check(stopped.at == limit, || format!("{stopped:?}"))?;
        check(found.failing.is_none() && found.states < all.states, || found.to_string())?;
        check(limit != Limit::States || found.states == Some(17), || found.to_string())?;
        check(limit != Limit::Runs || (found.runs, stopped.open > 0) == (3, true), || {
            found.to_string()
        })?;
        // An incomplete exploration does not count as success.
        let is_right = |error: &Error| matches!(error, Error::Explored(_));
        let error = check_error("a limit", found.check(), is_right)?;
        check_text(&error, &[text, "stopped", "untried"])?;
    }
    // A limit that is just not exceeded has no effect.
    let states = all.states.unwrap_or(0);
    let exact = Explorer::new().max_states(states).max_runs(all.runs).run_exhaustively(program)?;
    check(exact == all, || "an exact limit changes the outcome".into())
}

pub(crate) fn diverged() -> Result<(), Failed> {
    let runs = Cell::new(0);
    let found = Explorer::new().run_exhaustively(|platform| {
        runs.set(runs.get() + 1);
        let stream = platform.stream_pool("ODD", &CudaStreamPool::new())?.allocate("a")?;
        (0..=runs.get()).try_for_each(|_| stream.record().map(|_| ()))?;
        Ok(stream.synchronize_blocking()?)
    })?;
    check(found.stopped.is_some_and(|it| it.at == Limit::Diverged), || found.to_string())?;
    check_text(&found.to_string(), &["did not repeat itself"])
}

/// Explores a host that submits until the first operation is complete, which has unboundedly many states. Each of
/// its runs ends, and so does the exploration.
pub(crate) fn endless() -> Result<(), Failed> {
    let found = Explorer::new().max_states(500).run_exhaustively(|platform| {
        let stream = platform.stream_pool("ENDLESS", &CudaStreamPool::new())?.allocate("a")?;
        while !stream.is_complete()? {
            stream.record()?;
        }
        stream.record()?;
        while !stream.is_complete()? {
            stream.record()?;
        }
        Ok(())
    })?;
    check(found.stopped.is_some_and(|it| it.at == Limit::States), || found.to_string())
}
