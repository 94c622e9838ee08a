//! Graphs that fail, stop, or can't be built. The error must name the node, and all resources must be returned.

mod calls;
mod kept;
#[path = "faults/log.rs"]
mod log;
mod messages;
mod queued_work;
mod stops;
mod unwritten;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::Recorder;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_tests::kernels::{add_one, fill};
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(crate) fn suite() -> Suite {
    // The panics of this file are caused on purpose, so they print nothing. The harness still reports every other
    // panic.
    std::panic::set_hook(Box::new(|_| ()));
    let suite = Suite::new()
        .both("the_error_of_a_failed_hook_names_node_hook_and_tick", hooks_that_fail)
        .both("the_error_of_a_panicked_hook_names_node_hook_and_tick", hooks_that_panic)
        .both("the_error_of_a_run_lists_later_errors", several_errors)
        .both("stop_graph_ends_the_run", stopped)
        .both("a_failed_constructor_returns_all_resources", constructor)
        .both("a_count_of_zero_is_an_error", count_zero)
        .both("a_missing_device_is_an_error", missing_device);
    let suite = unwritten::add(stops::add(kept::add(messages::add(suite))));
    queued_work::add(calls::add(suite))
}

/// How a hook of an operator ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Fails,
    Panics,
    StopsTheGraph,
}

/// A planned failure of an operator: in which hook and tick, and how the hook ends.
#[derive(Debug, Clone, Copy)]
struct Fault {
    hook: &'static str,
    tick: u64,
    ending: Ending,
}

impl Fault {
    #[allow(clippy::panic, reason = "the test is about panics")]
    fn fail(faults: &[Self], hook: &str, cx: &ExecutionContext) -> Result<()> {
        for fault in faults.iter().filter(|fault| fault.hook == hook && fault.tick <= cx.tick()) {
            match fault.ending {
                Ending::Fails => return Err(Failure::msg("out of paper")),
                Ending::Panics => panic!("out of {}", "ink"),
                Ending::StopsTheGraph => cx.stop_graph(),
            }
        }
        Ok(())
    }
}

/// A message that holds a clone of one `Arc`, whose count says how many messages are alive.
type Token = HostData<Arc<()>>;

#[operator(streams(fill))]
struct Source {
    #[output]
    data: Tensor<f32>,
    #[output]
    token: Token,
    alive: Arc<()>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut data = cx.tensor([1000], &stream)?;
        stream.launch::<fill>(data.len(), (&mut data, cx.tick() as f32))?;
        io.data.set_cuda_stream(&stream).emit(data)?;
        io.token.emit(HostData(self.alive.clone()))
    }
}

/// An operator that emits its messages and then fails as planned.
#[operator]
struct Faulty {
    #[input]
    data: Tensor<f32>,
    #[input]
    token: Token,
    #[output]
    out: Tensor<f32>,
    #[output]
    kept: Token,
    faults: Vec<Fault>,
}

impl Compute for Faulty {
    fn start(&mut self, _: FaultyStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        Fault::fail(&self.faults, "start", cx)
    }

    fn compute(&mut self, io: FaultyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        stream.launch::<add_one>(data.len(), (&mut data,))?;
        io.out.emit(data)?;
        io.kept.emit(io.token.receive().into_data())?;
        Fault::fail(&self.faults, "compute", cx)
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        Fault::fail(&self.faults, "stop", cx)
    }
}

/// An operator that receives two tokens at a time, so that one token waits in the queue when another node fails.
#[operator]
struct Late {
    #[input]
    token: &Token,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, _: &ExecutionContext) -> Result<()> {
        let tokens = io.token.receive_batch(2).into_data().count();
        if tokens == 2 { Ok(()) } else { Err(Failure::msg(format!("{tokens} tokens of 2"))) }
    }
}

graph! {
    struct Faults(alive: Arc<()>, faults: Vec<Fault>, report: Report<f32>) {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(3);
        #[streams(GPU)] #[when(count(8))]
        let source: Source = Source::new(alive);
        #[streams(GPU)]
        let faulty: Faulty = Faulty::new(faults);
        #[streams(GPU)] #[when(stream_done(tensor))]
        let sink: Deliver<f32> = Deliver::new(report);
        #[when(message_available(token, 2))]
        let late: Late = Late::new();
        source.data >> faulty.data;
        source.token >> faulty.token;
        faulty.out >> sink.tensor;
        #[capacity(2)]
        faulty.kept >> late.token;
    }
}

/// Returns how many resources of each kind were made, and how many were returned.
fn balance(recorder: &Recorder) -> [(&'static str, usize, usize); 4] {
    let count = |wanted: fn(&Call) -> bool| recorder.count(wanted);
    [
        (
            "streams",
            count(|call| matches!(call, Call::CreateStream { .. })),
            count(|call| matches!(call, Call::DestroyStream { .. })),
        ),
        (
            "events",
            count(|call| matches!(call, Call::CreateEvent { .. })),
            count(|call| matches!(call, Call::DestroyEvent { .. })),
        ),
        (
            "device blocks",
            count(|call| matches!(call, Call::Allocate { .. })),
            count(|call| matches!(call, Call::Free { .. })),
        ),
        (
            "page-locked blocks",
            count(|call| matches!(call, Call::AllocatePinned { .. })),
            count(|call| matches!(call, Call::FreePinned { .. })),
        ),
    ]
}

/// Runs a body on a platform of its own, and checks that all resources of the platform are returned.
fn check_nothing_is_left(
    platform: &Platform,
    body: impl FnOnce(&Platform, &Recorder) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    body(&platform, &recorder)?;
    drop(platform);
    for (what, made, returned) in balance(&recorder) {
        check(made == returned, || format!("{made} {what} made, {returned} returned"))?;
    }
    Ok(())
}

/// Runs the graph with faults, and then a second graph without. Checks that all messages are dropped when `run`
/// returns, and that the second graph gets the same streams and runs to its end. Returns the first run's result
/// and the number of ticks that its sink reported.
fn run_with(
    platform: &Platform,
    recorder: &Recorder,
    faults: &[Fault],
) -> Result<(Result<(), Error>, u64), Failed> {
    let run = |faults: &[Fault]| -> Result<(Result<(), Error>, u64), Failed> {
        let (alive, reported) = (Arc::new(()), Arc::new(AtomicU64::new(0)));
        let count = reported.clone();
        let report = Box::new(move |tick: u64, values: &[f32]| {
            count.fetch_add(1, Ordering::Relaxed);
            let right = values.iter().all(|&x| x == tick as f32 + 1.0);
            if right { Ok(()) } else { Err(Failure::msg(format!("wrong data in tick {tick}"))) }
        });
        let mut graph = Faults::new(platform, alive.clone(), faults.to_vec(), report)?;
        let done = graph.run().map(drop);
        let owners = Arc::strong_count(&alive);
        // Only this function and the source still own the `Arc`, so no message is left.
        check(owners == 2, || format!("{} messages were left", owners - 2))?;
        drop(graph);
        Ok((done, reported.load(Ordering::Relaxed)))
    };
    let first = run(faults)?;
    let streams = |call: &Call| matches!(call, Call::CreateStream { .. });
    let made = recorder.count(streams);
    let (again, reported) = run(&[])?;
    again?;
    check(reported == 8, || format!("{reported} ticks of 8"))?;
    // A graph that failed early has made fewer streams than a full run, which makes at most five. One of the five
    // exists only on a slow device, where it wakes a run that sleeps.
    let more = recorder.count(streams) - made;
    check(made + more <= 5, || format!("{made} streams, then {more} more"))?;
    Ok(first)
}

fn hooks(platform: &Platform, ending: Ending, expected: &str) -> Result<(), Failed> {
    for (hook, tick, at_most) in
        [("start", 0, 0), ("compute", 0, 0), ("compute", 3, 3), ("stop", 8, 8), ("stop", 0, 8)]
    {
        check_nothing_is_left(platform, |platform, recorder| {
            let fault = Fault { hook, tick, ending };
            let (done, reported) = run_with(platform, recorder, &[fault])?;
            let is_right =
                |error: &Error| matches!(error, Error::Operator { node, .. } if node == "faulty");
            let text = check_error(hook, done, is_right)?;
            // `stop` is called after all 8 ticks, so the error names tick 8.
            let tick = if hook == "stop" { 8 } else { tick };
            check_text(&text, &["`faulty`", &format!("`{hook}`, tick {tick}"), expected])?;
            check(reported <= at_most, || format!("{hook} {tick}: {reported} ticks reported"))
        })?;
    }
    Ok(())
}

fn hooks_that_fail(platform: &Platform) -> Result<(), Failed> {
    hooks(platform, Ending::Fails, "out of paper")
}

fn hooks_that_panic(platform: &Platform) -> Result<(), Failed> {
    hooks(platform, Ending::Panics, "it panicked: out of ink")
}

fn several_errors(platform: &Platform) -> Result<(), Failed> {
    check_nothing_is_left(platform, |platform, recorder| {
        let faults = [
            Fault { hook: "compute", tick: 2, ending: Ending::Fails },
            Fault { hook: "stop", tick: 0, ending: Ending::Panics },
        ];
        let (done, _) = run_with(platform, recorder, &faults)?;
        let text = check_error("run", done, |error| matches!(error, Error::Run { .. }))?;
        check_text(
            &text,
            &["failed in `compute`, tick 2: out of paper", "1 error more", "`stop`", "out of ink"],
        )
    })
}

fn stopped(platform: &Platform) -> Result<(), Failed> {
    check_nothing_is_left(platform, |platform, recorder| {
        let fault = Fault { hook: "compute", tick: 3, ending: Ending::StopsTheGraph };
        let (done, reported) = run_with(platform, recorder, &[fault])?;
        done?;
        // The tick that calls `stop_graph` is the last tick of its operator, but messages that were sent before may
        // still arrive at the sink.
        check((1..=4).contains(&reported), || format!("{reported} ticks reported"))
    })
}

fn no_paper() -> Result<Late> {
    Err(Failure::msg("no paper"))
}

graph! {
    struct Unmakeable(alive: Arc<()>) {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(3).reserved_size(3);
        #[streams(GPU)] #[when(count(8))]
        let source: Source = Source::new(alive);
        let late: Late = no_paper()?;
        source.data >> _;
        source.token >> late.token;
    }
}

fn constructor(platform: &Platform) -> Result<(), Failed> {
    check_nothing_is_left(platform, |platform, _| {
        let alive = Arc::new(());
        let made = Unmakeable::new(platform, alive.clone()).map(drop);
        let text = check_error("new", made, |error| matches!(error, Error::Other(_)))?;
        check_text(&text, &["no paper"])?;
        check(Arc::strong_count(&alive) == 1, || "an operator was not dropped".into())
    })
}

graph! {
    struct Elsewhere(alive: Arc<()>, count: u64) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(63));
        #[streams(FAR)] #[when(count(count))]
        let source: Source = Source::new(alive);
        source.data >> _;
        source.token >> _;
    }
}

graph! {
    struct Never(alive: Arc<()>, count: u64) {
        #[when(count(count))]
        let source: Source = Source::new(alive);
        source.data >> _;
        source.token >> _;
    }
}

fn count_zero(platform: &Platform) -> Result<(), Failed> {
    check_nothing_is_left(platform, |platform, _| {
        let made = Never::new(platform, Arc::default(), 0).map(drop);
        let text = check_error("new", made, |error| matches!(error, Error::CountZero { .. }))?;
        check_text(&text, &["`source`", "at least 1"])
    })
}

fn missing_device(platform: &Platform) -> Result<(), Failed> {
    check_nothing_is_left(platform, |platform, _| {
        let made = Elsewhere::new(platform, Arc::default(), 1).map(drop);
        let text = check_error("new", made, |error| matches!(error, Error::NoSuchDevice { .. }))?;
        check_text(&text, &["`FAR`", "device 63"])
    })
}
