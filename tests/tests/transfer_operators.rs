//! The operators `Upload`, `Download` and `Deliver`: order, shapes, the number of ticks on their way, and wrong messages.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use streamflow::driver::{Driver, Recorder};
use streamflow::memory::PitchedTensor;
use streamflow::operators::{self, Deliver, Upload};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_driver::driver::{Call, CopyKind};
use streamflow_tests::forms::Form;
use streamflow_tests::layers::NotYet;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    let why = "the number of calls of `tick` is that of one thread, and `tick` replays nothing";
    Suite::new()
        .both("frames_come_back_in_order_with_their_shape", round_trip)
        .except(Form::Workers, why, |suite| {
            suite.except(Form::ReplayedAlways, why, |suite| {
                suite
                    .both("the_capacity_of_an_edge_is_the_number_of_copies_on_their_way", in_flight)
            })
        })
        .both("page_locked_memory_does_not_grow_with_the_ticks", bounded)
        .both("downloads_are_of_buffers_and_padded_tensors", other_messages)
        .both("without_the_condition_a_delivery_is_too_early", too_early)
        .both("uploads_have_any_length_and_any_slice", lengths)
        .both("an_upload_of_another_length_is_an_error_with_both", other_length)
        .both("an_error_of_a_delivery_is_that_of_the_tick", failing)
        .both("messages_of_the_host_are_delivered", of_host)
}

/// Returns the elements of the frame with a number: another one for each number.
fn frame(number: u64) -> Vec<f32> {
    Random::new(number + 1).floats(6)
}

/// A source of frames on the host.
#[operator]
struct Frames {
    #[output]
    frame: HostData<Vec<f32>>,
    len: usize,
}

impl Compute for Frames {
    fn compute(&mut self, io: FramesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.frame.emit(HostData(frame(cx.tick())[..self.len].to_vec()))
    }
}

#[kernel(map)]
fn negate(out: &mut f32, pixel: &f32) {
    *out = -*pixel;
}

/// Changes the signs.
#[operator(map = negate)]
struct Negate {
    #[input]
    image: &Tensor<f32>,
    #[output]
    negated: Tensor<f32>,
}

/// A frame that came back: its shape and its elements.
type Seen = (Vec<usize>, Vec<f32>);

macro_rules! round_trip {
    ($name:ident, $(#[$when:meta])?) => {
        graph! {
            struct $name(ticks: u64, copies: usize, seen: Sender<Seen>) {
                #[when(count(ticks))]
                let frames: Frames = Frames::new(6);
                let upload: Upload<f32> = Upload::with_shape([2, 3])?.in_flight(copies)?;
                let negate: Negate = Negate::new();
                let download: operators::Download<f32> = operators::Download::new();
                $(#[$when])?
                let deliver: Deliver<Download<f32>> = Deliver::new(move |image: &Download<f32>| {
                    let values = image.try_get()?.ok_or_else(|| Failure::msg("it would block"))?;
                    Ok(seen.send((image.shape().to_vec(), values.to_vec()))?)
                });
                frames.frame >> upload.data;
                upload.tensor >> negate.image;
                negate.negated >> download.tensor;
                #[capacity(3)]
                download.data >> deliver.message;
            }
        }
    };
}

round_trip!(RoundTrip, #[when(host_done(message))]);
round_trip!(WithoutCondition,);

fn check_seen(seen: &Receiver<Seen>, ticks: u64) -> Result<(), Failed> {
    let wanted = (0..ticks).map(|tick| (vec![2, 3], frame(tick).iter().map(|x| -x).collect()));
    check_equal(seen.try_iter().collect::<Vec<_>>(), wanted.collect())
}

fn round_trip(platform: &Platform) -> Result<(), Failed> {
    let (send, seen) = channel();
    let mut graph = RoundTrip::new(platform, 20, 2, send)?;
    graph.run()?;
    check_seen(&seen, 20)?;
    graph.run()?;
    check_seen(&seen, 20)
}

/// Lets no copy seem complete, and checks how far the nodes get without one, and that no call blocks the host. Then all frames arrive.
fn in_flight(platform: &Platform) -> Result<(), Failed> {
    let not_yet = Arc::new(NotYet::new(platform.driver().clone()));
    let recorder = Arc::new(Recorder::new(not_yet.clone() as Arc<dyn Driver>));
    let platform = Platform::builder().driver(recorder.clone())?;
    let (send, seen) = channel();
    let mut graph = RoundTrip::new(&platform, 20, 5, send)?;
    for _ in 0..30 {
        graph.tick()?;
    }
    let blocks = |call: &Call| {
        matches!(
            call,
            Call::SynchronizeStream { .. }
                | Call::SynchronizeEvent { .. }
                | Call::WaitForDevice { .. }
                | Call::FreePinned { .. }
        )
    };
    let blocking: Vec<Call> = recorder.calls().into_iter().filter(blocks).collect();
    check(blocking.is_empty(), || format!("{blocking:?}"))?;
    check_equal(seen.try_iter().count(), 0)?;
    // Three downloads wait at `deliver`, and each edge before it has one message.
    let queued = [CopyKind::PinnedToDevice, CopyKind::DeviceToPinned].map(|wanted| {
        let is_wanted = |call: &&Call| matches!(call, Call::Copy { kind, .. } if *kind == wanted);
        recorder.calls().iter().filter(is_wanted).count()
    });
    not_yet.for_next(0);
    graph.run()?;
    check_seen(&seen, 20)?;
    check_equal(queued, [5, 3])
}

graph! {
    /// Results that nobody awaits, so the host may be far ahead.
    struct Unawaited(copies: usize, grows: bool) {
        #[when(count(50))]
        let frames: VaryingLengths = VaryingLengths::new(grows);
        let upload: Upload<f32> = Upload::new().in_flight(copies)?;
        frames.frame >> upload.data;
        upload.tensor >> _;
    }
}

/// Sends frames of seven lengths in turn, or each frame longer than the one before it.
#[operator]
struct VaryingLengths {
    #[output]
    frame: HostData<Vec<f32>>,
    grows: bool,
}

impl Compute for VaryingLengths {
    fn compute(&mut self, io: VaryingLengthsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let len = if self.grows { 100 + cx.tick() } else { 100 - 10 * (cx.tick() % 7) };
        io.frame.emit(HostData(vec![0.5; len as usize]))
    }
}

/// Runs the graph with three copies in flight, none of which seems complete until the host waits for it. Returns the number of blocks
/// of page-locked memory that were made, and of waits. A wait completes all copies that are on their way.
fn unawaited(platform: &Platform, grows: bool) -> Result<(usize, usize), Failed> {
    let not_yet = Arc::new(NotYet::new(platform.driver().clone()));
    let recorder = Arc::new(Recorder::new(not_yet as Arc<dyn Driver>));
    let platform = Platform::builder().driver(recorder.clone())?;
    Unawaited::new(&platform, 3, grows)?.run()?;
    let calls = recorder.calls();
    let blocks = calls.iter().filter(|call| matches!(call, Call::AllocatePinned { .. })).count();
    let waits = calls.iter().filter(|call| matches!(call, Call::SynchronizeEvent { .. })).count();
    Ok((blocks, waits))
}

/// Checks that the page-locked memory does not grow with the ticks, if copies seem to take for ever, and that a longer frame does not take
/// the place of a copy that is on its way.
fn bounded(platform: &Platform) -> Result<(), Failed> {
    let (blocks, waits) = unawaited(platform, false)?;
    check(blocks <= 6, || format!("{blocks} blocks for 3 copies"))?;
    check(waits >= 47 / 3, || format!("{waits} waits of 50 ticks"))?;
    let (_, waits) = unawaited(platform, true)?;
    check(waits >= 47 / 3, || format!("{waits} waits of 50 ticks with longer frames"))?;
    let none = Upload::<f32>::new().in_flight(0).map(drop);
    let text = check_error("no copy in flight", none, |_| true)?;
    check_text(&text, &["`Upload`", "at least one"])
}

/// Runs the graph without the condition, in which a delivery comes too early.
fn too_early(platform: &Platform) -> Result<(), Failed> {
    let not_yet = Arc::new(NotYet::new(platform.driver().clone()));
    let platform = Platform::builder().driver(not_yet as Arc<dyn Driver>)?;
    let run = WithoutCondition::new(&platform, 20, 2, channel().0)?.run();
    let text = check_error("a copy that is not complete", run, |_| true)?;
    check_text(&text, &["`deliver`", "tick 0", "it would block"])
}

graph! {
    struct Lengths(seen: Sender<Seen>) {
        #[when(count(1))]
        let empty: Slices<[f32; 0]> = Slices::new([]);
        #[when(count(1))]
        let boxed: Slices<Box<[f32]>> = Slices::new(vec![1.5, 2.5].into());
        let upload_none: Upload<f32, [f32; 0]> = Upload::new();
        let upload_boxed: Upload<f32, Box<[f32]>> = Upload::new();
        let first: operators::Download<f32> = operators::Download::new();
        let second: operators::Download<f32> = operators::Download::new();
        let deliver: Deliver<Download<f32>> = Deliver::new(sent(seen.clone()));
        let other: Deliver<Download<f32>> = Deliver::new(sent(seen));
        empty.data >> upload_none.data;
        boxed.data >> upload_boxed.data;
        upload_none.tensor >> first.tensor;
        upload_boxed.tensor >> second.tensor;
        first.data >> deliver.message;
        second.data >> other.message;
    }
}

fn sent(seen: Sender<Seen>) -> impl FnMut(&Download<f32>) -> Result<()> + Send + 'static {
    move |data| Ok(seen.send((data.shape().to_vec(), data.wait_blocking()?.to_vec()))?)
}

/// Sends the same slice in each tick.
#[operator]
struct Slices<D: AsRef<[f32]> + Clone + Send + Sync + 'static> {
    #[output]
    data: HostData<D>,
    slice: D,
}

impl<D: AsRef<[f32]> + Clone + Send + Sync + 'static> Compute for Slices<D> {
    fn compute(&mut self, io: SlicesIo<'_, D>, _: &ExecutionContext) -> Result<()> {
        io.data.emit(HostData(self.slice.clone()))
    }
}

fn lengths(platform: &Platform) -> Result<(), Failed> {
    let (send, seen) = channel();
    Lengths::new(platform, send)?.run()?;
    let mut seen: Vec<Seen> = seen.try_iter().collect();
    seen.sort_by_key(|(shape, _)| shape[0]);
    check_equal(seen, vec![(vec![0], vec![]), (vec![2], vec![1.5, 2.5])])
}

graph! {
    struct OtherLength {
        #[when(count(1))]
        let frames: Frames = Frames::new(5);
        let upload: Upload<f32> = Upload::with_shape([2, 3])?;
        frames.frame >> upload.data;
        upload.tensor >> _;
    }
}

fn other_length(platform: &Platform) -> Result<(), Failed> {
    let run = OtherLength::new(platform)?.run();
    let text = check_error("five of six elements", run, |_| true)?;
    check_text(&text, &["`upload`", "[2, 3]", "6 elements", "`data` received 5"])?;
    let made = Upload::<f32>::with_shape([usize::MAX, 2]);
    check_error("too many elements", made.map(drop), |error| matches!(error, Error::Shape { .. }))
        .map(drop)
}

graph! {
    struct Failing(seen: Sender<u64>) {
        #[when(count(5))]
        let count: Count = Count::new();
        let deliver: Deliver<u64> = Deliver::new(move |number: &u64| {
            if *number == 3 {
                return Err(Failure::msg("the disk is full"));
            }
            Ok(seen.send(*number)?)
        });
        count.number >> deliver.message;
    }
}

/// Counts its ticks.
#[operator]
struct Count {
    #[output]
    number: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

fn failing(platform: &Platform) -> Result<(), Failed> {
    let (send, seen) = channel();
    let text = check_error("a full disk", Failing::new(platform, send)?.run(), |_| true)?;
    check_text(&text, &["`deliver`", "tick 3", "the disk is full"])?;
    check_equal(seen.try_iter().collect::<Vec<_>>(), vec![0, 1, 2])
}

fn of_host(platform: &Platform) -> Result<(), Failed> {
    let (send, seen) = channel();
    let deliver = Deliver::new(move |text: &HostData<String>| Ok(send.send(text.len())?));
    let mut harness = OperatorHarness::new(platform, deliver)?;
    for text in ["one", "three"] {
        harness.push(|ports| &mut ports.message, HostData(text.to_owned()))?;
        check_equal(harness.tick()?, true)?;
    }
    harness.stop()?;
    check_equal(seen.try_iter().collect::<Vec<_>>(), vec![3, 5])
}

/// Sends a buffer and a tensor with padded rows.
#[operator(streams(fill))]
struct Padded {
    #[output]
    buffer: Buffer<f32>,
    #[output]
    padded: PitchedTensor<f32>,
}

impl Compute for Padded {
    fn compute(&mut self, io: PaddedIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let image = cx.upload(&frame(cx.tick()))?.reshape([2, 3])?;
        let mut buffer = cx.buffer(6, &stream)?;
        stream.copy(&image, &mut buffer)?;
        let mut padded = cx.pitched_tensor([2, 3], &stream)?;
        stream.copy(&image, &mut padded)?;
        io.buffer.set_cuda_stream(&stream).emit(buffer)?;
        io.padded.set_cuda_stream(&stream).emit(padded)
    }
}

graph! {
    struct Others(buffers: Sender<Seen>, padded: Sender<Seen>) {
        #[when(count(3))]
        let source: Padded = Padded::new();
        let first: operators::Download<f32, Buffer<f32>> = operators::Download::new();
        let second: operators::Download<f32, PitchedTensor<f32>> = operators::Download::new();
        let deliver: Deliver<Download<f32>> = Deliver::new(sent(buffers));
        let other: Deliver<Download<f32>> = Deliver::new(sent(padded));
        source.buffer >> first.tensor;
        source.padded >> second.tensor;
        first.data >> deliver.message;
        second.data >> other.message;
    }
}

fn other_messages(platform: &Platform) -> Result<(), Failed> {
    let ((buffers, of_buffers), (padded, of_padded)) = (channel(), channel());
    Others::new(platform, buffers, padded)?.run()?;
    let wanted = |shape: &[usize]| (0..3).map(|tick| (shape.to_vec(), frame(tick))).collect();
    check_equal(of_buffers.try_iter().collect::<Vec<_>>(), wanted(&[6]))?;
    check_equal(of_padded.try_iter().collect::<Vec<_>>(), wanted(&[2, 3]))
}
