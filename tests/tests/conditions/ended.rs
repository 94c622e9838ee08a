//! Runs that end while a condition waits for work of the device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use streamflow::driver::Recorder;
use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::flags::FlagTx;
use streamflow_tests::kernels::{slow_fill, write_to_nowhere};
use streamflow_tests::layers::{CallKind, FailNth, NotYet};
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::tensors::{LEN, Rx, SLOW, Tx};
use streamflow_tests::{Failed, Suite, check, check_error, check_text, child};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_run_can_end_while_a_condition_waits", teardown)
        .both("a_failed_host_function_ends_the_run", host_function_fails)
        .seeded("a_poisoned_stream_ends_the_run", |seed| {
            child::run("conditions", &seed.to_string(), &[])
        })
        .cuda("a_poisoned_stream_ends_the_run", |_| child::run("conditions", "cuda", &[]))
}

/// An operator that fails in its third tick, while other nodes wait.
#[operator]
struct Fails {
    #[output]
    number: u64,
}

impl Compute for Fails {
    fn compute(&mut self, io: FailsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 2 { Err(Failure::msg("injected")) } else { io.number.emit(cx.tick()) }
    }
}

#[operator]
struct Waits {
    #[input]
    flag: &Pinned<f32>,
}

impl Compute for Waits {
    fn compute(&mut self, io: WaitsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.flag.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

graph! {
    struct Failing {
        let tx: FlagTx = FlagTx::new(0.0, SLOW);
        #[when(stream_done(flag))]
        let rx: Waits = Waits::new();
        let fails: Fails = Fails::new();
        tx.flag >> rx.flag;
        fails.number >> _;
    }
}

/// Checks that a run which ends while a condition waits leaves nothing behind. The queued host function owns what
/// it uses.
fn teardown(platform: &Platform) -> Result<(), Failed> {
    for _ in 0..3 {
        let mut graph = Failing::new(platform)?;
        check_error("a failing operator", graph.run(), |error| {
            error.to_string().contains("injected")
        })?;
        drop(graph);
    }
    teardown_asleep(platform)
}

graph! {
    struct Asleep {
        #[when(count(1))] let tx: FlagTx = FlagTx::new(0.0, SLOW);
        #[when(stream_done(flag))]
        let rx: Waits = Waits::new();
        tx.flag >> rx.flag;
    }
}

/// Checks the same as `teardown` while the scheduler sleeps and the host function that would wake it is queued.
fn teardown_asleep(platform: &Platform) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(platform.driver().clone()));
    let not_yet = Arc::new(NotYet::failing_in_sleep(recorder.clone()));
    let on = Platform::builder().driver(not_yet)?;
    let run = Asleep::new(&on)?.run();
    let text = check_error("a query that fails", run, |_| true)?;
    check_text(&text, &["query_event", "INJECTED"])?;
    let queued = recorder.count(|call| matches!(call, Call::HostFunction { .. }));
    check(queued == 1, || format!("inconclusive: {queued} host functions are queued"))
}

/// An operator whose second tick launches a kernel that fails, so that the data it sends is never complete.
#[operator(streams(tx))]
struct Poison {
    #[output]
    data: Buffer<f32>,
}

impl Compute for Poison {
    fn compute(&mut self, io: PoisonIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.tx)?;
        let mut data = cx.buffer(LEN, &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut data, 1.0, SLOW))?;
        if cx.tick() == 1 {
            stream.launch::<write_to_nowhere>(1, (&mut data,))?;
        }
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

#[operator]
struct Victim {
    #[input]
    data: &Buffer<f32>,
    seen: Seen<u64>,
}

impl Compute for Victim {
    fn compute(&mut self, io: VictimIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.data.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, cx.tick());
        Ok(())
    }
}

graph! {
    struct Poisoned(seen: Seen<u64>) {
        #[when(count(5))] let poison: Poison = Poison::new();
        #[when(stream_done(data))]
        let victim: Victim = Victim::new(seen);
        poison.data >> victim.data;
    }
}

/// Checks that the run ends with the error, although CUDA calls no host functions of a context with a sticky
/// error.
pub(super) fn in_child(role: &str) -> Result<(), Failed> {
    let platform = child::platform(role)?;
    let (seen, start) = (Seen::default(), Instant::now());
    let run = Poisoned::new(&platform, seen.clone())?.run();
    check_error("a poisoned stream", run, |_| true)?;
    check(all(&seen).len() < 2, || format!("the victim ran on poisoned data: {seen:?}"))?;
    let took = start.elapsed();
    check(took < Duration::from_secs(20), || format!("the run took {took:?}"))
}

graph! {
    struct Awaited(seen: Seen<f32>) {
        #[when(count(3))] let tx: Tx = Tx::new(0.0, true, SLOW / 8);
        #[when(stream_done(image))] let rx: Rx = Rx::new(seen);
        tx.image >> rx.image;
    }
}

/// Checks that the run ends with an error if the scheduler is about to sleep and the host function that would
/// wake it can't be queued.
fn host_function_fails(platform: &Platform) -> Result<(), Failed> {
    let failing =
        Arc::new(FailNth::new(platform.driver().clone(), CallKind::LaunchHostFunction, 0));
    let driver = Arc::new(NotYet::new(failing.clone()));
    let seen = Seen::default();
    let mut graph = Awaited::new(&Platform::builder().driver(driver)?, seen.clone())?;
    let text = check_error("launch_host_function", graph.run(), |_| true)?;
    check_text(&text, &["launch_host_function", "INJECTED"])?;
    check(failing.has_failed() && all(&seen).is_empty(), || format!("{seen:?}"))
}
