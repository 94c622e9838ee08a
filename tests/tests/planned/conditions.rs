//! The conditions under which an operator follows another one on its stream. Without each of them, a test here
//! would find two operators on one stream.

use streamflow::prelude::*;
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("operators_with_a_larger_queue_between_them_share_no_stream", capacity)
        .both("operators_with_a_policy_between_them_share_no_stream", policies)
        .both("an_optional_input_does_not_follow", optional)
        .both("a_feedback_edge_does_not_follow", feedback)
        .both("host_data_does_not_follow", host_data)
        .both("operators_of_different_workers_share_no_stream", workers)
        .both("an_input_with_several_producers_follows_each", many)
}

const TICKS: u64 = 4;

graph! {
    struct Larger(streams: CudaStreamPool, capacity: usize, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        #[capacity(capacity)] a.out >> sink.image;
    }
}

fn capacity(platform: &Platform) -> Result<(), Failed> {
    for (capacity, shared) in [(1, true), (2, false)] {
        let noted = Noted::default();
        Larger::new(platform, planned(1), capacity, noted.clone(), Got::default())?.run()?;
        check_equal(share(&noted, "a", "sink"), shared)?;
    }
    Ok(())
}

graph! {
    struct WithPolicies(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let pop: Sink = Sink::new(noted.clone(), got.clone());
        #[streams(STREAMS)] let reject: Sink = Sink::new(noted.clone(), got.clone());
        #[streams(STREAMS)] let fault: Sink = Sink::new(noted, got);
        source.image >> a.image;
        #[policy(pop)] a.out >> pop.image;
        #[policy(reject)] a.out >> reject.image;
        #[policy(fault)] a.out >> fault.image;
    }
}

fn policies(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    // The order of the nodes is fixed, so that no message is rejected.
    let graph = WithPolicies::new(platform, planned(1), noted.clone(), Got::default())?;
    greedy(graph)?.run()?;
    let nodes = ["pop", "reject", "fault"];
    let shared: Vec<_> = nodes.into_iter().filter(|node| share(&noted, "a", node)).collect();
    check(shared.is_empty(), || format!("{shared:?}"))?;
    check_equal(used(&noted, 0), 4)
}

/// An operator that needs no image.
#[operator]
struct Maybe {
    #[input(optional)]
    image: &Tensor<u32>,
    noted: Noted,
}

impl Compute for Maybe {
    fn compute(&mut self, io: MaybeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        Ok(())
    }
}

graph! {
    struct Optional(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let b: Maybe = Maybe::new(noted);
        source.image >> a.image;
        a.out >> b.image;
    }
}

fn optional(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    Optional::new(platform, planned(1), noted.clone())?.run()?;
    check(!share(&noted, "a", "b"), || format!("{:?}", seen::all(&noted)))
}

/// Returns the first message of a feedback edge.
fn zeros(platform: &Platform) -> Result<Tensor<u32>> {
    let stream = platform.stream_pool("FIRST", &CudaStreamPool::new())?.allocate("zeros")?;
    let mut image = platform.tensor([LEN], &stream)?;
    stream.fill_bytes(&mut image, 0)?;
    Ok(image)
}

graph! {
    /// A graph in which `d` receives the message that `a` sent in the tick before, and `b` the message that `a` sends
    /// in this tick.
    struct Feedback(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let d: Step = Step::new(2, noted.clone());
        source.image >> a.image;
        #[feedback(initial = zeros(platform)?)] a.out >> d.image;
        d.out >> _;
    }
}

fn feedback(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    let mut graph = Feedback::new(platform, planned(1), noted.clone())?;
    for _ in 0..3 {
        graph.tick()?;
    }
    graph.end_run()?;
    let (a, d) = (streams_of(&noted, "a"), streams_of(&noted, "d"));
    check(a[0] != d[0], || format!("{a:?} {d:?}"))
}

/// An operator that reads an image, and sends a number at once.
#[operator]
struct Count {
    #[input]
    image: &Tensor<u32>,
    #[output]
    number: u32,
    noted: Noted,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        io.number.emit(cx.tick() as u32)
    }
}

/// An operator that needs the number, and not the work that the number's producer has queued.
#[operator]
struct Numbered {
    #[input]
    number: u32,
    #[input]
    image: &Tensor<u32>,
    noted: Noted,
}

impl Compute for Numbered {
    fn compute(&mut self, io: NumberedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = io.number.receive().into_data();
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        Ok(())
    }
}

graph! {
    struct OnHost(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Count = Count::new(noted.clone());
        #[streams(STREAMS)] let b: Numbered = Numbered::new(noted);
        source.image >> (a.image, b.image);
        a.number >> b.number;
    }
}

fn host_data(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    OnHost::new(platform, planned(1), noted.clone())?.run()?;
    check(!share(&noted, "a", "b"), || format!("{:?}", seen::all(&noted)))
}

graph! {
    struct OnWorkers(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] #[worker(one)] let b: Step = Step::new(2, noted.clone());
        #[streams(STREAMS)] #[worker(two)] let c: Step = Step::new(3, noted.clone());
        #[streams(STREAMS)] #[worker(two)] let d: Step = Step::new(4, noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        a.out >> b.image;
        b.out >> c.image;
        c.out >> d.image;
        d.out >> sink.image;
    }
}

fn workers(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    OnWorkers::new(platform, planned(1), noted.clone(), Got::default())?.run()?;
    check_equal(used(&noted, 0), 3)?;
    check(share(&noted, "c", "d") && share(&noted, "a", "sink"), || "one worker".into())
}

/// An operator that receives an image of each producer.
#[operator]
struct Several {
    #[input(many)]
    images: &Tensor<u32>,
    noted: Noted,
}

impl Compute for Several {
    fn compute(&mut self, io: SeveralIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.images.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        Ok(())
    }
}

graph! {
    struct ManyProducers(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let b: Step = Step::new(2, noted.clone());
        #[streams(STREAMS)] let all: Several = Several::new(noted);
        source.image >> (a.image, b.image);
        a.out >> all.images;
        b.out >> all.images;
    }
}

fn many(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    ManyProducers::new(platform, planned(1), noted.clone())?.run()?;
    check_equal(used(&noted, 0), 2)
}
