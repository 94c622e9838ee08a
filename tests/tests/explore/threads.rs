//! Tests with several threads. An exploration varies the interleaving of the threads, and reproduces a failing
//! one.

use std::sync::{Arc, mpsc};
use std::thread;

use streamflow::operator::AsyncHandle;
use streamflow::prelude::*;
use streamflow::testing::{Explorer, explore, scope};
use streamflow_tests::kernels::{add_one, fill};
use streamflow_tests::layers::Interrupted;
use streamflow_tests::{Failed, check, check_error, check_text, child};

use super::edges::enough_seeds;

/// Passes a buffer from stream `a` to stream `b`, `times` times.
fn hand_over(platform: &Platform, a: &CudaStream, b: &CudaStream, times: u8) -> Result<()> {
    (0..times).try_for_each(|time| {
        let value = f32::from(time);
        let mut data = platform.buffer::<f32>(4, a)?;
        a.launch::<fill>(4, (&mut data, value))?;
        b.launch::<add_one>(4, (&mut data,))?;
        let right = b.download_blocking(&data)? == [value + 1.0; 4];
        if right { Ok(()) } else { Err(Failure::msg("the data is wrong")) }
    })
}

/// Runs two threads that each pass buffers between two streams of their own.
fn two_threads(platform: &Platform, times: u8) -> Result<()> {
    let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
    let (a, b, c, d) =
        (pool.allocate("a")?, pool.allocate("b")?, pool.allocate("c")?, pool.allocate("d")?);
    scope(|scope| {
        let other = scope.spawn(move || hand_over(platform, &c, &d, times));
        let mine = hand_over(platform, &a, &b, times);
        other.join().map_err(|_| Failure::msg("the thread panicked"))?.and(mine)
    })
}

fn one_thread(platform: &Platform) -> Result<()> {
    let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    hand_over(platform, &a, &b, 4)?;
    hand_over(platform, &b, &a, 4)
}

/// Wraps the platform of a test in a faulty layer that loses some waits of streams.
fn losing_waits(platform: &Platform) -> Result<Platform> {
    Ok(Platform::builder().driver(Arc::new(Interrupted::new(platform.driver().clone())))?)
}

/// Runs a test on a driver that loses waits. The test's data is right under most policies, but the race checker
/// is below the fault and reports the missing waits.
fn interrupted(platform: &Platform, test: impl FnOnce(&Platform) -> Result<()>) -> Result<()> {
    let done = test(&losing_waits(platform)?);
    let races = platform.take_races();
    if races.is_empty() { done } else { Err(Error::Races(races).into()) }
}

fn two_threads_interrupted(platform: &Platform) -> Result<()> {
    interrupted(platform, |platform| two_threads(platform, 3))
}

/// Runs `two_threads` with the fault and only one buffer for each thread, since each further buffer multiplies
/// the interleavings.
fn two_threads_interrupted_once(platform: &Platform) -> Result<()> {
    interrupted(platform, |platform| two_threads(platform, 1))
}

pub(crate) fn found_by_a_seed() -> Result<(), Failed> {
    explore(|platform| two_threads(platform, 3))?;
    explore(|platform| interrupted(platform, one_thread))?;

    let found = enough_seeds().race_check(true).run(two_threads_interrupted)?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(found)) };
    check(matches!(failing.cause, Error::Races(_)), || found.to_string())?;
    // The seed alone, in a new exploration, reproduces the failure.
    let Some(seed) = failing.seed else { return Err(Failed::msg(&failing.replay)) };
    let again =
        Explorer::new().first_seed(seed).seeds(1).race_check(true).run(two_threads_interrupted)?;
    check(again.failing == found.failing, || format!("{again}, after {found}"))
}

pub(crate) fn found_exhaustively() -> Result<(), Failed> {
    let found = Explorer::new().race_check(true).run_exhaustively(two_threads_interrupted_once)?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(found)) };
    check_text(&found.to_string(), &["up to 2 preemptions"])?;
    check(matches!(failing.cause, Error::Races(_)), || found.to_string())?;
    let Some((variable, value)) = failing.replay.split_once('=') else {
        return Err(Failed::msg(&failing.replay));
    };
    child::run("explore", "two threads", &[(variable, value)])
}

/// The code of a child process, which repeats one schedule.
pub(crate) fn child() -> Result<(), Failed> {
    let again = Explorer::new().race_check(true).run_exhaustively(two_threads_interrupted_once)?;
    let cause = again.failing.as_ref().map(|failing| &failing.cause);
    check(again.runs == 1 && matches!(cause, Some(Error::Races(_))), || again.to_string())
}

/// Checks that the test is right in each order without the fault, and that the report does not claim that all
/// orders were tried.
pub(crate) fn right_with_two_preemptions() -> Result<(), Failed> {
    let records = |platform: &Platform, times: usize| {
        let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
        let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
        scope(|scope| {
            let other = scope.spawn(move || (0..times).try_for_each(|_| b.record().map(drop)));
            (0..times).try_for_each(|_| a.record().map(drop))?;
            other.join().map_err(|_| Failure::msg("the thread panicked"))?
        })
    };
    let mut runs = 0;
    for times in [1, 2] {
        let found = Explorer::new().run_exhaustively(|platform| Ok(records(platform, times)?))?;
        found.check()?;
        check(found.preemptions == Some(2) && found.runs > runs, || found.to_string())?;
        let text = found.to_string();
        check_text(&text, &["up to 2 preemptions", "no other state is reached with that many"])?;
        check(!text.contains("no state is left"), || text.clone())?;
        runs = found.runs;
    }
    Ok(())
}

/// Checks that an exploration fails if a thread takes part that the test did not start by `testing::scope`.
pub(crate) fn foreign() -> Result<(), Failed> {
    let test = |name: &'static str| {
        move |platform: &Platform| {
            let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
            let stream = pool.allocate("a")?;
            let thread = thread::Builder::new().name(name.to_owned());
            let spawned = thread.spawn(move || stream.synchronize_blocking().is_ok());
            // The exploration fails whatever this thread returns.
            let _unseen = spawned?.join();
            Ok(())
        }
    };
    for exhaustively in [false, true] {
        let explorer = Explorer::new();
        let test = test("worker 7");
        let found =
            if exhaustively { explorer.run_exhaustively(test) } else { explorer.run(test) }?;
        let cause = found.failing.as_ref().map(|failing| failing.cause.clone());
        let Some(Error::Thread { thread, problem }) = cause else {
            return Err(Failed::msg(found));
        };
        check(thread == "worker 7" && found.runs == 1, || found.to_string())?;
        check_text(&problem, &["testing::scope"])?;
    }
    // On a platform without an exploration, the same test passes.
    test("worker 8")(&Platform::host().build()?)?;
    Ok(())
}

/// Checks that an exploration reports a thread that blocks on the host, outside of the exploration's calls, until
/// another thread gets its turn.
pub(crate) fn blocked() -> Result<(), Failed> {
    let test = |platform: &Platform| {
        let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
        let stream = pool.allocate("a")?;
        let (send, receive) = mpsc::channel();
        scope(|scope| {
            scope.spawn(move || {
                // The spawned thread begins with a call of the driver, so that it blocks until it has its turn, and never has
                // the first turn.
                let done = stream.synchronize_blocking();
                let _unreceived = send.send(done);
            });
            Ok(receive.recv()??)
        })
    };
    let found = Explorer::new().seeds(64).run(test)?;
    let text = check_error("blocked", found.check(), |error| matches!(error, Error::Explored(_)))?;
    let me = thread::current().name().unwrap_or_default().to_owned();
    let expected = "is blocked, perhaps in a `recv` or a lock of std, while it has the turn";
    check_text(&text, &[&format!("thread `{me}"), expected, "yield_now", "STREAMFLOW_TEST_SEED="])?;
    check_text(&text, &["the last place that it passed is \""])
}

#[operator]
struct Button {
    #[output]
    number: u64,
}

impl Compute for Button {
    fn compute(&mut self, io: ButtonIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Pressed(handle: AsyncHandle) {
        #[when(asynchronous(handle))] let button: Button = Button::new();
        button.number >> _;
    }
}

/// Checks that a run ends with an error if it waits for a notice that no remaining thread can send.
pub(crate) fn never_notified() -> Result<(), Failed> {
    let alone = Explorer::new().seeds(1).run(|platform| {
        let handle = AsyncHandle::new();
        let mut graph = Pressed::new(platform, handle.clone())?;
        handle.notify()?;
        let report = graph.run().map(drop);
        drop(handle);
        Ok(report?)
    })?;
    let joined = Explorer::new().seeds(1).run(|platform| {
        let handle = AsyncHandle::new();
        let running = Pressed::new(platform, handle.clone())?.spawn()?;
        // The result of the run is ignored, so that only the exploration can report the failure.
        let _unseen = running.join();
        drop(handle);
        Ok(())
    })?;
    for found in [alone, joined] {
        let cause = found.failing.as_ref().map(|failing| failing.cause.clone());
        let Some(Error::Thread { problem, .. }) = cause else { return Err(Failed::msg(found)) };
        let waits = "waits for `asynchronous(handle)` of `button`, and every thread of this test has ended or waits";
        check_text(
            &problem,
            &[waits, "nothing can notify it; call `close()`, or drop the handles"],
        )?;
    }
    // The control: if another thread closes or drops the handle, the run ends.
    let closed = Explorer::new().seeds(2).run(|platform| {
        let handle = AsyncHandle::new();
        let mut graph = Pressed::new(platform, handle.clone())?;
        handle.notify()?;
        handle.close();
        Ok(graph.run().map(drop)?)
    })?;
    Ok(closed.check()?)
}

/// Checks that a thread's panic is returned by its join handle, or by the scope.
pub(crate) fn panics() -> Result<(), Failed> {
    let joined = Explorer::new().seeds(2).run(|_| {
        let panic = scope(|scope| scope.spawn(|| panic!("on purpose")).join()).err();
        let said = panic.and_then(|panic| panic.downcast_ref::<&str>().copied());
        (said == Some("on purpose")).then_some(()).ok_or(Failure::msg("the panic has another text"))
    })?;
    joined.check()?;
    let found = Explorer::new().run(|_| {
        scope(|scope| {
            scope.spawn(|| panic!("on purpose"));
        });
        Ok(())
    })?;
    check_text(&found.to_string(), &["a scoped thread panicked", "STREAMFLOW_TEST_SEED=0"])
}
