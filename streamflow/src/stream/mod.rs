//! Streams, the points on them, and the pools that they come from. An operator needs few of these names: it gets its streams from
//! its [`ExecutionContext`](crate::ExecutionContext), and its graph describes the pools.
//!
//! # The types of streams
//!
//! | type | what it is | when a program meets it |
//! |---|---|---|
//! | [`Stream`](crate::Stream) | a stream of an operator, lent for one hook | in each operator: ports and launches take it |
//! | [`CudaStream`] | a stream that the program owns | outside of operators: tests, uploads before a run; `Stream` derefs to it |
//! | [`StreamName`](crate::context::StreamName) | the name of a stream that the operator declared, as `io.fill` | as the argument of `cx.allocate_cuda_stream` |
//! | [`StreamRef`](crate::context::StreamRef) | the name of the stream that a message came on; no work can be queued on it | where an operator compares the streams of its messages, or orders one after them |
//! | [`ExternalStream`] | a stream of another library, wrapped for launches and copies | where another library or program shares its stream |
//! | [`BorrowedStream`] | the handle of such a stream, and the promise that the stream lives long enough; [`find`](BorrowedStream::find) finds out its device | once, as the argument of `Platform::external_stream` |
//! | [`RawStream`] | the driver's handle of a stream | where it is passed to other code: cuFFT, cudarc, a driver of one's own |
//!
//! A value that needs the same stream for longer than a tick, as a plan of cuFFT, is stored in an
//! [`OnStream`](crate::context::OnStream).
//!
//! # Descriptions and live things
//!
//! | a description: a constant, made without a device | the live thing, which a [`Platform`](crate::Platform) makes of it |
//! |---|---|
//! | [`CudaStreamPool`]: how many streams, on which device, with which flags, [assigned](Assign) how | [`StreamPool`] |
//! | [`CudaGreenContextPool`]: into which partitions a device is divided | [`GreenContexts`]: the partitions |
//! | [`CudaGreenContext`]: on which partition a pool is | [`GreenContext`](crate::driver::GreenContext): that partition |
//!
//! A graph is written with descriptions, which have Holoscan's names, and its `new` makes the live things. A program without a
//! graph calls [`Platform::stream_pool`](crate::Platform::stream_pool) and
//! [`Platform::green_contexts`](crate::Platform::green_contexts).
//!
#![doc = ""]
#![doc = include_str!("README.md")]

mod assign;
mod awaited;
#[cfg(feature = "cudarc")]
mod cudarc;
mod division;
mod external;
mod green;
#[cfg(feature = "cudarc")]
mod lent;
mod live_pool;
mod notes;
mod order;
mod ordered;
mod point;
pub(crate) mod pool;
mod progress;
mod record;
mod records;
mod ring;
mod seen;
mod table;
pub(crate) mod task_wakers;
#[cfg(test)]
mod tests;
mod timeline;
mod timing;
mod wakeup;

pub use assign::Assign;
pub(crate) use awaited::{Awaited, Awaiting};
pub(crate) use cuda_stream::CudaStream;
#[cfg(feature = "cudarc")]
pub use cudarc::CudarcStream;
#[cfg(feature = "cudarc")]
pub(crate) use cudarc::{
    check_context, check_no_capture, failed, handle_of, is_captured, orders_streams,
};
pub use external::ExternalStream;
pub use green::{CudaGreenContext, CudaGreenContextPool, GreenContexts};
pub use live_pool::StreamPool;
pub(crate) use ordered::Ordered;
pub(crate) use point::PlatformNumber;
pub use point::Point;
pub(crate) use pool::CudaStreamPool;
pub(crate) use table::{Attached, StreamTable};
pub(crate) use timeline::{Timeline, set_bound};
pub use timing::{Elapsed, TimingEvent};
pub(crate) use wakeup::Wakeup;

use std::fmt;
use std::panic::UnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::current;
use crate::driver::{DeviceId, RawStream};
use crate::error::Result;
#[doc(inline)]
pub use streamflow_driver::driver::{BorrowedEvent, BorrowedStream, Coscheduling, StreamFlags};

/// Marks a type that one thread uses at a time: `dyn OneThreadAtATimeKeepAnOnStream` is `Send` and not `Sync`. If a program
/// stores a tick's `Stream` in a `static`, or sends it to another thread, rustc's error has the name of this trait. So the name
/// says what to store instead: an `OnStream`.
pub(crate) trait OneThreadAtATimeKeepAnOnStream: Send + Unpin + UnwindSafe {}

/// A zero-sized type that is `Send` and not `Sync`, like `dyn OneThreadAtATimeKeepAnOnStream`. A `PhantomData` would do the same,
/// but then rustc's error would quote a line of the standard library on machines where the library's source is installed.
type OneThreadAtATime = [&'static mut dyn OneThreadAtATimeKeepAnOnStream; 0];

impl CudaStream {
    fn new(
        timeline: Arc<Timeline>,
        table: Arc<StreamTable>,
        lease: Option<Arc<live_pool::Lease>>,
    ) -> Self {
        let is_kept = AtomicBool::new(false);
        Self { timeline, table, lease, is_kept, _one_thread_at_a_time: [] }
    }

    /// Returns another handle of the same stream. The stream returns to its pool when all handles are dropped. The work of all
    /// handles executes in the order in which it is queued, as for [`adopted`](Self::adopted).
    pub(crate) fn shared(&self) -> Self {
        Self::new(self.timeline.clone(), self.table.clone(), self.lease.clone())
    }

    /// Notes that a value which outlives the hook refers to the stream, so that the node uses this stream in later ticks too.
    pub(crate) fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// Whether [`keep`](Self::keep) was called: a value that outlives the hook may then refer to the stream.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    /// The legacy default stream of a device.
    pub(crate) fn default_of(table: &Arc<StreamTable>, device: DeviceId) -> Self {
        Self::new(table.default_timeline(device), table.clone(), None)
    }

    /// Returns another handle of the stream that `point` is on. The stream's owner may queue work on another thread at the same
    /// time. The work of both handles executes in the order in which it is queued.
    pub(crate) fn adopted(table: &Arc<StreamTable>, point: Point) -> Self {
        Self::new(table.timeline(point.stream()).clone(), table.clone(), None)
    }

    pub(crate) fn table(&self) -> &Arc<StreamTable> {
        &self.table
    }

    #[inline]
    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// The device on which the stream's work executes.
    pub fn device(&self) -> DeviceId {
        self.timeline.device()
    }

    /// Returns the driver's handle of the stream. On CUDA, [`RawStream::handle`] is the `CUstream` pointer.
    ///
    /// Work that other code queues through the handle is in order with the stream's other work, but streamflow does not know
    /// which memory that work uses.
    pub fn raw(&self) -> RawStream {
        self.keep();
        self.timeline.hand_out();
        current::doubt();
        self.timeline.raw()
    }

    /// Records an event, and returns the point that covers all work queued so far.
    ///
    /// # Errors
    /// Errors of the driver, if the record fails.
    pub fn record(&self) -> Result<Point> {
        self.timeline.ready()?;
        Ok(self.timeline.record()?)
    }

    /// Makes work that is queued from now on wait for `point`. Does not block the host. Calls the driver only if no earlier wait
    /// implies this order.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`](crate::Error::ForeignPlatform) for a point of another platform; errors of the driver, if the
    /// wait fails.
    pub fn wait(&self, point: Point) -> Result<()> {
        self.timeline.ready()?;
        self.timeline.wait(&self.table, point)
    }

    /// Makes work that is queued from now on come after all work that is queued on the device's default stream. Does not block
    /// the host.
    ///
    /// # Errors
    /// The same errors as for [`record`](Self::record) and [`wait`](Self::wait).
    pub fn wait_for_default(&self) -> Result<()> {
        let default = Self::default_of(&self.table, self.device());
        self.wait(default.record()?)
    }

    /// Whether all work that is queued so far is complete. Does not block.
    ///
    /// # Errors
    /// Errors of the driver, also an error of earlier work.
    pub fn is_complete(&self) -> Result<bool> {
        self.timeline.ready()?;
        let complete = self.timeline.query()?;
        if complete {
            self.table.inspect(self.device())?;
        }
        Ok(complete)
    }

    /// Blocks the calling thread until all work that is queued so far is complete.
    ///
    /// # Errors
    /// Errors of the driver, also an error of earlier work.
    pub fn synchronize_blocking(&self) -> Result<()> {
        self.timeline.ready()?;
        self.timeline.synchronize(&self.table)?;
        self.table.inspect(self.device())
    }
}

impl fmt::Debug for CudaStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pool = self.lease.as_ref().map(|lease| lease.pool_name());
        f.debug_struct("CudaStream")
            .field("raw", &self.timeline.raw())
            .field("pool", &pool)
            .finish()
    }
}

/// The type of a stream that a program owns. Its methods are in several files of the module `stream`, by subject.
pub(crate) mod cuda_stream {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::table::StreamTable;
    use super::timeline::Timeline;
    use super::{OneThreadAtATime, live_pool};

    /// A CUDA stream that a program owns: an in-order queue of work on one device. The [table](super#the-types-of-streams)
    /// has the other types of streams.
    ///
    /// A stream comes from a [`StreamPool`](super::StreamPool), and returns there when it is dropped. The drop does not wait:
    /// work that is still queued executes, and the work of the stream's next owner is queued behind it. A stream may move to
    /// another thread, but two threads can't queue work on it at the same time, because the order of their work would be
    /// undefined.
    pub struct CudaStream {
        pub(super) timeline: Arc<Timeline>,
        pub(super) table: Arc<StreamTable>,
        /// The right to use the stream. All handles of a planned stream share it.
        pub(super) lease: Option<Arc<live_pool::Lease>>,
        /// Whether a value that outlives the hook may refer to the stream.
        pub(super) is_kept: AtomicBool,
        pub(super) _one_thread_at_a_time: OneThreadAtATime,
    }
}
