//! External streams: streams that other code made.

#[cfg(feature = "cudarc")]
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use super::{CudaStream, StreamTable, Timeline};
use crate::driver::{
    BorrowedEvent, BorrowedStream, OwnedStream, RawStream, StreamOptions, report_unless_refused,
};
use crate::error::{Error, Result};

/// A stream that was made outside of streamflow, by cudarc, a CUDA library or the program around this one. It can be used as long
/// as it is borrowed. [`Platform::external_stream`](crate::Platform::external_stream) makes this value. Holoscan does not support
/// such streams: its `set_cuda_stream` logs an error for one and continues without ordering. The
/// [table](crate::stream#the-types-of-streams) has the other types of streams.
///
/// An external stream dereferences to [`CudaStream`], so launches and copies on it are ordered by their data, as on every stream.
/// Streamflow does not see the work that the stream's owner queues directly. To order such work, call
/// [`record`](CudaStream::record) on one stream and [`wait`](CudaStream::wait) on another; or use an event of the owner, with
/// [`wait_for_event`](CudaStream::wait_for_event) and [`record_event`](CudaStream::record_event).
/// [`record_timing`](CudaStream::record_timing) measures the stream's work. Ports don't take an external stream: an operator
/// sends a message on one of its own streams, which waits for the external stream because of the data.
///
/// A wrapper makes 17 events. So wrap a stream once and keep the wrapper. Wrapping the same stream again after the first wrapper
/// was dropped makes no more events.
#[must_use = "it stands for the stream only as long as it lives"]
pub struct ExternalStream<'a> {
    stream: CudaStream,
    /// The owner of the stream. It is dropped after the last record of the stream.
    #[cfg(feature = "cudarc")]
    owner: Option<Arc<dyn Any + Send + Sync>>,
    _foreign: PhantomData<&'a ()>,
}

impl CudaStream {
    /// Makes work that is queued from now on come after the latest record of an event of other code. Does not block the host. If
    /// the event was never recorded, there is nothing to wait for.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait_for_event(&self, event: BorrowedEvent<'_>) -> Result<()> {
        Ok(self.timeline.wait_borrowed(event)?)
    }

    /// Records an event of other code on this stream: the event is complete when all work queued so far is. Does not block the
    /// host.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for an event of another device; errors of the driver.
    pub fn record_event(&self, event: BorrowedEvent<'_>) -> Result<()> {
        if event.device() != self.device() {
            let (memory, stream) = (event.device(), self.device());
            return Err(Error::WrongDevice { what: "an event".to_owned(), memory, stream });
        }
        Ok(self.timeline.record_borrowed(event)?)
    }
}

impl<'a> ExternalStream<'a> {
    pub(crate) fn wrap(table: &Arc<StreamTable>, borrowed: BorrowedStream<'a>) -> Result<Self> {
        let timeline = table.external(borrowed)?;
        let stream = CudaStream::new(timeline, table.clone(), None);
        Ok(Self {
            stream,
            #[cfg(feature = "cudarc")]
            owner: None,
            _foreign: PhantomData,
        })
    }

    /// Stores the owner of the stream in this value, so that the stream lives as long as the value.
    #[cfg(feature = "cudarc")]
    pub(crate) fn keep(mut self, owner: Arc<dyn Any + Send + Sync>) -> Self {
        self.owner = Some(owner);
        self
    }
}

impl Deref for ExternalStream<'_> {
    type Target = CudaStream;

    fn deref(&self) -> &CudaStream {
        &self.stream
    }
}

impl Drop for ExternalStream<'_> {
    /// Records an event for all queued work. Later waits use this record, since the owner may destroy the stream after the drop.
    fn drop(&mut self) {
        let timeline = self.stream.timeline();
        let detached = timeline.detach(|| timeline.synchronize(&self.table));
        // If the record and the wait in its place failed, the timeline is not put into `detached`, so no later stream reuses it.
        let is_covered = detached.is_ok();
        report_unless_refused("detaching an external stream", detached);
        if is_covered {
            let table = self.stream.table();
            table.detached.lock().push(timeline.clone());
        }
        #[cfg(feature = "cudarc")]
        if let Some(owner) = self.owner.take() {
            // Dropping the owner may make another CUDA context current on this thread.
            let _other = crate::driver::current::other_code();
            drop(owner);
        }
    }
}

impl fmt::Debug for ExternalStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExternalStream").field(&self.timeline().raw()).finish()
    }
}

impl StreamTable {
    /// Returns the timeline for an external stream: the timeline of a detached stream with the same handle, or a new one.
    fn external(&self, borrowed: BorrowedStream<'_>) -> Result<Arc<Timeline>> {
        borrowed.check(&**self.driver())?;
        let raw = borrowed.raw();
        if let Some(timeline) = self.take_detached(raw) {
            return match timeline.reattach() {
                Ok(()) => Ok(timeline),
                Err(error) => {
                    self.detached.lock().push(timeline);
                    Err(error.into())
                }
            };
        }
        self.bind(raw.device())?;
        let stream = OwnedStream::borrowed(self.driver(), borrowed);
        let timeline = self.add_external(stream, StreamOptions::default())?;
        timeline.set_label(format!("an external stream of {}", raw.device()).into());
        Ok(timeline)
    }

    fn take_detached(&self, raw: RawStream) -> Option<Arc<Timeline>> {
        let mut detached = self.detached.lock();
        let index = detached.iter().position(|timeline| timeline.raw() == raw)?;
        Some(detached.swap_remove(index))
    }
}
