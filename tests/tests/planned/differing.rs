//! Law 17: ticks in which operators do not act as the plan assumes. The claims then add the waits that are
//! missing, so planned streams and a stream for each operator give the same data.

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_driver::driver::Call;
use streamflow_tests::kernels::mixing::make;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_equal, seen};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("the_claims_decide_where_a_tick_leaves_its_message", leaves)
        .both("the_claims_decide_where_an_operator_sends_before_it_receives", sends_early)
        .both("the_claims_decide_where_an_operator_sends_on_another_stream", sends_elsewhere)
        .both("the_claims_decide_where_the_consumer_leaves_the_covering_message", leaves_cover)
        .both("the_claims_decide_where_an_operator_sends_at_one_output_alone", sends_one)
        .both("the_claims_decide_where_a_record_is_between_two_messages", sends_apart)
        .both("the_claims_decide_where_a_queue_drops_messages", drops)
}

const TICKS: u64 = 6;

/// How the operator `Different` differs from the plan's assumptions.
#[derive(Clone, Copy, PartialEq)]
enum Differs {
    /// In the first tick it leaves its message in the queue, and sends an image of its own.
    Leaves,
    /// It sends before it has received, with a record of its stream in between.
    SendsEarly,
    /// It sends an image of its own on a stream that waits for no other stream.
    SendsElsewhere,
}

/// An operator that does not act as the plan assumes.
#[operator]
struct Different {
    #[input]
    image: &Tensor<u32>,
    #[input]
    other: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    differs: Differs,
}

impl Compute for Different {
    fn compute(&mut self, io: DifferentIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.other.receive().receive_cuda_stream(cx)?;
        if self.differs == Differs::SendsElsewhere {
            io.image.receive().receive_cuda_stream(cx)?;
            let elsewhere = cx.allocate_cuda_stream_named("elsewhere")?;
            let mut out = cx.tensor([LEN], &elsewhere)?;
            elsewhere.launch::<make>(LEN, (&mut out, cx.tick() as u32, 0))?;
            return io.out.set_cuda_stream(&elsewhere).emit(out);
        }
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<make>(LEN, (&mut out, cx.tick() as u32, 0))?;
        io.out.emit(out)?;
        if self.differs == Differs::SendsEarly {
            stream.record()?;
            io.image.receive().receive_cuda_stream(cx)?;
        } else if cx.tick() == 0 {
            io.image.leave();
        } else {
            io.image.receive().receive_cuda_stream(cx)?;
        }
        Ok(())
    }
}

graph! {
    struct Differing(streams: CudaStreamPool, differs: Differs, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[when(count(TICKS))] let source: Source = Source::new();
        #[when(count(TICKS))] let other: Source = Source::new();
        #[streams(STREAMS)] let step: Different = Different::new(differs);
        #[streams(STREAMS)] let join: Join = Join::new(noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        other.image >> step.other;
        source.image >> (step.image, join.b);
        step.out >> join.a;
        join.out >> sink.image;
    }
}

/// Returns the images of a run in which each operator has a stream of its own. Checks that runs with planned
/// streams give the same images.
fn same_if_planned(
    run: impl Fn(CudaStreamPool, Got) -> Result<(), Failed>,
) -> Result<Vec<Image>, Failed> {
    let images = |streams| {
        let got = Got::default();
        run(streams, got.clone()).map(|()| seen::all(&got))
    };
    let expected = images(per_operator())?;
    for depth in [1, 2] {
        check_equal(images(planned(depth))?, expected.clone())?;
    }
    Ok(expected)
}

/// Runs some ticks of a graph, which may leave messages in queues. Checks first that the plan takes an edge of
/// the graph to be implied by the edge to `a`.
macro_rules! run_ticks {
    ($graph:expr, $edge:literal) => {{
        let mut graph = $graph;
        let picture = graph.plan()?.mermaid();
        check(picture.contains(concat!($edge, ", implied by a")), || picture)?;
        for _ in 0..4 * TICKS {
            graph.tick()?;
        }
        let _left_over = graph.end_run();
        Ok(())
    }};
}

fn leaves(platform: &Platform) -> Result<(), Failed> {
    let images = same_if_planned(|streams, got| {
        let noted = Noted::default();
        run_ticks!(Differing::new(platform, streams, Differs::Leaves, noted, got)?, "image → b")
    })?;
    check(images.len() >= 2, || "`join` has received less than two images".into())
}

fn sends_differently(platform: &Platform, differs: Differs) -> Result<(), Failed> {
    let images = same_if_planned(|streams, got| {
        Differing::new(platform, streams, differs, Noted::default(), got)?.run()?;
        Ok(())
    })?;
    check_equal(images.len(), TICKS as usize)
}

fn sends_early(platform: &Platform) -> Result<(), Failed> {
    sends_differently(platform, Differs::SendsEarly)
}

fn sends_elsewhere(platform: &Platform) -> Result<(), Failed> {
    sends_differently(platform, Differs::SendsElsewhere)
}

/// An operator that receives `b` in its first tick, but leaves the message of `a`, by which the plan takes `b` to
/// be ordered.
#[operator]
struct LeavesCover {
    #[input]
    b: &Tensor<u32>,
    #[input]
    a: &Tensor<u32>,
    got: Got,
}

impl Compute for LeavesCover {
    fn compute(&mut self, io: LeavesCoverIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 0 {
            io.a.leave();
        } else {
            io.a.receive().receive_cuda_stream(cx)?;
        }
        let (b, stream) = io.b.receive().receive_cuda_stream(cx)?;
        let data = cx.download(b, &stream)?.wait_blocking()?.to_vec();
        seen::push_seen(&self.got, ("b".into(), data));
        Ok(())
    }
}

graph! {
    /// A graph in which `join`, from the second tick on, receives an image of the source together with what `step`
    /// has made of the image before.
    struct Shifted(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let step: Step = Step::new(1, noted);
        #[streams(STREAMS)] let join: LeavesCover = LeavesCover::new(got);
        source.image >> (step.image, join.b);
        step.out >> join.a;
    }
}

fn leaves_cover(platform: &Platform) -> Result<(), Failed> {
    let images = same_if_planned(|streams, got| {
        run_ticks!(Shifted::new(platform, streams, Noted::default(), got)?, "image → b")
    })?;
    check_equal(images.len(), TICKS as usize)
}

/// How an operator with two outputs sends.
#[derive(Clone, Copy, PartialEq)]
enum Sends {
    /// In the first tick it sends at `x` alone.
    One,
    /// It sends at `x`, records its stream, and sends at `y`.
    Apart,
}

/// An operator that sends an image at each of two outputs.
#[operator(streams(work))]
struct Two {
    #[output]
    x: Tensor<u32>,
    #[output]
    y: Tensor<u32>,
    sends: Sends,
}

impl Compute for Two {
    fn compute(&mut self, io: TwoIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut images = [cx.tensor([LEN], &stream)?, cx.tensor([LEN], &stream)?];
        for image in &mut images {
            stream.launch::<make>(LEN, (image, cx.tick() as u32, 0))?;
        }
        let [x, y] = images;
        io.x.set_cuda_stream(&stream).emit(x)?;
        if self.sends == Sends::Apart {
            stream.record()?;
        } else if cx.tick() == 0 {
            return Ok(());
        }
        io.y.set_cuda_stream(&stream).emit(y)
    }
}

graph! {
    /// A graph in which `join` receives an image of `y` together with what `step` has made of an image of `x`. If the
    /// first tick sends no `y`, the image of `x` is that of the tick before.
    struct Unequal(streams: CudaStreamPool, sends: Sends, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[when(count(TICKS))] let source: Two = Two::new(sends);
        #[streams(STREAMS)] let step: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let join: Join = Join::new(noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.x >> step.image;
        source.y >> join.b;
        step.out >> join.a;
        join.out >> sink.image;
    }
}

fn unequal(platform: &Platform, sends: Sends) -> Result<usize, Failed> {
    let images = same_if_planned(|streams, got| {
        run_ticks!(Unequal::new(platform, streams, sends, Noted::default(), got)?, "y → b")
    })?;
    Ok(images.len())
}

fn sends_one(platform: &Platform) -> Result<(), Failed> {
    check_equal(unequal(platform, Sends::One)?, TICKS as usize - 1)
}

fn sends_apart(platform: &Platform) -> Result<(), Failed> {
    check_equal(unequal(platform, Sends::Apart)?, TICKS as usize)
}

/// An operator that waits for `go`, so that the edge to `b` drops images meanwhile.
#[operator]
struct LateJoin {
    #[input]
    go: u32,
    #[input]
    a: &Tensor<u32>,
    #[input]
    b: &Tensor<u32>,
    got: Got,
}

impl Compute for LateJoin {
    fn compute(&mut self, io: LateJoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = io.go.receive().into_data();
        let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
        let a = cx.download(a, &stream)?.wait_blocking()?.to_vec();
        let b = cx.download(b, &stream)?.wait_blocking()?.to_vec();
        seen::push_seen(&self.got, ("a".into(), a));
        seen::push_seen(&self.got, ("b".into(), b));
        Ok(())
    }
}

graph! {
    struct Dropping(noted: Noted, got: Got) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();
        #[when(count(2 * TICKS))] let go: Go = Go::new();
        #[streams(STREAMS)] #[when(count(2 * TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let step: Step = Step::new(1, noted);
        #[streams(STREAMS)] let join: LateJoin = LateJoin::new(got);
        go.go >> join.go;
        source.image >> step.image;
        #[policy(pop)] source.image >> join.b;
        step.out >> join.a;
    }
}

/// `join` receives the result of `step` for one image together with a later image, for which the stream of `step`
/// has not waited.
fn drops(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let got = Got::default();
    let mut graph = Dropping::new(&platform, Noted::default(), got.clone())?;
    graph.workers(Workers::none())?;
    for _ in 0..2 * TICKS {
        graph.tick()?;
    }
    let _left_over = graph.end_run();
    let waits =
        recorder.calls().iter().filter(|call| matches!(call, Call::WaitEvent { .. })).count();
    check(seen::all(&got).len() >= 4 && waits >= 4, || format!("{waits} waits"))
}
