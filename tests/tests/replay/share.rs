//! How many passes are replayed when the device is ahead in some ticks and behind in others. The memory of a
//! replayed tick follows from the tick's number, and never from how far the device is.

use std::collections::VecDeque;
use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow::schedule::Report;
use streamflow::stream::Assign;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_examples::deliver::Deliver;
use streamflow_examples::seed_graph::{CombineAndSum, Source as Image};
use streamflow_tests::layers::Late;
use streamflow_tests::seen::{self, Seen, push_seen};
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::data::replayed;
use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("the_seed_s_application_is_replayed", |platform| seed(platform, [1, 256]))
        .large(|suite| {
            suite.both("the_seed_s_application_with_large_images_is_replayed", |platform| {
                seed(platform, [300, 256])
            })
        })
        .both("a_host_that_polls_breaks_no_replay", polled)
        .both("a_sink_that_waits_for_its_stream_leaves_the_rest_replayed", seed_with_condition)
        .seeded("a_sink_that_polls_for_long_leaves_the_rest_replayed", |seed| {
            seed_that_is_late(Arc::new(HostDriver::builder().seed(seed).build()))
        })
        .cuda("a_sink_that_polls_for_long_leaves_the_rest_replayed", |_| {
            seed_that_is_late(Arc::new(CudaDriver::new()?))
        })
        .both("runs_of_a_few_ticks_are_replayed", short_runs)
        .both("a_second_graph_takes_the_place_of_the_first", second_graph)
        .both("a_parameter_of_every_third_tick_is_replayed", thirds)
        .both("memory_that_is_kept_for_a_tick_is_replayed", kept)
        .both("streams_that_nodes_share_are_replayed", planned)
        .seeded("a_wait_that_a_query_follows_comes_before_the_launch_after_it", queried)
}

const TICKS: u64 = 240;

/// The number of passes before all traces are known: each set of memory is used, and each trace comes twice, both
/// while the tick before is still on the device and after it.
const WARM: u64 = 30;

graph! {
    #[replay]
    struct Seed(shape: [usize; 2], report: streamflow_examples::deliver::Report<f32>) {
        #[when(count(TICKS))] let source1: Image = Image::new(shape[0], shape[1] as u32);
        #[when(count(TICKS))] let source2: Image = Image::new(shape[0], shape[1] as u32);
        let combine_and_sum: CombineAndSum = CombineAndSum::new();
        let rx: Deliver<f32> = Deliver::new(report);
        source1.image >> combine_and_sum.in1;
        source2.image >> combine_and_sum.in2;
        combine_and_sum.out >> rx.tensor;
    }
}

/// An operator that downloads the sums of each tick. The host reads the sums that have arrived, so their number
/// depends on the device's progress.
#[operator(no_new)]
struct Polls {
    #[input]
    tensor: &Tensor<f32>,
    waiting: VecDeque<Download<f32>>,
    sums: Seen<Vec<f32>>,
}

impl Compute for Polls {
    fn compute(&mut self, io: PollsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive().receive_cuda_stream(cx)?;
        self.waiting.push_back(cx.download(tensor, &stream)?);
        while let Some(oldest) = self.waiting.front() {
            let found = match oldest.try_get()? {
                None if self.waiting.len() > MOST_WAITING => oldest.wait_blocking()?.to_vec(),
                None => return Ok(()),
                Some(values) => values.to_vec(),
            };
            push_seen(&self.sums, found);
            self.waiting.pop_front();
        }
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        for last in self.waiting.drain(..) {
            push_seen(&self.sums, last.wait_blocking()?.to_vec());
        }
        Ok(())
    }
}

/// The most downloads that the host keeps waiting: no more than there are sets of page-locked memory. If the host
/// held more of that memory, ticks would repeat later.
const MOST_WAITING: usize = 3;

graph! {
    #[replay]
    struct Polled(sums: Seen<Vec<f32>>) {
        #[when(count(TICKS))] let source1: Image = Image::new(1, 256);
        #[when(count(TICKS))] let source2: Image = Image::new(1, 256);
        let combine_and_sum: CombineAndSum = CombineAndSum::new();
        let rx: Polls = Polls { waiting: VecDeque::new(), sums };
        source1.image >> combine_and_sum.in1;
        source2.image >> combine_and_sum.in2;
        combine_and_sum.out >> rx.tensor;
    }
}

fn polled(platform: &Platform) -> Result<(), Failed> {
    let sums = Seen::default();
    let report = Polled::new(platform, sums.clone())?.run()?;
    same_sums(&sums)?;
    is_replayed(&report)
}

graph! {
    #[replay]
    struct Conditional(report: streamflow_examples::deliver::Report<f32>) {
        #[when(count(TICKS))] let source1: Image = Image::new(1, 256);
        #[when(count(TICKS))] let source2: Image = Image::new(1, 256);
        let combine_and_sum: CombineAndSum = CombineAndSum::new();
        #[when(stream_done(tensor))] let rx: Deliver<f32> = Deliver::new(report);
        source1.image >> combine_and_sum.in1;
        source2.image >> combine_and_sum.in2;
        combine_and_sum.out >> rx.tensor;
    }
}

/// Checks that at least 95 of a hundred passes were replayed, of those after the first `WARM`.
fn is_replayed(report: &Report) -> Result<(), Failed> {
    let replay = replayed(report)?;
    let steady = (replay.replayed + replay.sent).saturating_sub(WARM);
    check(replay.replayed * 100 >= steady * 95, || report.to_string())?;
    check(replay.replayed > TICKS / 2, || report.to_string())
}

/// Checks that the sums of all ticks are the same.
fn same_sums(sums: &Seen<Vec<f32>>) -> Result<(), Failed> {
    let sums = seen::all(sums);
    check_equal(sums.len() as u64, TICKS)?;
    check(sums.iter().all(|of_tick| of_tick == &sums[0] && of_tick[0] > 0.0), || {
        "the sums of two ticks differ".into()
    })
}

fn collect(sums: &Seen<Vec<f32>>) -> streamflow_examples::deliver::Report<f32> {
    let sums = sums.clone();
    Box::new(move |_, values| {
        push_seen(&sums, values.to_vec());
        Ok(())
    })
}

fn seed(platform: &Platform, shape: [usize; 2]) -> Result<(), Failed> {
    let sums = Seen::default();
    let report = Seed::new(platform, shape, collect(&sums))?.run()?;
    same_sums(&sums)?;
    is_replayed(&report)
}

fn seed_with_condition(platform: &Platform) -> Result<(), Failed> {
    let sums = Seen::default();
    let report = Conditional::new(platform, collect(&sums))?.run()?;
    same_sums(&sums)?;
    is_replayed(&report)
}

/// The driver reports work as complete late. So the sink queries so often between two ticks that a count of its
/// queries says nothing about traces.
fn seed_that_is_late(below: Arc<dyn Driver>) -> Result<(), Failed> {
    let late = Arc::new(Late::new(below, 50));
    seed_with_condition(&Platform::builder().driver(Arc::new(Replaying::over(late)))?)
}

graph! {
    #[replay]
    struct Short(got: Got) {
        let source: Source = Source::new(None);
        let a: Step = Step::new(2, u64::MAX);
        let fold: Fold = Fold::new(None, got);
        source.image >> a.image;
        a.out >> fold.image;
    }
}

/// Returns how many passes of a run of `ticks` ticks were replayed.
fn replayed_of(graph: &mut Short, ticks: u64) -> Result<u64, Failed> {
    Ok(replayed(&streamflow::__private::run_for(graph, ticks.into())?)?.replayed)
}

/// Checks that short runs of several lengths are replayed, since each gets memory that earlier runs have used.
fn short_runs(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Short::new(platform, Got::default())?;
    for _ in 0..20 {
        replayed_of(&mut graph, 12)?;
        replayed_of(&mut graph, 4)?;
    }
    // The calls of the first tick, or those at the end of a run, may differ, and are not replayed.
    let passes = [replayed_of(&mut graph, 12)?, replayed_of(&mut graph, 4)?];
    check(passes[0] >= 11 && passes[1] >= 3, || format!("{passes:?} of [12, 4]"))
}

/// Checks that lanes of earlier graphs, whose traces never come again, give up their room to lanes of a new
/// graph, even when no lane is launched any more.
fn second_graph(platform: &Platform) -> Result<(), Failed> {
    for _ in 0..8 {
        let mut graph = Short::new(platform, Got::default())?;
        (0..12).try_for_each(|_| replayed_of(&mut graph, 12).map(drop))?;
        let passes = replayed_of(&mut graph, 12)?;
        check(passes >= 11, || format!("{passes} of 12"))?;
    }
    Ok(())
}

/// An operator that launches a kernel with a parameter that has the same value every third tick.
#[operator]
struct Third {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
}

impl Compute for Third {
    fn compute(&mut self, io: ThirdIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<tagged>(LEN, (&mut out, image, (cx.tick() % 3) as u32))?;
        io.out.emit(out)
    }
}

graph! {
    #[replay]
    struct Thirds(got: Got) {
        #[when(count(TICKS))] let source: Source = Source::new(None);
        let third: Third = Third::new();
        let fold: Fold = Fold::new(None, got);
        source.image >> third.image;
        third.out >> fold.image;
    }
}

/// Checks that each combination of a parameter's value and a set of memory gets a trace, and that all of these
/// traces are kept.
fn thirds(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let report = Thirds::new(platform, got.clone())?.run()?;
    let (mut state, mut fold) = (0_u32, 0_u32);
    for tick in 0..TICKS as u32 {
        state = state.wrapping_mul(3).wrapping_add(1);
        let image = state.wrapping_mul(5).wrapping_add(1);
        fold = fold.wrapping_mul(31).wrapping_add(image.wrapping_mul(5).wrapping_add(tick % 3));
    }
    check_equal(seen::all(&got), vec![vec![fold; LEN]])?;
    is_replayed(&report)
}

/// An operator that combines each image with the image before, and keeps the image for the next tick.
#[operator]
struct Keep {
    #[input]
    image: Shared<Tensor<u32>>,
    #[output]
    out: Tensor<u32>,
    before: Option<Shared<Tensor<u32>>>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        let before = self.before.as_deref().unwrap_or(&image);
        stream.launch::<joined>(LEN, (&mut out, before, &*image))?;
        self.before = Some(image);
        io.out.emit(out)
    }
}

graph! {
    #[replay]
    struct Keeping(got: Got) {
        #[when(count(TICKS))] let source: Source = Source::new(None);
        let keep: Keep = Keep::new(None);
        #[when(stream_done(image))] let fold: Fold = Fold::new(None, got);
        source.image >> keep.image;
        keep.out >> fold.image;
    }
}

fn kept(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let report = Keeping::new(platform, got.clone())?.run()?;
    let (mut state, mut fold, mut before) = (0_u32, 0_u32, None);
    for _ in 0..TICKS {
        state = state.wrapping_mul(3).wrapping_add(1);
        let image = state.wrapping_mul(5).wrapping_add(1);
        let joined = before.unwrap_or(image).wrapping_mul(7).wrapping_add(image);
        fold = fold.wrapping_mul(31).wrapping_add(joined);
        before = Some(image);
    }
    check_equal(seen::all(&got), vec![vec![fold; LEN]])?;
    is_replayed(&report)
}

graph! {
    #[replay]
    struct Planned(got: Got) {
        const P: CudaStreamPool = CudaStreamPool::new().assign(Assign::Planned { depth: 2 });
        #[streams(P)] #[when(count(TICKS))] let source: Source = Source::new(None);
        #[streams(P)] let a: Step = Step::new(2, u64::MAX);
        #[streams(P)] let b: Step = Step::new(3, u64::MAX);
        #[streams(P)] let join: Join = Join::new();
        #[streams(P)] let fold: Fold = Fold::new(None, got);
        source.image >> (a.image, b.image);
        a.out >> join.a;
        b.out >> join.b;
        join.out >> fold.image;
    }
}

fn planned(platform: &Platform) -> Result<(), Failed> {
    let got = Got::default();
    let report = Planned::new(platform, got.clone())?.run()?;
    check_equal(seen::all(&got), vec![expected(TICKS, u64::MAX)])?;
    is_replayed(&report)
}

/// An operator that asks whether its stream is complete, as a sink that polls does.
#[operator]
struct Asks {
    #[input]
    image: &Tensor<u32>,
}

impl Compute for Asks {
    fn compute(&mut self, io: AsksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let _is_done = stream.is_complete()?;
        Ok(())
    }
}

/// An operator like [`Fold`] that queries another stream between receiving and launching. The query puts its wait
/// and its launch into two segments.
#[operator]
struct LateFold {
    #[input]
    image: &Tensor<u32>,
    state: Option<Tensor<u32>>,
    asked: Option<CudaStream>,
    got: Got,
}

impl Compute for LateFold {
    fn start(&mut self, _: LateFoldStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        self.state = Some(cx.upload(&[0; LEN])?);
        let pool = cx.platform().stream_pool("ASKED", &CudaStreamPool::new())?;
        self.asked = Some(pool.allocate("asked")?);
        Ok(())
    }

    fn compute(&mut self, io: LateFoldIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let (Some(state), Some(asked)) = (&mut self.state, &self.asked) else {
            return Err(Failure::msg("not started"));
        };
        let _is_done = asked.is_complete()?;
        Ok(stream.launch::<folded>(LEN, (state, image))?)
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        let Some(state) = self.state.take() else { return Ok(()) };
        let pool = cx.platform().stream_pool("STOP", &CudaStreamPool::new())?;
        let stream = pool.allocate("the fold")?;
        let all = cx.platform().download(&state, &stream)?.wait_blocking()?.to_vec();
        push_seen(&self.got, all);
        Ok(())
    }
}

graph! {
    #[replay]
    struct Queried(got: Got, late: Got) {
        #[when(count(TICKS))] let source: Source = Source::new(None);
        let asks: Asks = Asks::new();
        #[when(count(TICKS))] let other: Source = Source::new(None);
        let fold: Fold = Fold::new(None, got);
        let late_fold: LateFold = LateFold::new(None, None, late);
        source.image >> (asks.image, late_fold.image);
        other.image >> fold.image;
    }
}

fn queried(seed: u64) -> Result<(), Failed> {
    let host = Arc::new(HostDriver::builder().seed(seed).build());
    let below = Platform::builder().memory(super::data::FEW);
    let platform = below.driver(Arc::new(Replaying::over(host)))?;
    let (got, late) = (Got::default(), Got::default());
    let report = Queried::new(&platform, got.clone(), late.clone())?.run()?;
    let (mut state, mut fold) = (0_u32, 0_u32);
    for _ in 0..TICKS {
        state = state.wrapping_mul(3).wrapping_add(1);
        let image = state.wrapping_mul(5).wrapping_add(1);
        fold = fold.wrapping_mul(31).wrapping_add(image);
    }
    check_equal(seen::all(&got), vec![vec![fold; LEN]])?;
    check_equal(seen::all(&late), vec![vec![fold; LEN]])?;
    check(replayed(&report)?.replayed > TICKS / 2, || report.to_string())
}
