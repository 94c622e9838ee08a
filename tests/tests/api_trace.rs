//! Steady ticks of a graph with libraries' plans neither allocate nor wait for the device: by streamflow's log, and
//! below it by a trace of CUDA's API. The trace also has the calls that the libraries make.
//!
//! The trace needs a GPU and a process that was started with it: `tests/api_trace/api_trace.c` says how.
#![allow(clippy::print_stdout, reason = "the trace is a result")]

use std::sync::{Arc, Mutex};

use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::foreign::api_trace::{ApiCalls, ApiTrace, INJECTION};
use streamflow_tests::graph_runs::OnTick;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::fill;
use streamflow_tests::libraries::{Problem, Workload};
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check};

const WARM_UP: u64 = 20;
const TICKS: u64 = 100;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("plans_make_no_resources_in_steady_ticks", |platform| {
            let (log, _) = run(platform, None, Extra::Nothing)?;
            check_log(&log)
        })
        .both("control_an_allocation_in_a_tick_is_in_the_log", |platform| {
            let (log, _) = run(platform, None, Extra::Allocation)?;
            finds("the log", count(&log, Call::changes_resources))
        })
        .both("control_a_synchronization_in_a_tick_is_in_the_log", |platform| {
            let (log, _) = run(platform, None, Extra::Synchronization)?;
            finds("the log", count(&log, Call::blocks_host))
        })
        .optional("below_the_log_libraries_neither_allocate_nor_wait::cuda", REQUIRE, traced)
}

/// The environment variable with which a missing trace is a failure.
const REQUIRE: &str = "STREAMFLOW_REQUIRE_API_TRACE";

/// What each tick does beside calling the plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extra {
    Nothing,
    /// The tick makes a stream-ordered allocation, and keeps it.
    Allocation,
    /// The host waits for the stream.
    Synchronization,
}

#[operator(streams(make))]
struct Source {
    #[output]
    data: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.make)?;
        let mut data = cx.tensor([1003], &stream)?;
        stream.launch::<fill>(1003, (&mut data, cx.tick() as f32))?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

/// An operator that calls each plan once in a tick.
#[operator(no_new)]
struct Work {
    #[input]
    data: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    workloads: Vec<Box<dyn Workload>>,
    extra: Extra,
    kept: Vec<Tensor<f32>>,
}

impl Work {
    fn new(extra: Extra) -> Self {
        Self { workloads: Vec::new(), extra, kept: Vec::new() }
    }
}

impl Compute for Work {
    fn start(&mut self, _: WorkStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.internal_stream()?;
        for problem in Problem::small() {
            self.workloads.push(problem.workload(cx, &stream)?);
        }
        Ok(())
    }

    fn compute(&mut self, io: WorkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        for workload in &mut self.workloads {
            workload.prepare(1, cx, &stream)?;
            workload.call(&stream)?;
        }
        match self.extra {
            Extra::Nothing => {}
            Extra::Allocation => self.kept.push(cx.tensor([1003], &stream)?),
            Extra::Synchronization => stream.synchronize_blocking()?,
        }
        io.out.emit(data)
    }
}

#[operator]
struct Sink {
    #[input]
    out: &Tensor<f32>,
    on_tick: OnTick,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = io.out.receive().receive_cuda_stream(cx)?;
        (self.on_tick)(cx.tick())
    }
}

graph! {
    struct Steady(extra: Extra, on_tick: OnTick) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);
        #[streams(STREAMS)] #[when(count(WARM_UP + TICKS + 10))]
        let source: Source = Source::new();
        #[streams(STREAMS)] let work: Work = Work::new(extra);
        #[streams(STREAMS)] let sink: Sink = Sink::new(on_tick);
        source.data >> work.data;
        work.out >> sink.out;
    }
}

/// Runs the graph, and returns the calls of the driver and of CUDA between the same points of two ticks. Before
/// the first of these points no library may allocate memory in stream order: records and waits on that stream
/// would cost more from then on.
fn run(
    platform: &Platform,
    trace: Option<Arc<ApiTrace>>,
    extra: Extra,
) -> Result<(Vec<Call>, Vec<ApiCalls>), Failed> {
    trace.iter().try_for_each(|trace| trace.begin())?;
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let steady = Arc::new(Mutex::new(Vec::new()));
    let (seen, kept, marks) = (recorder.clone(), steady.clone(), trace.clone());
    let on_tick = Box::new(move |tick| {
        if tick == WARM_UP {
            if let Some(trace) = &marks {
                let warm_up = trace.calls()?;
                let first = warm_up.iter().find(|calls| calls.is_in_stream_order());
                check(first.is_none(), || format!("a library called {first:?}"))?;
                trace.begin()?;
            }
            seen.clear();
        } else if tick == WARM_UP + TICKS {
            marks.iter().for_each(|trace| trace.end());
            if let Ok(mut kept) = kept.lock() {
                *kept = seen.calls();
            }
        }
        Ok(())
    });
    greedy(Steady::new(&platform, extra, on_tick)?)?.run()?;
    let log = std::mem::take(&mut *steady.lock().map_err(|_| Failed::msg("a poisoned lock"))?);
    let calls = trace.map_or(Ok(Vec::new()), |trace| trace.calls())?;
    Ok((log, calls))
}

fn count(log: &[Call], wanted: impl Fn(&Call) -> bool) -> u64 {
    log.iter().filter(|call| wanted(call)).count() as u64
}

fn check_log(log: &[Call]) -> Result<(), Failed> {
    let bad = |call: &&Call| call.changes_resources() || call.blocks_host();
    let first = log.iter().find(bad).map(Call::to_string);
    check(first.is_none(), || format!("after warm-up: {}", first.unwrap_or_default()))?;
    let calls = count(log, |call| matches!(call, Call::Library { .. }));
    let least = TICKS * Problem::small().len() as u64;
    check(calls >= least, || format!("{calls} calls of libraries in {TICKS} ticks, not {least}"))
}

/// Checks that a place has as many calls as there were ticks, less up to three: at both ends of the count the
/// source may be ahead of the sink by a tick or two.
fn finds(place: &str, found: u64) -> Result<(), Failed> {
    check(found + 3 >= TICKS, || format!("{place} has {found} such calls in {TICKS} ticks"))
}

/// Runs all traced graphs in a fixed order, since the trace counts the calls of the whole process.
fn traced() -> Result<Option<String>, Failed> {
    let platform = match Platform::cuda() {
        Ok(platform) => platform,
        Err(missing) => return Ok(Some(missing.to_string())),
    };
    let Some(trace) = ApiTrace::open()?.map(Arc::new) else {
        return Ok(Some(format!("{INJECTION} names no trace: see tests/api_trace/api_trace.c")));
    };
    let total = |calls: &[ApiCalls], is: fn(&ApiCalls) -> bool| -> u64 {
        calls.iter().filter(|calls| is(calls)).map(|calls| calls.count).sum()
    };
    let (log, calls) = run(&platform, Some(trace.clone()), Extra::Nothing)?;
    println!(
        "{TICKS} ticks of {} plans, {} calls in streamflow's log; in CUDA's API:",
        Problem::small().len(),
        log.len()
    );
    for ApiCalls { function, count } in &calls {
        println!("{count:>8} {function}");
    }
    check_log(&log)?;
    finds("the trace of launches", total(&calls, |calls| calls.function.contains("Launch")))?;
    let bad = |calls: &&ApiCalls| calls.is_allocation() || calls.is_synchronization();
    let first = calls.iter().find(bad);
    check(first.is_none(), || {
        format!("in {TICKS} ticks a library or streamflow called {first:?}")
    })?;
    for (extra, is) in [
        (Extra::Allocation, ApiCalls::is_allocation as fn(&ApiCalls) -> bool),
        (Extra::Synchronization, ApiCalls::is_synchronization),
    ] {
        let (_, calls) = run(&platform, Some(trace.clone()), extra)?;
        let found = total(&calls, is);
        println!("control: with {extra:?} in each tick, the trace has {found} of them");
        finds("the trace of the control", found)?;
    }
    Ok(None)
}
