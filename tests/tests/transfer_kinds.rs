//! `#[transfer]` together with other options of edges and nodes: an adopting node, default streams, a policy that
//! drops, and feedback. The data must be right, and each driver call that needs its device bound to the calling
//! thread must have it bound.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};
use streamflow_tests::layers::Bound;
use streamflow_tests::ordered::platform;
use streamflow_tests::seen::{self, Seen, push_seen};
use streamflow_tests::stereo::Show;
use streamflow_tests::tensors::{LEN, SLOW, Tx, holds};
use streamflow_tests::{Failed, Suite, check};

use super::transfers::operators::{AddOne, SlowSource};

type Program = fn(&Platform) -> Result<bool>;

const PROGRAMS: &[(&str, Program)] = &[
    ("an_adopting_node_can_transfer", adopting_node),
    ("default_streams_can_transfer", transfer_between_default_streams),
    ("transferred_messages_can_be_dropped_by_a_policy", messages_dropped_by_a_policy),
    ("a_feedback_edge_can_transfer", transfer_on_a_feedback_edge),
];

pub(crate) fn suite() -> Suite {
    let add = |suite: Suite, &(name, program): &(&str, Program)| {
        suite.devices(name, 2, move |on| data_is_right(on, program))
    };
    PROGRAMS.iter().fold(Suite::new(), add)
}

/// Checks the data of a program in which one freed block may be in flight: the next allocation of its size takes
/// the block, and must wait for the block's work.
fn data_is_right(on: &Platform, program: Program) -> Result<(), Failed> {
    let driver = Arc::new(Bound::new(on.driver().clone()));
    check(program(&platform(driver)?)?, || "the data is wrong".into())
}

graph! {
    /// A graph with an adopting node, by `#[streams(none)]`, that works on the device of its messages: device 1.
    struct AdoptingNode(count: u64) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        #[streams(FAR)] #[when(count(count))]
        let source: SlowSource = SlowSource::new();
        #[streams(none)]
        let far: AddOne = AddOne::new();
        let near: AddOne = AddOne::new();
        let result: Show = Show::new(Vec::new());

        source.image >> far.image;
        #[transfer]
        far.sum >> near.image;
        near.sum >> result.image;
    }
}

fn adopting_node(platform: &Platform) -> Result<bool> {
    let mut graph = AdoptingNode::new(platform, 3)?;
    graph.run()?;
    let seen: Vec<f32> = graph.result().seen().iter().map(|(value, _)| *value).collect();
    Ok(seen == [3.0, 4.0, 5.0])
}

graph! {
    /// A graph that sends from one device's default stream to work on the other device's default stream.
    struct DefaultStreams(seen: Seen<bool>) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        #[when(count(3))]
        // The values are 1.0 plus the tick. With `false`, the source works on the default stream.
        let source: Tx = Tx::new(1.0, false, SLOW);
        #[streams(FAR)]
        let there: OnDefault = OnDefault::new();
        let back: ChecksValues = ChecksValues::new(2.0, seen);

        #[transfer]
        source.image >> there.image;
        #[transfer]
        there.sum >> back.image;
    }
}

/// An operator that adds one in place on the default stream.
#[operator]
struct OnDefault {
    #[input]
    image: Tensor<f32>,
    #[output]
    sum: Tensor<f32>,
}

impl Compute for OnDefault {
    fn compute(&mut self, io: OnDefaultIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, _) = io.image.receive().receive_cuda_stream(cx)?;
        let stream = cx.default_stream()?;
        stream.launch::<add_one>(image.len(), (&mut image,))?;
        io.sum.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that checks that all elements are `first` plus the tick.
#[operator]
struct ChecksValues {
    #[input]
    image: &Tensor<f32>,
    first: f32,
    seen: Seen<bool>,
}

impl Compute for ChecksValues {
    fn compute(&mut self, io: ChecksValuesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        push_seen(&self.seen, holds(cx, image, &stream, self.first + cx.tick() as f32)?);
        Ok(())
    }
}

fn transfer_between_default_streams(platform: &Platform) -> Result<bool> {
    let seen = Seen::default();
    DefaultStreams::new(platform, seen.clone())?.run()?;
    Ok(seen::all(&seen) == [true; 3])
}

/// An operator that receives every third message, and reads it slowly.
#[operator]
struct EveryThird {
    #[input]
    image: &Tensor<f32>,
    copies: Vec<Download<f32>>,
}

impl Compute for EveryThird {
    fn compute(&mut self, io: EveryThirdIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() % 3 < 2 {
            io.image.leave();
            return Ok(());
        }
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut copy, image, SLOW / 4))?;
        self.copies.push(cx.download(&copy, &stream)?);
        Ok(())
    }
}

graph! {
    /// A graph in which copies that were not received are dropped, perhaps while they are being written.
    struct DroppedByPolicy {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(1);

        #[when(count(9))]
        let source: SlowSource = SlowSource::new();
        #[streams(FAR)]
        let every_third: EveryThird = EveryThird::new(Vec::new());

        #[transfer] #[policy(pop)]
        source.image >> every_third.image;
    }
}

fn messages_dropped_by_a_policy(platform: &Platform) -> Result<bool> {
    // The greedy scheduler is used, since the order of the ticks decides which messages the policy drops.
    let mut graph = greedy(DroppedByPolicy::new(platform)?)?;
    graph.run()?;
    let copies = &graph.every_third().copies;
    let mut right = copies.len() == 3;
    for (copy, expected) in copies.iter().zip([3.0, 6.0, 9.0]) {
        right &= copy.wait_blocking()?.iter().all(|&value| value == expected);
    }
    Ok(right)
}

graph! {
    /// A graph in which an image travels in a circle between two devices.
    struct Around(first: Tensor<f32>, seen: Seen<bool>) {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(1);

        let near: AddsAndFinishes = AddsAndFinishes::new(seen);
        #[streams(FAR)]
        let far: AddOne = AddOne::new();

        #[transfer]
        near.image >> far.image;
        #[transfer] #[feedback(initial = first)]
        far.sum >> near.before;
    }
}

/// An operator that adds one to its image in place, checks the image, and sends it on. It ends the graph after
/// five ticks.
#[operator]
struct AddsAndFinishes {
    #[input]
    before: Tensor<f32>,
    #[output]
    image: Tensor<f32>,
    seen: Seen<bool>,
}

impl Compute for AddsAndFinishes {
    fn compute(&mut self, io: AddsAndFinishesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.before.receive().receive_cuda_stream(cx)?;
        stream.launch::<add_one>(image.len(), (&mut image,))?;
        push_seen(&self.seen, holds(cx, &image, &stream, 2.0 * cx.tick() as f32 + 1.0)?);
        if cx.tick() == 4 {
            cx.finish();
        }
        io.image.emit(image)
    }
}

fn transfer_on_a_feedback_edge(platform: &Platform) -> Result<bool> {
    let pool = platform.stream_pool("FIRST", &CudaStreamPool::new())?;
    let stream = pool.allocate("first")?;
    let mut first = platform.tensor([LEN], &stream)?;
    stream.launch::<slow_fill>(LEN, (&mut first, 0.0, SLOW))?;
    let seen = Seen::default();
    Around::new(platform, first, seen.clone())?.run()?;
    Ok(seen::all(&seen) == [true; 5])
}
