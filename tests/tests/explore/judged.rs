//! What an exploration judges beside the result of a test: whether the test was explored at all, and the work
//! that the test has left behind.

use streamflow::prelude::*;
use streamflow::testing::{Explorer, OperatorHarness, explore, scope};
use streamflow_tests::foreign::launch_unordered;
use streamflow_tests::kernels::add_one;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, check, check_error, check_text};

graph! {
    struct Counted(ticks: u64) {
        #[when(count(ticks))] let count: Counter = Counter::new();
        count.number >> _;
    }
}

type Test<'a> = &'a dyn Fn(&Platform) -> Result<()>;

/// Checks that both kinds of exploration of a test fail, with these words in the error.
fn fails(test: Test<'_>, parts: &[&str]) -> Result<(), Failed> {
    let all = Explorer::new().run_exhaustively(test)?;
    for found in [Explorer::new().seeds(3).run(test)?, all] {
        let Some(failing) = found.failing else { return Err(Failed::msg(found)) };
        check_text(&failing.cause.to_string(), parts)?;
    }
    Ok(())
}

/// Checks that both kinds of exploration of a test pass. The race checker is on, since the tests read its
/// reports.
fn passes(test: Test<'_>) -> Result<(), Failed> {
    Explorer::new().seeds(3).race_check(true).run(test)?.check()?;
    Ok(Explorer::new().race_check(true).run_exhaustively(test)?.check()?)
}

const UNEXPLORED: &str = "the test is not explored";

pub(crate) fn own_platform() -> Result<(), Failed> {
    let own = |_: &Platform| {
        let platform = Platform::host().build()?;
        Ok(Counted::new(&platform, 1)?.run().map(drop)?)
    };
    let is_explored = |error: &Error| matches!(error, Error::Explored(_));
    let text = check_error("an own platform", explore(own), is_explored)?;
    let parts =
        [UNEXPLORED, "makes a platform of its own", "use the platform that the test is given"];
    check_text(&text, &parts)?;
    fails(&own, &parts)?;
    // Exploring fails although the test has also used the platform that it was given.
    let both = |platform: &Platform| {
        drop(platform.upload(&[1_u8])?);
        own(platform)
    };
    fails(&both, &parts)
}

pub(crate) fn unused_platform() -> Result<(), Failed> {
    fails(&|_| Ok(()), &[UNEXPLORED, "has not used the platform that it is given"])?;
    // A test that fails has its own error, and not the one about exploration.
    fails(&|_| Err(Failure::msg("wrong")), &["wrong"])
}

pub(crate) fn other_platform() -> Result<(), Failed> {
    let other = Platform::host().build()?;
    let parts = [UNEXPLORED, "a platform that was made outside of the test"];
    let graph = |platform: &Platform| {
        drop(platform.upload(&[1_u8])?);
        Ok(Counted::new(&other, 1)?.run().map(drop)?)
    };
    let spawned = |_: &Platform| Ok(Counted::new(&other, 1)?.spawn()?.join().map(drop)?);
    let stepped = |_: &Platform| Ok(Counted::new(&other, 1)?.tick().map(drop)?);
    let harness = |_: &Platform| Ok(OperatorHarness::new(&other, Counter::new()).map(drop)?);
    let tests: [Test<'_>; 4] = [&graph, &spawned, &stepped, &harness];
    tests.into_iter().try_for_each(|test| fails(test, &parts))
}

/// Checks that a graph that calls no driver, and threads without a device, count as explored.
pub(crate) fn without_a_device() -> Result<(), Failed> {
    passes(&|platform| Ok(Counted::new(platform, 2)?.run().map(drop)?))?;
    passes(&|_| {
        scope(|scope| drop(scope.spawn(|| ())));
        Ok(())
    })
}

/// Adds 1 twice, and nothing orders the second addition after the first.
fn race(platform: &Platform) -> Result<()> {
    let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let mut data = platform.buffer::<f32>(4, &a)?;
    a.fill_bytes(&mut data, 0)?;
    launch_unordered::<add_one>(&b, 4, (&mut data,))?;
    Ok(())
}

pub(crate) fn races() -> Result<(), Failed> {
    let parts = ["race", "add_one"];
    fails(&race, &parts)?;
    // A harness or a graph that has taken the races over, and is dropped before it reports them, leaves them to the
    // test.
    fails(
        &|platform| {
            race(platform)?;
            drop(OperatorHarness::new(platform, Counter::new())?);
            Ok(())
        },
        &parts,
    )?;
    fails(
        &|platform| {
            race(platform)?;
            let mut graph = Counted::new(platform, 5)?;
            graph.tick()?;
            Ok(())
        },
        &parts,
    )?;
    // Races that the test has taken by `take_races` don't fail the exploration.
    passes(&|platform| {
        race(platform)?;
        let races = platform.take_races();
        check(!races.is_empty(), || "no race".into())
    })?;
    // Races that a run has returned as its error don't fail the exploration.
    passes(&|platform| {
        race(platform)?;
        let run = Counted::new(platform, 2)?.run();
        check_error("the run", run, |error| matches!(error, Error::Races(_))).map(drop)
    })?;
    Ok(Explorer::new().seeds(3).race_check(false).run(race)?.check()?)
}

#[kernel(unsafe cuda = "out[thread_index()] = 0;")]
fn fails_here(out: &mut [f32]) {
    assert!(out.is_empty(), "on purpose");
}

/// Checks that work which a test has queued and does not wait for is executed before the test's result counts.
pub(crate) fn work_that_is_left() -> Result<(), Failed> {
    let test = |platform: &Platform| {
        let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
        let stream = pool.allocate("a")?;
        let mut data = platform.buffer::<f32>(4, &stream)?;
        Ok(stream.launch::<fails_here>(4, (&mut data,))?)
    };
    for seed in 0..16 {
        let found = Explorer::new().first_seed(seed).seeds(1).run(test)?;
        check_text(&found.to_string(), &["fails_here", "on purpose"])?;
    }
    let found = Explorer::new().run_exhaustively(test)?;
    check_text(&found.to_string(), &["fails_here", "on purpose"])
}
