//! Each use of a received stream comes after the message, also if it is no work on the message's data: the raw handle,
//! records, queries of the host, and messages that are sent on the stream.
//!
//! Unordered launches read the messages, so that only the received stream keeps the order. The control drops that
//! stream's waits.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::context::OnStream;
use streamflow::driver::{Driver, RawStream};
use streamflow::port::Many;
use streamflow::prelude::*;
use streamflow_tests::foreign::{self, ForeignStream};
use streamflow_tests::kernels::slow_copy;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::ordered;
use streamflow_tests::seen::{self, all, push_seen};
use streamflow_tests::tensors::{LEN, SLOW, SourceElsewhere, Tx};
use streamflow_tests::{Failed, Suite, check};

/// How an operator uses the stream that it has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    RawHandle,
    Record,
    TimingEvent,
    IsComplete,
    SynchronizeBlocking,
    SyncToDefault,
    SynchronizeStreams,
    OnStream,
    ExternalStream,
    Emission,
    WakeUp,
}

const USES: &[(&str, Use)] = &[
    ("work_on_the_raw_handle_comes_after_the_message", Use::RawHandle),
    ("a_record_comes_after_the_message", Use::Record),
    ("a_timing_event_comes_after_the_message", Use::TimingEvent),
    ("is_complete_comes_after_the_message", Use::IsComplete),
    ("synchronize_blocking_comes_after_the_message", Use::SynchronizeBlocking),
    ("sync_to_default_orders_the_default_stream_after_the_message", Use::SyncToDefault),
    ("synchronize_streams_orders_its_target_after_the_messages", Use::SynchronizeStreams),
    ("on_stream_with_an_earlier_handle_comes_after_the_message", Use::OnStream),
    ("an_external_stream_that_waits_for_a_record_comes_after_the_message", Use::ExternalStream),
    ("another_message_on_the_stream_comes_after_the_message", Use::Emission),
    ("a_wake_up_by_another_message_comes_after_the_message", Use::WakeUp),
];

const TICKS: u64 = 4;

/// How many of a control's 100 seeds must give wrong data.
const MUST_SHOW: usize = 15;

pub(super) fn add(suite: Suite) -> Suite {
    USES.iter().fold(suite, |suite, &(name, using)| {
        suite
            .both(name, move |on| {
                let platform = ordered::platform(on.driver().clone())?;
                let right = run(&platform, using, &Received::default())?;
                check(right, || "a use of the received stream came before the message".into())
            })
            .control_on(&format!("{name}_control"), 1, MUST_SHOW, move |driver| {
                without_its_waits(driver, using)
            })
    })
}

/// The received stream, which is set at the end of the first tick.
type Received = Arc<Mutex<Option<RawStream>>>;

/// The messages, kept for an operator that receives another message.
type Kept = Arc<Mutex<Vec<Shared<Tensor<f32>>>>>;

/// Returns whether the data is right when the waits of the received stream are dropped after the first tick.
fn without_its_waits(driver: Arc<dyn Driver>, using: Use) -> Result<bool, Failed> {
    let received = Received::default();
    let of = received.clone();
    let is_received = move |stream, _| *lock(&of) == Some(stream);
    let broken = Arc::new(DropWaits::when(driver, is_received));
    let memory = ordered::MEMORY;
    let builder = Platform::builder().memory(memory).race_check(false);
    let platform = builder.driver(broken.clone())?;
    let right = match run(&platform, using, &received) {
        Err(failure) if matches!(failure.downcast_ref(), Some(Error::Races(_))) => false,
        other => other?,
    };
    check(broken.dropped() > 0, || {
        "the received stream never waits: the control proves nothing".into()
    })?;
    Ok(right & platform.take_races().is_empty())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(platform: &Platform, using: Use, received: &Received) -> Result<bool> {
    let (seen, kept) = (seen::Seen::default(), Kept::default());
    let (shown, received) = (seen.clone(), received.clone());
    if using == Use::WakeUp {
        Woken::new(platform, using, seen, received, kept)?.run()?;
    } else {
        Used::new(platform, using, seen, received, kept)?.run()?;
    }
    Ok(all(&shown) == [true; TICKS as usize])
}

macro_rules! used {
    ($name:ident, $($when:tt)*) => {
        graph! {
            struct $name(using: Use, seen: seen::Seen<bool>, received: Received, kept: Kept) {
                const SOURCES: CudaStreamPool = CudaStreamPool::new().max_size(4);
                const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);
                #[streams(SOURCES)] #[when(count(TICKS))] let earlier: Tx = Tx::new(0.0, true, 0);
                #[streams(SOURCES)] #[when(count(TICKS))] let a: SourceElsewhere = SourceElsewhere::new(FIRST[0]);
                #[streams(SOURCES)] #[when(count(TICKS))] let b: Tx = Tx::new(FIRST[1], true, SLOW);
                #[streams(STREAMS)]
                let rx: Rx = Rx::new(using, seen.clone(), received, kept.clone());
                #[streams(STREAMS)] $($when)*
                let next: Next = Next::new(using, seen, kept);
                earlier.image >> rx.earlier;
                a.image >> rx.images;
                b.image >> rx.images;
                rx.out >> next.another;
            }
        }
    };
}

used!(Used,);
used!(Woken, #[when(stream_done(another))]);

/// The values of the first messages.
const FIRST: [f32; 2] = [100.0, 200.0];

/// Returns whether the messages of a tick have the right data, read by unordered launches on `stream`.
fn are_right(
    cx: &ExecutionContext,
    stream: &CudaStream,
    images: &[Shared<Tensor<f32>>],
) -> Result<bool> {
    are_right_by(cx, stream, images, |image, copy| {
        foreign::launch_unordered::<slow_copy>(stream, LEN, (copy, image, 0))
    })
}

/// As `are_right`, with copies that `copy` makes on `stream`.
fn are_right_by(
    cx: &ExecutionContext,
    stream: &CudaStream,
    images: &[Shared<Tensor<f32>>],
    copy: impl Fn(&Tensor<f32>, &mut Buffer<f32>) -> Result<()>,
) -> Result<bool> {
    let mut right = images.len() == FIRST.len();
    for (image, first) in images.iter().zip(FIRST) {
        let mut copied = cx.platform().buffer(LEN, stream)?;
        copy(image, &mut copied)?;
        let found = stream.download_blocking(&copied)?;
        right &= found.iter().all(|&value| value == first + cx.tick() as f32);
    }
    Ok(right)
}

/// An operator that uses the stream that it receives.
#[operator(streams(other))]
struct Rx {
    #[input]
    earlier: &Tensor<f32>,
    #[input(many)]
    images: Shared<Tensor<f32>>,
    #[output]
    out: Tensor<f32>,
    using: Use,
    seen: seen::Seen<bool>,
    received: Received,
    kept: Kept,
}

impl Compute for Rx {
    fn compute(&mut self, io: RxIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, earlier) = io.earlier.receive().receive_cuda_stream(cx)?;
        let mut plan = cx.on_stream(&earlier, |_| Ok(()))?;
        let images = io.images.receive();
        let (images, stream): (Many<'_, Shared<_>>, _) = match self.using {
            Use::SyncToDefault => images.sync_to_default().receive_cuda_stream(cx)?,
            Use::SynchronizeStreams => {
                let after = cx.synchronize_streams(images.streams(), &earlier)?;
                (images.into_synchronized_data(&after)?, after.target())
            }
            _ => images.receive_cuda_stream(cx)?,
        };
        let images: Vec<_> = images.collect();
        let other = cx.allocate_cuda_stream(io.other)?;
        let streams = Streams { earlier, stream, other };
        if let Some(right) = self.using.comes_after(cx, &streams, &mut plan, &images)? {
            push_seen(&self.seen, right);
        } else {
            *lock(&self.kept) = images;
        }
        let mut out = cx.tensor([1], &stream)?;
        stream.fill_bytes(&mut out, 0)?;
        io.out.emit(out)?;
        *lock(&self.received) = Some(stream.raw());
        Ok(())
    }
}

struct Streams<'c> {
    /// The internal stream, as it was returned before the messages were received.
    earlier: Stream<'c>,
    /// The same stream, as it was returned with the messages.
    stream: Stream<'c>,
    other: Stream<'c>,
}

impl Use {
    /// Returns whether this use comes after the messages, or `None` if the next operator checks that.
    fn comes_after(
        self,
        cx: &ExecutionContext,
        streams: &Streams<'_>,
        plan: &mut OnStream<()>,
        images: &[Shared<Tensor<f32>>],
    ) -> Result<Option<bool>> {
        let Streams { earlier, stream, other } = streams;
        let right = match self {
            Self::RawHandle => are_right_by(cx, stream, images, |image, copy| {
                foreign::copy_unordered(cx.platform(), stream, image, copy)
            })?,
            Self::Record => {
                other.wait(stream.record()?)?;
                are_right(cx, other, images)?
            }
            Self::TimingEvent => {
                let moment = stream.record_timing()?;
                moment.elapsed_blocking(&stream.record_timing()?)?;
                are_right(cx, other, images)?
            }
            Self::IsComplete => {
                while !stream.is_complete()? {
                    std::thread::yield_now();
                }
                are_right(cx, other, images)?
            }
            Self::SynchronizeBlocking => {
                stream.synchronize_blocking()?;
                are_right(cx, other, images)?
            }
            Self::SyncToDefault => {
                let default = cx.default_stream()?;
                are_right(cx, &default, images)?
            }
            Self::SynchronizeStreams => are_right(cx, stream, images)?,
            Self::OnStream => plan.with(earlier, |()| are_right(cx, earlier, images))??,
            Self::ExternalStream => {
                let foreign = ForeignStream::create(cx.platform(), cx.device())?;
                let external = foreign.borrow(cx.platform())?;
                external.wait(stream.record()?)?;
                are_right(cx, &external, images)?
            }
            Self::Emission | Self::WakeUp => return Ok(None),
        };
        Ok(Some(right))
    }
}

/// An operator whose message does not contain the data that its sender has received, and that checks that data.
#[operator(streams(other))]
struct Next {
    #[input]
    another: &Tensor<f32>,
    using: Use,
    seen: seen::Seen<bool>,
    kept: Kept,
}

impl Compute for Next {
    fn compute(&mut self, io: NextIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let images = std::mem::take(&mut *lock(&self.kept));
        let right = match self.using {
            Use::Emission => {
                let (_, stream) = io.another.receive().receive_cuda_stream(cx)?;
                are_right(cx, &stream, &images)?
            }
            Use::WakeUp => {
                io.another.discard();
                let other = cx.allocate_cuda_stream(io.other)?;
                are_right(cx, &other, &images)?
            }
            _ => {
                io.another.discard();
                return Ok(());
            }
        };
        push_seen(&self.seen, right);
        Ok(())
    }
}
