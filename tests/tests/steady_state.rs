//! Tests law 12: after warm-up a tick makes no allocation on the host or a device, no stream and no event. The driver
//! gets only launches, copies, records, waits and queries.

#[path = "steady_state/ends.rs"]
mod ends;
#[path = "steady_state/late_readers.rs"]
mod late_readers;
#[path = "transfers/leaves.rs"]
mod leaves;
mod many;
mod readers;
mod replayed;
mod reporting;
mod signals;
mod slow;
mod with_plans;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_examples::seed_app::{HandWired, Streams};
use streamflow_tests::allocations::{self, count};
use streamflow_tests::forms::Form;
use streamflow_tests::graph_runs::{Example, OnTick};
use streamflow_tests::kernels::{add_one, fill};
use streamflow_tests::setup::recorded;
use streamflow_tests::stereo::Counter;
use streamflow_tests::tensors::{LEN, Tx};
use streamflow_tests::{Failed, Suite, check};

use leaves::Leaves;
use replayed::{replayed, with_other_calls};
use signals::{signals_make_no_heap_allocations, signals_make_no_resources};
use with_plans::{plans_make_no_heap_allocations, plans_make_no_resources};

const WARM_UP: usize = 200;
const TICKS: usize = 1000;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("law12_warm_ticks_make_no_resources", no_resources_are_made)
        .both("law12_warm_ticks_make_no_heap_allocations", no_heap_allocations)
        .both("law12_warm_graphs_make_no_resources", graphs_make_no_resources)
        .both("law12_warm_graphs_make_no_heap_allocations", graphs_make_no_heap_allocations)
        .both("law12_warm_plans_make_no_resources", plans_make_no_resources)
        .both("law12_warm_plans_make_no_heap_allocations", plans_make_no_heap_allocations)
        .both("law12_warm_signals_make_no_resources", signals_make_no_resources)
        .both("law12_warm_signals_make_no_heap_allocations", signals_make_no_heap_allocations)
        .both("law12_kernels_with_many_grids_make_no_heap_allocations", reporting::many_grids)
        .both("law12_a_warm_graph_with_statistics_makes_no_heap_allocations", statistics)
        .both("law12_a_replayed_graph_makes_no_heap_allocations", replayed)
        .except(Form::ReplayedAlways, "each call that differs is captured", |suite| {
            suite.both("law12_calls_that_replay_keeps_for_a_while_make_none", with_other_calls)
        })
        .both("law12_an_exhausted_pool_makes_no_heap_allocations", exhausted_pool)
        .devices("law12_transfers_and_policies_make_no_heap_allocations", 2, transfers)
        .both("law12_paths_of_several_origins_make_no_heap_allocations", origins)
        .both("law12_memory_with_many_readers_makes_no_heap_allocations", many_readers)
        .plain(
            "law12_a_device_that_becomes_slow_makes_no_heap_allocations::host",
            slow::slow_device,
        )
        .both("law12_nodes_that_have_ended_make_no_heap_allocations", ends::ends)
        .plain(
            "law12_readers_that_come_late_make_no_heap_allocations::host",
            late_readers::late_readers,
        )
        .host("law12_many_workers_and_waiting_nodes_make_no_heap_allocations", many_workers)
}

/// How many resources may be made after the warm-up. With workers, the most messages that are alive at once, and the
/// most points that one worker polls, may come later than that. An allocation in each tick would be 1000.
fn late() -> u64 {
    // With replay, call sequences that a seed makes rare come a second time late, and then a CUDA graph is made of them,
    // with some 50 allocations. Memory with many readers makes several such graphs.
    let is_replayed = Form::Replayed.is_set();
    if !Form::Workers.is_set() && !is_replayed { 0 } else { 100 + 400 * u64::from(is_replayed) }
}

/// Runs with two ticks in flight, as the example does.
fn run(app: &mut HandWired, ticks: usize) -> Result<()> {
    let mut before = app.tick()?;
    for _ in 1..ticks {
        let next = app.tick()?;
        before.wait_blocking()?;
        before = next;
    }
    before.wait_blocking()?;
    Ok(())
}

/// Whether the driver may get this call after warm-up.
fn is_steady(call: &Call) -> bool {
    matches!(
        call,
        Call::Bind { .. }
            | Call::Launch { .. }
            | Call::Library { .. }
            | Call::Copy { .. }
            | Call::Fill { .. }
            | Call::RecordEvent { .. }
            | Call::WaitEvent { .. }
            | Call::QueryEvent { .. }
            | Call::SynchronizeEvent { .. }
            // The host function wakes a run that sleeps until the device is done. On a slow device a run sleeps in each
            // tick.
            | Call::HostFunction { .. }
            // `Recycle` is not a CUDA call: it tells the simulator that memory has a new owner.
            | Call::Recycle { .. }
    )
}

fn no_resources_are_made(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let mut app = HandWired::new(&platform, 3, 65, Streams::Pool)?;
    run(&mut app, WARM_UP)?;
    recorder.clear();
    run(&mut app, TICKS)?;
    let calls = recorder.calls();
    let first = calls.iter().find(|call| !is_steady(call)).map(Call::to_string);
    check(first.is_none(), || format!("after warm-up: {}", first.unwrap_or_default()))?;
    let launches = calls.iter().filter(|call| matches!(call, Call::Launch { .. })).count();
    check(launches == 3 * TICKS, || format!("{launches} launches in {TICKS} ticks"))
}

fn no_heap_allocations(platform: &Platform) -> Result<(), Failed> {
    let mut app = HandWired::new(platform, 3, 65, Streams::Pool)?;
    run(&mut app, WARM_UP)?;
    let (allocations, done) = count(|| run(&mut app, TICKS));
    done?;
    check(allocations == 0, || format!("{allocations} allocations in {TICKS} ticks"))
}

/// Returns how many kernels and how many copies one tick has.
fn work_per_tick(example: Example) -> (usize, usize) {
    match example {
        Example::Pool | Example::Default => (3, 1),
        Example::Edges => (6, 2),
        // The kernels: the pattern, a part of each of four frames, the fade and the mix. The copies: that of the edge and
        // the download.
        Example::Temporal => (7, 2),
    }
}

/// Returns the driver calls that a run makes in a number of ticks after the warm-up.
fn warm_calls(
    platform: &Platform,
    ticks: usize,
    run: impl FnOnce(&Platform, u64, OnTick) -> Result<(), Failed>,
) -> Result<Vec<Call>, Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let seen = recorder.clone();
    let steady = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = steady.clone();
    // The calls are counted within one run, between the same points of two ticks, so the run's start and end do not
    // count.
    let on_tick = Box::new(move |tick| {
        if tick == WARM_UP as u64 {
            seen.clear();
        } else if tick == (WARM_UP + ticks) as u64
            && let Ok(mut kept) = kept.lock()
        {
            *kept = seen.calls();
        }
        Ok(())
    });
    run(&platform, (WARM_UP + ticks + 10) as u64, on_tick)?;
    let mut calls = steady.lock().map_err(|_| Failed::msg("a poisoned lock"))?;
    Ok(std::mem::take(&mut calls))
}

/// Checks that the calls make no resources.
fn check_steady(name: &str, calls: &[Call]) -> Result<(), Failed> {
    let made = || calls.iter().filter(|call| !is_steady(call));
    check(made().count() as u64 <= late(), || {
        let first = made().next().map(Call::to_string);
        format!("{name}, after warm-up: {}", first.unwrap_or_default())
    })
}

fn graphs_make_no_resources(platform: &Platform) -> Result<(), Failed> {
    for example in Example::ALL {
        let calls = warm_calls(platform, TICKS, |platform, ticks, on_tick| {
            example.run(platform, ticks, on_tick)
        })?;
        check_steady(&format!("{example:?}"), &calls)?;
        let count = |wanted: fn(&Call) -> bool| calls.iter().filter(|call| wanted(call)).count();
        let (launches, copies) = work_per_tick(example);
        // At both points the sources may be one or two ticks further ahead of the sink, or less far.
        for (what, found, wanted) in [
            ("launches", count(|call| matches!(call, Call::Launch { .. })), launches * TICKS),
            ("copies", count(|call| matches!(call, Call::Copy { .. })), copies * TICKS),
        ] {
            check(found.abs_diff(wanted) <= 3 * launches, || {
                format!("{example:?}: {found} {what} in {TICKS} ticks, not {wanted}")
            })?;
        }
    }
    Ok(())
}

fn graphs_make_no_heap_allocations(platform: &Platform) -> Result<(), Failed> {
    Example::ALL.iter().try_for_each(|example| {
        no_allocations_within(&format!("{example:?}"), |ticks, on_tick| {
            example.run(platform, ticks, on_tick)
        })
    })
}

/// The histograms are made before the first tick.
fn statistics(platform: &Platform) -> Result<(), Failed> {
    let measured = Platform::builder().statistics(true).driver(platform.driver().clone())?;
    no_allocations_within("statistics", |ticks, on_tick| {
        Example::Temporal.run(&measured, ticks, on_tick)
    })
}

/// Counts allocations of graphs in which many workers are woken at once and many nodes wait.
fn many_workers(platform: &Platform) -> Result<(), Failed> {
    // If the two owners of a message are dropped at the same time, its slot is lost, which costs an allocation.
    few_allocations_within("many workers", TICKS, 100, |ticks, on_tick| {
        many::run(platform, ticks, on_tick)
    })
}

fn many_readers(platform: &Platform) -> Result<(), Failed> {
    // The largest number of readers that one block has at once may come late, and its list then grows. A list for each
    // query would make some 60 allocations.
    few_allocations_within("many readers", TICKS, late().max(20), |ticks, on_tick| {
        readers::run(platform, ticks, on_tick)
    })
}

/// Checks that a run makes no heap allocation between two of its ticks.
fn no_allocations_within(
    name: &str,
    run: impl FnOnce(u64, OnTick) -> Result<(), Failed>,
) -> Result<(), Failed> {
    few_allocations_within(name, TICKS, late(), run)
}

/// Checks that a run makes at most so many heap allocations in so many ticks after the warm-up.
fn few_allocations_within(
    name: &str,
    ticks: usize,
    most: u64,
    run: impl FnOnce(u64, OnTick) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let (before, after) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (first, last) = (before.clone(), after.clone());
    let on_tick = Box::new(move |tick| {
        if tick == WARM_UP as u64 {
            first.store(allocations::so_far_of_all(), Ordering::Relaxed);
        } else if tick == (WARM_UP + ticks) as u64 {
            last.store(allocations::so_far_of_all(), Ordering::Relaxed);
        }
        Ok(())
    });
    // The whole run must allocate. This shows that allocations are counted.
    let (whole, done) = count(|| run((WARM_UP + ticks + 10) as u64, on_tick));
    done?;
    check(whole > 0, || format!("{name}: no allocation in the whole run"))?;
    let (before, after) = (before.load(Ordering::Relaxed), after.load(Ordering::Relaxed));
    let made = after.saturating_sub(before);
    check(before > 0 && after > 0 && made <= most, || {
        format!("{name}: {made} allocations in {ticks} ticks")
    })
}

/// Allocates its pool's only stream under another name, although it needs its internal stream in every tick.
#[operator]
struct Streamless {
    #[input]
    image: &Tensor<f32>,
    on_tick: OnTick,
}

impl Compute for Streamless {
    fn start(&mut self, _: StreamlessStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        Ok(cx.allocate_cuda_stream_named("held").map(drop)?)
    }

    fn compute(&mut self, io: StreamlessIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive().or_adopt().or_default();
        let (_, stream) = image.receive_cuda_stream(cx)?;
        if stream.raw() != cx.default_stream()?.raw() {
            return Err(Failure::msg("the pool had a stream"));
        }
        // The hook waits, so that the host does not run further and further ahead.
        stream.synchronize_blocking()?;
        (self.on_tick)(cx.tick())
    }
}

graph! {
    /// A graph whose messages carry no stream, so that there is never one to adopt.
    struct Exhausted(ticks: u64, on_tick: OnTick) {
        const ONE: CudaStreamPool = CudaStreamPool::new().max_size(1);

        #[when(count(ticks))]
        let source: Tx = Tx::new(0.0, false, 0);
        #[streams(ONE)]
        let sink: Streamless = Streamless::new(on_tick);

        source.image >> sink.image;
    }
}

fn exhausted_pool(platform: &Platform) -> Result<(), Failed> {
    no_allocations_within("an exhausted pool", |ticks, on_tick| {
        Ok(Exhausted::new(platform, ticks, on_tick)?.run().map(drop)?)
    })
}

/// Forwards its image on a stream that it allocates by name, and sends a copy to itself.
#[operator]
struct Forwards {
    #[input]
    image: Tensor<f32>,
    #[input]
    before: Shared<Tensor<f32>>,
    #[output]
    next: Tensor<f32>,
    #[output]
    copy: Tensor<f32>,
}

impl Compute for Forwards {
    fn compute(&mut self, io: ForwardsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, before) = (io.image.receive(), io.before.receive());
        let named = cx.allocate_cuda_stream_named("named")?;
        let after = cx.synchronize_streams(image.streams().chain(before.streams()), &named)?;
        let mut image = image.into_synchronized_data(&after)?;
        let before = before.into_synchronized_data(&after)?;
        let mut copy = cx.tensor([LEN], &named)?;
        named.copy(&before, &mut copy)?;
        named.launch::<add_one>(LEN, (&mut image,))?;
        io.next.set_cuda_stream(&named).emit(image)?;
        io.copy.set_cuda_stream(&named).emit(copy)
    }
}

/// Reads the messages of all edges.
#[operator]
struct ReadsAll {
    #[input(many)]
    images: Shared<Tensor<f32>>,
    on_tick: OnTick,
}

impl Compute for ReadsAll {
    fn compute(&mut self, io: ReadsAllIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (images, stream) = io.images.receive().sync_to_default().receive_cuda_stream(cx)?;
        for image in images {
            cx.download(&*image, &stream)?.wait_blocking()?;
        }
        // The hook waits, so that the host does not run further and further ahead.
        cx.default_stream()?.synchronize_blocking()?;
        (self.on_tick)(cx.tick())
    }
}

graph! {
    /// Transfers messages to another device and back, over a feedback edge, awaited inputs, and edges that drop messages.
    struct Kinds(ticks: u64, first: Tensor<f32>, on_tick: OnTick) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        #[when(count(ticks))]
        let source: Tx = Tx::new(0.0, true, 0);
        #[streams(FAR)] #[when(stream_done(image))]
        let there: Forwards = Forwards::new();
        #[when(stream_done(images))]
        let sink: ReadsAll = ReadsAll::new(on_tick);
        let newest: Leaves = Leaves::new();
        let oldest: Leaves = Leaves::new();

        #[transfer]
        source.image >> there.image;
        source.image >> sink.images;
        #[policy(pop)]
        source.image >> newest.image;
        #[policy(reject)] #[copy]
        source.image >> oldest.image;
        #[feedback(initial = first)]
        there.next >> there.before;
        #[transfer] #[capacity(2)]
        there.copy >> sink.images;
    }
}

fn transfers(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("FIRST", &CudaStreamPool::new().device(device(1)))?;
    let stream = pool.allocate("first")?;
    let mut first = platform.tensor([LEN], &stream)?;
    stream.launch::<fill>(LEN, (&mut first, 0.0))?;
    no_allocations_within("transfers and policies", |ticks, on_tick| {
        Ok(Kinds::new(platform, ticks, first, on_tick)?.run().map(drop)?)
    })
}

/// A sink of many sources. In half of its ticks, one source sends data with another origin.
#[operator]
struct Numbers {
    #[input(many)]
    numbers: u64,
    on_tick: OnTick,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.numbers.receive().into_data().for_each(drop);
        (self.on_tick)(cx.tick())
    }
}

/// Forwards every second number, and otherwise sends a number of its own.
#[operator]
struct Sometimes {
    #[input]
    number: u64,
    #[output]
    other: u64,
}

impl Compute for Sometimes {
    fn compute(&mut self, io: SometimesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick().is_multiple_of(2) {
            return io.other.emit(io.number.receive().into_data());
        }
        io.number.discard();
        io.other.emit(0)
    }
}

graph! {
    struct Origins(ticks: u64, on_tick: OnTick) {
        #[when(count(ticks))] let a: Counter = Counter::new();
        #[when(count(ticks))] let b: Counter = Counter::new();
        let first: Sometimes = Sometimes::new();
        let second: Sometimes = Sometimes::new();
        let sink: Numbers = Numbers::new(on_tick);
        a.number >> first.number;
        b.number >> second.number;
        first.other >> sink.numbers;
        second.other >> sink.numbers;
    }
}

/// The graph's paths take different ways, and data begins at nodes that are no sources.
fn origins(platform: &Platform) -> Result<(), Failed> {
    let measured = Platform::builder().statistics(true).driver(platform.driver().clone())?;
    no_allocations_within("several origins", |ticks, on_tick| {
        let report = Origins::new(&measured, ticks, on_tick)?.run()?;
        let counted = report.latency.iter().map(|path| path.summary.count).sum::<u64>();
        let paths = if Form::Workers.is_set() { 2..=4 } else { 2..=2 };
        check(paths.contains(&report.latency.len()), || format!("{report}"))?;
        let sent = if Form::Workers.is_set() { ticks..=2 * ticks } else { ticks..=ticks };
        check(sent.contains(&counted), || format!("{report}"))
    })
}
