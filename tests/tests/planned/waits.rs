//! Law 17: waits that a plan expects other waits to imply. In each graph here `join` receives an image, and the
//! image that `step` has made of it, so a wait for `step` covers the source's work. If a condition of the plan is
//! left out, the case that is named after it has another picture. A recorder counts the waits where the plan says
//! that one is implied.

use std::sync::Arc;

use streamflow::driver::Recorder;
use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_driver::driver::Call;
use streamflow_tests::forms::Form;
use streamflow_tests::kernels::mixing::make;
use streamflow_tests::seen::{self, Seen, push_seen};
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .except(Form::Replayed, "a replayed wait is not made in its hook", |suite| {
            suite.both("a_wait_that_another_input_covers_is_implied", implied)
        })
        .both("an_edge_with_a_condition_of_its_own_implies_nothing", not_implied)
        .devices("a_copy_to_another_device_implies_nothing", 2, transfers)
}

const TICKS: u64 = 6;

graph! {
    pub(crate) struct Skip(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let step: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let join: Join = Join::new(noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> (step.image, join.b);
        step.out >> join.a;
        join.out >> sink.image;
    }
}

/// Returns the label of the edge from the source to `join` in the graph's picture.
pub(crate) fn skipping(graph: &mut impl Graph, input: &str) -> Result<String, Failed> {
    let picture = graph.plan()?.mermaid();
    let edge = picture.lines().find(|line| line.contains(&format!("image → {input}")));
    let label = edge.and_then(|line| line.split('"').nth(1));
    label.map(str::to_owned).ok_or_else(|| Failed::msg(picture))
}

/// An operator that receives both images, and counts the waits that the driver gets for each.
#[operator]
struct Counting {
    #[input]
    a: &Tensor<u32>,
    #[input]
    b: &Tensor<u32>,
    recorder: Arc<Recorder>,
    waits: Seen<[usize; 2]>,
}

impl Counting {
    fn count(&self) -> usize {
        let calls = self.recorder.calls();
        calls.iter().filter(|call| matches!(call, Call::WaitEvent { .. })).count()
    }
}

impl Compute for Counting {
    fn compute(&mut self, io: CountingIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let before = self.count();
        io.a.receive().receive_cuda_stream(cx)?;
        let between = self.count();
        io.b.receive().receive_cuda_stream(cx)?;
        push_seen(&self.waits, [between - before, self.count() - between]);
        Ok(())
    }
}

graph! {
    struct Counted(
        streams: CudaStreamPool, recorder: Arc<Recorder>, noted: Noted, waits: Seen<[usize; 2]>,
    ) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let step: Step = Step::new(1, noted);
        #[streams(STREAMS)] let join: Counting = Counting::new(recorder, waits);
        source.image >> (step.image, join.b);
        step.out >> join.a;
    }
}

/// Checks that the claims skip the wait that, by the plan, another wait implies.
fn implied(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let made_by_a = [(per_operator(), 1), (planned(1), 0), (planned(2), 0)];
    for (streams, made_by_a) in made_by_a {
        let waits = Seen::default();
        let noted = Noted::default();
        let mut graph = Counted::new(&platform, streams, recorder.clone(), noted, waits.clone())?;
        check_equal(skipping(&mut graph, "b")?.as_str(), "image → b, implied by a")?;
        graph.workers(Workers::none())?.run()?;
        check_equal(seen::all(&waits), vec![[made_by_a, 0]; TICKS as usize])?;
    }
    Ok(())
}

/// An operator that receives the source's image if there is one.
#[operator]
struct MaybeJoin {
    #[input]
    a: &Tensor<u32>,
    #[input(optional)]
    b: &Tensor<u32>,
}

impl Compute for MaybeJoin {
    fn compute(&mut self, io: MaybeJoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.a.receive().receive_cuda_stream(cx)?;
        io.b.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

/// An operator that receives any number of images of sources.
#[operator]
struct ManyJoin {
    #[input]
    a: &Tensor<u32>,
    #[input(many)]
    b: &Tensor<u32>,
}

impl Compute for ManyJoin {
    fn compute(&mut self, io: ManyJoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.a.receive().receive_cuda_stream(cx)?;
        io.b.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

/// An operator that sends an image on one of two streams.
#[operator(streams(one, other))]
struct TwoStreams {
    #[output]
    image: Tensor<u32>,
}

impl Compute for TwoStreams {
    fn compute(&mut self, io: TwoStreamsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (one, other) = (cx.allocate_cuda_stream(io.one)?, cx.allocate_cuda_stream(io.other)?);
        let stream = if cx.tick().is_multiple_of(2) { one } else { other };
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<make>(LEN, (&mut image, cx.tick() as u32, 0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

fn zeros(platform: &Platform) -> Result<Tensor<u32>> {
    let stream = platform.stream_pool("FIRST", &CudaStreamPool::new())?.allocate("zeros")?;
    let mut image = platform.tensor([LEN], &stream)?;
    stream.fill_bytes(&mut image, 0)?;
    Ok(image)
}

/// Defines graphs like `Skip`, each with another consumer, another source, or another edge to the consumer.
macro_rules! skips {
    ($($name:ident, $source:ident, $join:ident, [$($attribute:tt)*];)*) => {$(
        graph! {
            struct $name(noted: Noted) {
                const STREAMS: CudaStreamPool = CudaStreamPool::new();
                #[streams(STREAMS)] #[when(count(TICKS))] let source: $source = $source::new();
                #[streams(STREAMS)] let step: Step = Step::new(1, noted.clone());
                #[streams(STREAMS)] let join: $join = $join::new();
                source.image >> step.image;
                $($attribute)* source.image >> join.b;
                step.out >> join.a;
            }
        }
    )*};
}

/// An operator that receives both images.
#[operator]
struct Both {
    #[input]
    a: &Tensor<u32>,
    #[input]
    b: &Tensor<u32>,
}

impl Compute for Both {
    fn compute(&mut self, io: BothIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.a.receive().receive_cuda_stream(cx)?;
        io.b.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

/// An operator that sends a number and an image.
#[operator(streams(work))]
struct Numbered {
    #[output]
    image: Tensor<u32>,
    #[output]
    number: u32,
}

impl Compute for Numbered {
    fn compute(&mut self, io: NumberedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<make>(LEN, (&mut image, cx.tick() as u32, 0))?;
        io.number.emit(1)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

skips! {
    Plain, Source, Both, [];
    Larger, Source, Both, [#[capacity(2)]];
    Pops, Source, Both, [#[policy(pop)]];
    Rejects, Source, Both, [#[policy(reject)]];
    Optional, Source, MaybeJoin, [];
    Many, Source, ManyJoin, [];
    OnTwoStreams, TwoStreams, Both, [];
}

graph! {
    /// A graph in which `join` receives the image of the tick before.
    struct Feedback(noted: Noted) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let step: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let join: Both = Both::new();
        source.image >> step.image;
        #[feedback(initial = zeros(platform)?)] source.image >> join.b;
        step.out >> join.a;
    }
}

graph! {
    /// A graph in which only the number leads to `join`, and no device data.
    struct OnHost() {
        #[when(count(TICKS))] let source: Numbered = Numbered::new();
        let join: NumberJoin = NumberJoin::new();
        source.image >> join.image;
        source.number >> join.number;
    }
}

/// An operator that receives an image and a number.
#[operator]
struct NumberJoin {
    #[input]
    image: &Tensor<u32>,
    #[input]
    number: u32,
}

impl Compute for NumberJoin {
    fn compute(&mut self, io: NumberJoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = io.number.receive().into_data();
        io.image.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

fn not_implied(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default;
    let labels = [
        skipping(&mut Plain::new(platform, noted())?, "b")?,
        skipping(&mut Larger::new(platform, noted())?, "b")?,
        skipping(&mut Pops::new(platform, noted())?, "b")?,
        skipping(&mut Rejects::new(platform, noted())?, "b")?,
        skipping(&mut Optional::new(platform, noted())?, "b")?,
        skipping(&mut Many::new(platform, noted())?, "b")?,
        skipping(&mut OnTwoStreams::new(platform, noted())?, "b")?,
        skipping(&mut Feedback::new(platform, noted())?, "b")?,
    ];
    check_equal(&*labels[0], "image → b, implied by a")?;
    for label in &labels[1..] {
        check_equal(&**label, "image → b, waits")?;
    }
    let mut on_host = OnHost::new(platform)?;
    let picture = on_host.plan()?.mermaid();
    check(picture.contains("\"number → number\""), || picture)?;
    Plain::new(platform, noted())?.run()?;
    Larger::new(platform, noted())?.run()?;
    Many::new(platform, noted())?.run()?;
    Optional::new(platform, noted())?.run()?;
    OnTwoStreams::new(platform, noted())?.run()?;
    on_host.run().map(drop)?;
    Ok(())
}

graph! {
    /// A graph whose copies between devices are on separate streams. These streams wait for the work that wrote the
    /// image, and not for all work before it.
    struct Transferring(noted: Noted) {
        const HERE: CudaStreamPool = CudaStreamPool::new();
        const THERE: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[streams(HERE)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(THERE)] let step: Step = Step::new(1, noted);
        #[streams(HERE)] let join: Both = Both::new();
        #[transfer] source.image >> step.image;
        source.image >> join.b;
        #[transfer] step.out >> join.a;
    }
}

fn transfers(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Transferring::new(platform, Noted::default())?;
    check_equal(skipping(&mut graph, "b")?.as_str(), "image → b, waits")?;
    graph.run().map(drop)?;
    Ok(())
}
