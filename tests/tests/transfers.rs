//! `#[transfer]`: edges from one device to another copy in the right order. Each ordering has a control without one
//! kind of waits. The control's data must be wrong.

mod bound_device;
mod leaves;
pub(crate) mod operators;

use std::sync::Arc;

use streamflow::driver::Recorder;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow_driver::driver::{Call, CopyKind};
use streamflow_tests::kernels::{fill, slow_copy, slow_fill};
use streamflow_tests::layers::{Bound, CallKind, FailNth};
use streamflow_tests::ordered::{Drops, Program, platform, right, without};
use streamflow_tests::stereo::Show;
use streamflow_tests::tensors::{LEN, SLOW};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

use leaves::Leaves;
use operators::{AddOne, SlowSource};

/// How many of a control's 100 seeds must show the missing edge.
const MUST_SHOW: usize = 15;

pub(crate) fn suite() -> Suite {
    let suite = Suite::new()
        .devices("a_transfer_waits_for_a_slow_producer", 2, |on| right(slow_producer, on))
        .devices("the_producer_reuses_its_memory_after_the_copy", 2, |on| right(reuse, on))
        .devices("data_is_transferred_there_changed_in_place_and_transferred_back", 2, |on| {
            right(there_and_back, on)
        })
        .devices("a_struct_with_host_data_is_transferred", 2, |on| right(pairs, on))
        .devices("copy_between_devices_orders_both_sides", 2, |on| right(by_hand, on))
        .devices("each_record_and_copy_has_its_own_device_bound", 2, bound)
        .devices(
            "a_hook_continues_with_its_own_device_after_a_transfer",
            2,
            bound_device::bound_after_send,
        )
        .seeded("a_transfer_is_one_peer_copy", one_copy)
        .seeded("the_end_of_a_run_waits_for_unreceived_copies", unreceived)
        .seeded("a_warm_transfer_makes_no_stream_event_or_memory", warm);
    CONTROLS.iter().fold(suite, |suite, &(name, program, drops)| {
        suite.control_on(name, 2, MUST_SHOW, move |driver| without(program, driver, drops))
    })
}

const CONTROLS: &[(&str, Program, Drops)] = &[
    ("control_the_copy_does_not_wait_for_the_producer", slow_producer, |stream, event| {
        stream.device() == device(1) && event.device() == device(0)
    }),
    ("control_the_consumer_does_not_wait_for_the_copy", slow_producer, |stream, event| {
        stream.device() == device(1) && event.device() == device(1)
    }),
    ("control_the_producer_does_not_wait_for_the_copy", reuse, |stream, event| {
        stream.device() == device(0) && event.device() == device(1)
    }),
];

graph! {
    /// A slow producer on device 0, a reader there, and one on device 1.
    struct SlowProducer(count: u64) {
        const NEAR: CudaStreamPool = CudaStreamPool::new().max_size(2);
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(1);

        #[streams(NEAR)] #[when(count(count))]
        let source: SlowSource = SlowSource::new();
        // The host waits for the copy before it waits for the producer.
        #[streams(FAR)]
        let there: Show = Show::new(Vec::new());
        #[streams(NEAR)]
        let here: Show = Show::new(Vec::new());

        #[transfer]
        source.image >> there.image;
        source.image >> here.image;
    }
}

fn received(show: &Show, first: f32) -> bool {
    let seen: Vec<f32> = show.seen().iter().map(|(value, _)| *value).collect();
    seen == [first, first + 1.0, first + 2.0]
}

fn slow_producer(platform: &Platform) -> Result<bool> {
    let mut graph = SlowProducer::new(platform, 3)?;
    graph.run()?;
    Ok(received(graph.there(), 1.0) && received(graph.here(), 1.0))
}

graph! {
    /// The sent image is dropped at once, and the next tick writes its memory again on the same stream.
    struct Reuse(len: usize, count: u64) {
        const NEAR: CudaStreamPool = CudaStreamPool::new().max_size(1);
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(1);

        #[streams(NEAR)] #[when(count(count))]
        let source: QuickSource = QuickSource::new(len);
        #[streams(FAR)]
        let late: Late = Late::new(Vec::new());

        #[transfer]
        source.image >> late.image;
    }
}

/// Like `SlowSource`, with a fast kernel.
#[operator(streams(work))]
struct QuickSource {
    #[output]
    image: Tensor<f32>,
    len: usize,
}

impl Compute for QuickSource {
    fn compute(&mut self, io: QuickSourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([self.len], &stream)?;
        stream.launch::<fill>(image.len(), (&mut image, cx.tick() as f32 + 1.0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Keeps the images that it receives. The images are read after the run, since allocating pinned memory takes longer
/// than a copy.
#[operator]
struct Late {
    #[input]
    image: Shared<Tensor<f32>>,
    kept: Vec<Shared<Tensor<f32>>>,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.kept.push(io.image.receive().receive_cuda_stream(cx)?.0);
        Ok(())
    }
}

fn reuse(platform: &Platform) -> Result<bool> {
    // Large on GPUs, so that the copy takes longer than the next fill.
    let len = if platform.name() == "host" { LEN } else { 64 * 1024 * 1024 };
    let mut graph = Reuse::new(platform, len, 3)?;
    graph.run()?;
    let mut right = graph.late().kept.len() == 3;
    let far = platform.default_stream(device(1))?;
    for (tick, image) in graph.late().kept.iter().enumerate() {
        let expected = tick as f32 + 1.0;
        let values = far.download_blocking(image)?;
        right &= values.iter().all(|&value| value == expected);
    }
    Ok(right)
}

graph! {
    /// Transfers an image to the other device, changes it in place and transfers it back. The original has a reader, too.
    struct ThereAndBack(count: u64) {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        #[streams(NEAR)] #[when(count(count))]
        let source: SlowSource = SlowSource::new();
        #[streams(FAR)]
        let there: AddOne = AddOne::new();
        let back: AddOne = AddOne::new();
        #[streams(NEAR)] #[when(stream_done(image))]
        let result: Show = Show::new(Vec::new());
        #[streams(none)]
        let original: Show = Show::new(Vec::new());

        source.image >> original.image;
        #[transfer]
        source.image >> there.image;
        #[transfer]
        there.sum >> back.image;
        back.sum >> result.image;
    }
}

fn there_and_back(platform: &Platform) -> Result<bool, Failed> {
    let mut graph = ThereAndBack::new(platform, 3)?;
    graph.run()?;
    check(ThereAndBack::diagram().mermaid().contains("(transfer)"), || {
        ThereAndBack::diagram().mermaid()
    })?;
    Ok(received(graph.result(), 3.0) && received(graph.original(), 1.0))
}

/// A message with several tensors and host data. One field is itself a message struct.
#[derive(Message)]
struct Pair {
    left: Tensor<f32>,
    rest: Rest,
    label: HostData<&'static str>,
}

#[derive(Message)]
struct Rest {
    parts: Vec<Buffer<f32>>,
    number: u64,
}

#[operator(streams(work))]
struct PairSource {
    #[output]
    pair: Pair,
}

impl Compute for PairSource {
    fn compute(&mut self, io: PairSourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut left = cx.tensor([3, LEN], &stream)?;
        stream.launch::<slow_fill>(left.len(), (&mut left, 1.0, SLOW))?;
        let mut parts = vec![cx.buffer(LEN, &stream)?, cx.buffer(2 * LEN, &stream)?];
        for (number, part) in parts.iter_mut().enumerate() {
            stream.launch::<slow_fill>(part.len(), (part, number as f32 + 2.0, SLOW))?;
        }
        let rest = Rest { parts, number: 7 };
        let pair = Pair { left, rest, label: HostData("a pair") };
        io.pair.set_cuda_stream(&stream).emit(pair)
    }
}

#[operator]
struct PairSink {
    #[input]
    pair: Pair,
    right: bool,
}

impl Compute for PairSink {
    fn compute(&mut self, io: PairSinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (pair, stream) = io.pair.receive().receive_cuda_stream(cx)?;
        let holds = |data: &DeviceSlice<f32>, value: f32| -> Result<bool> {
            Ok(stream.download_blocking(data)?.iter().all(|&found| found == value))
        };
        let [first, second] = &pair.rest.parts[..] else {
            return Err(Failure::msg("two parts"));
        };
        self.right = holds(first, 2.0)?
            && holds(second, 3.0)?
            && holds(&pair.left, 1.0)?
            && pair.left.shape() == [3, LEN]
            && (pair.rest.number, pair.label.0) == (7, "a pair");
        Ok(())
    }
}

graph! {
    struct Pairs {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(1);

        #[when(count(1))]
        let source: PairSource = PairSource::new();
        #[streams(FAR)]
        let sink: PairSink = PairSink::new(false);

        #[transfer]
        source.pair >> sink.pair;
    }
}

fn pairs(platform: &Platform) -> Result<bool, Failed> {
    let mut graph = Pairs::new(platform)?;
    graph.run()?;
    Ok(graph.sink().right)
}

/// Makes the copy of a `#[transfer]` edge without a graph. Later uses on both devices must come after it.
fn by_hand(platform: &Platform) -> Result<bool, Failed> {
    let pool = |index| {
        platform.stream_pool("HAND", &CudaStreamPool::new().device(device(index)).max_size(1))
    };
    let (near, far) = (pool(0)?.allocate("near")?, pool(1)?.allocate("far")?);
    let mut source = platform.buffer(LEN, &near)?;
    let mut target = platform.buffer(LEN, &far)?;
    let mut copy = platform.buffer(LEN, &far)?;
    near.launch::<slow_fill>(LEN, (&mut source, 7.0, SLOW))?;
    far.copy_peer(&source, &mut target)?;
    // The next write of the source and the reads of the target come after the copy.
    near.launch::<fill>(LEN, (&mut source, 9.0))?;
    far.launch::<slow_copy>(LEN, (&mut copy, &target, 0))?;
    let refused = far.copy(&source, &mut target);
    check(matches!(refused, Err(Error::WrongDevice { .. })), || format!("{refused:?}"))?;
    let refused = near.copy_peer(&source, &mut target);
    check(matches!(refused, Err(Error::WrongDevice { .. })), || format!("{refused:?}"))?;
    let seen = far.download_blocking(&copy)?;
    Ok(seen.iter().all(|&value| value == 7.0) && near.download_blocking(&source)?[0] == 9.0)
}

/// Checks that every event is recorded, and every copy queued, while its own device is bound. Holoscan records an event
/// of one device on a stream of another, and ignores the failure.
fn bound(on: &Platform) -> Result<(), Failed> {
    let platform = platform(Arc::new(Bound::new(on.driver().clone())))?;
    let right = slow_producer(&platform)?
        & there_and_back(&platform)?
        & by_hand(&platform)?
        & default_streams(&platform)?;
    check(right, || "the data is wrong".into())
}

/// The handles of two default streams are equal: only the bound device distinguishes them.
fn default_streams(platform: &Platform) -> Result<bool, Failed> {
    let (near, far) = (platform.default_stream(device(0))?, platform.default_stream(device(1))?);
    let mut source = platform.buffer(LEN, &near)?;
    let mut target = platform.buffer(LEN, &far)?;
    near.launch::<slow_fill>(LEN, (&mut source, 7.0, SLOW))?;
    far.copy_peer(&source, &mut target)?;
    near.launch::<fill>(LEN, (&mut source, 9.0))?;
    Ok(far.download_blocking(&target)?.iter().all(|&value| value == 7.0))
}

fn recorded(seed: u64) -> Result<(Arc<Recorder>, Platform), Failed> {
    let driver = Replaying::new(HostDriver::builder().devices(2).seed(seed).build());
    let recorder = Arc::new(Recorder::new(Arc::new(driver)));
    let platform = platform(recorder.clone())?;
    Ok((recorder, platform))
}

fn one_copy(seed: u64) -> Result<(), Failed> {
    let (recorder, platform) = recorded(seed)?;
    let mut graph = SlowProducer::new(&platform, 3)?;
    graph.run()?;
    let (from, to) = (device(0), device(1));
    let copies = recorder.count(
        |call| matches!(call, Call::Copy { kind, .. } if *kind == CopyKind::Peer { from, to }),
    );
    check(copies == 3, || format!("{copies} peer copies in 3 ticks"))
}

/// Checks that an edge between devices makes no stream, event or memory after the first ticks.
fn warm(seed: u64) -> Result<(), Failed> {
    let (recorder, platform) = recorded(seed)?;
    let mut graph = SlowProducer::new(&platform, 20)?;
    graph.run()?;
    recorder.clear();
    graph.run()?;
    let made = recorder.calls().into_iter().filter(Call::changes_resources).collect::<Vec<_>>();
    check(made.is_empty(), || format!("{made:?}"))
}

graph! {
    struct Unreceived {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).max_size(1);

        #[when(count(1))]
        let source: QuickSource = QuickSource::new(LEN);
        // By its count, so that the message that it leaves is dropped.
        #[streams(FAR)] #[when(count(1))]
        let leaves: Leaves = Leaves::new();

        #[transfer]
        source.image >> leaves.image;
    }
}

/// At the end of a run the runtime queries the device for errors on the source's stream, and then on the edge's stream.
/// Nothing else queries that stream.
fn unreceived(seed: u64) -> Result<(), Failed> {
    let host = HostDriver::builder().devices(2).seed(seed).build();
    let driver = Arc::new(Replaying::new(host));
    let failing = FailNth::new(driver, CallKind::SynchronizeStream, 1);
    let run = Unreceived::new(&platform(Arc::new(failing))?)?.run();
    let text = check_error("run", run, |error| matches!(error, Error::Operator { .. }))?;
    check_text(&text, &["`source` failed in `synchronize`", "INJECTED", "on device 1"])
}
