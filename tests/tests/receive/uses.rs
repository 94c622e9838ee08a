//! Each use of a received stream, other than by work on the message's data, comes after the message: the stream's
//! raw handle, its records, the host's questions about it, messages that are sent on it.
//!
//! The messages are looked at by launches that don't wait for the last write, so that nothing but the received
//! stream can keep the order. In the control that stream's waits are taken away.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::driver::{Driver, RawStream};
use streamflow::port::Many;
use streamflow::prelude::*;
use streamflow_tests::foreign::{self, ForeignStream};
use streamflow_tests::kernels::slow_copy;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::ordered;
use streamflow_tests::seen::{self, all, note};
use streamflow_tests::tensors::{LEN, SLOW, SourceElsewhere, Tx};
use streamflow_tests::{Failed, Suite, check};

/// What is done with the received stream.
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
    ("received_then_work_on_the_raw_handle", Use::RawHandle),
    ("received_then_a_record", Use::Record),
    ("received_then_a_timing_event", Use::TimingEvent),
    ("received_then_is_complete", Use::IsComplete),
    ("received_then_synchronize_blocking", Use::SynchronizeBlocking),
    ("received_with_sync_to_default", Use::SyncToDefault),
    ("received_by_synchronize_streams", Use::SynchronizeStreams),
    ("received_then_on_stream_with_an_earlier_handle", Use::OnStream),
    ("received_then_an_external_stream_waits_for_a_record", Use::ExternalStream),
    ("received_then_another_message_is_sent", Use::Emission),
    ("received_then_the_host_is_woken_by_another_message", Use::WakeUp),
];

const TICKS: u64 = 4;

/// How many of a control's 100 seeds must show the missing waits.
const MUST_SHOW: usize = 15;

pub(super) fn add(suite: Suite) -> Suite {
    USES.iter().fold(suite, |suite, &(name, using)| {
        suite
            .both(name, move |on| {
                let platform = ordered::platform(on.driver().clone())?;
                let right = run(&platform, using, &Received::default())?;
                check(right, || "something came before the message".into())
            })
            .control_on(&format!("{name}_control"), 1, MUST_SHOW, move |driver| {
                without_its_waits(driver, using)
            })
    })
}

/// The stream that was received, since the end of the first tick.
type Received = Arc<Mutex<Option<RawStream>>>;

/// The messages, kept for an operator that receives another one.
type Kept = Arc<Mutex<Vec<Shared<Tensor<f32>>>>>;

/// Whether the data was right although the received stream has waited for nothing after the first tick.
fn without_its_waits(driver: Arc<dyn Driver>, using: Use) -> Result<bool, Failed> {
    let received = Received::default();
    let of = received.clone();
    let is_received = move |stream, _| *lock(&of) == Some(stream);
    let broken = Arc::new(DropWaits::when(driver, is_received));
    let memory = ordered::MEMORY;
    let options = PlatformOptions { memory, race_check: Some(false) };
    let platform = Platform::with_options(broken.clone(), options)?;
    let right = match run(&platform, using, &received) {
        Err(Error::Races(_)) => false,
        other => other?,
    };
    check(broken.dropped() > 0, || "it never waits: the control proves nothing".into())?;
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

/// What the messages begin with.
const FIRST: [f32; 2] = [100.0, 200.0];

/// Whether the messages of a tick are what they should be, by launches on `stream` that wait for nothing.
fn are_there(
    cx: &ExecutionContext,
    stream: &CudaStream,
    images: &[Shared<Tensor<f32>>],
) -> Result<bool> {
    are_there_by(cx, stream, images, |image, copy| {
        foreign::launch_unordered::<slow_copy>(stream, LEN, (copy, image, 0))
    })
}

/// The same, by copies on `stream`.
fn are_there_by(
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

/// Uses the stream that it receives.
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
            note(&self.seen, right);
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
    /// The internal stream, as it was given before the messages were received.
    earlier: Stream<'c>,
    /// The same stream, as it was given with the messages.
    stream: Stream<'c>,
    other: Stream<'c>,
}

impl Use {
    /// Whether what this does comes after the messages. `None` if the next operator finds that out.
    fn comes_after(
        self,
        cx: &ExecutionContext,
        streams: &Streams<'_>,
        plan: &mut OnStream<()>,
        images: &[Shared<Tensor<f32>>],
    ) -> Result<Option<bool>> {
        let Streams { earlier, stream, other } = streams;
        let right = match self {
            Self::RawHandle => are_there_by(cx, stream, images, |image, copy| {
                foreign::copy_unordered(cx.platform(), stream, image, copy)
            })?,
            Self::Record => {
                other.wait(stream.record()?)?;
                are_there(cx, other, images)?
            }
            Self::TimingEvent => {
                let moment = stream.record_timing()?;
                moment.elapsed_blocking(&stream.record_timing()?)?;
                are_there(cx, other, images)?
            }
            Self::IsComplete => {
                while !stream.is_complete()? {
                    std::thread::yield_now();
                }
                are_there(cx, other, images)?
            }
            Self::SynchronizeBlocking => {
                stream.synchronize_blocking()?;
                are_there(cx, other, images)?
            }
            Self::SyncToDefault => {
                let default = cx.default_stream()?;
                are_there(cx, &default, images)?
            }
            Self::SynchronizeStreams => are_there(cx, stream, images)?,
            Self::OnStream => plan.with(earlier, |()| are_there(cx, earlier, images))??,
            Self::ExternalStream => {
                let foreign = ForeignStream::create(cx.platform(), cx.device())?;
                let external = foreign.borrow(cx.platform())?;
                external.wait(stream.record()?)?;
                are_there(cx, &external, images)?
            }
            Self::Emission | Self::WakeUp => return Ok(None),
        };
        Ok(Some(right))
    }
}

/// Gets a message without the data that its sender has received, and looks at that data.
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
                are_there(cx, &stream, &images)?
            }
            Use::WakeUp => {
                io.another.discard();
                let other = cx.allocate_cuda_stream(io.other)?;
                are_there(cx, &other, &images)?
            }
            _ => {
                io.another.discard();
                return Ok(());
            }
        };
        note(&self.seen, right);
        Ok(())
    }
}
