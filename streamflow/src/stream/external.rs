//! Streams of other libraries.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use super::{CudaStream, StreamTable, Timeline};
use crate::driver::{BorrowedStream, OwnedStream, RawStream, StreamOptions, report_in_drop};
use crate::error::Result;

/// A stream that somebody else made, as cudarc, a CUDA library or a program around this one, for as long
/// as it is borrowed. Made by [`Platform::external_stream`](crate::Platform::external_stream). Holoscan
/// takes none: `set_cuda_stream` with such a stream logs an error and goes on without order.
///
/// It derefs to [`CudaStream`], so that launches and copies on it are ordered by their data like all
/// others. Work that its owner queues on it by itself is ordered by points: [`record`](CudaStream::record)
/// on one side and [`wait`](CudaStream::wait) on the other, both ways. It is not taken by ports: a message
/// is sent on a stream of its operator, which waits for this one by itself.
///
/// Each stream that is wrapped takes 17 events. Wrap it once and keep it; wrapping the same one again,
/// after the first wrapper is gone, takes no more.
pub struct ExternalStream<'a> {
    stream: CudaStream,
    _foreign: PhantomData<&'a ()>,
}

impl<'a> ExternalStream<'a> {
    pub(crate) fn wrap(table: &Arc<StreamTable>, borrowed: BorrowedStream<'a>) -> Result<Self> {
        let timeline = table.external(borrowed)?;
        let stream = CudaStream::new(timeline, table.clone(), None);
        Ok(Self { stream, _foreign: PhantomData })
    }
}

impl Deref for ExternalStream<'_> {
    type Target = CudaStream;

    fn deref(&self) -> &CudaStream {
        &self.stream
    }
}

impl Drop for ExternalStream<'_> {
    /// Records what was queued, since the stream may be gone when somebody asks for it.
    fn drop(&mut self) {
        let timeline = self.stream.timeline();
        let detached = timeline.detach(|| timeline.synchronize(&self.table));
        // Where that failed, no other stream can go on where this one was.
        let is_covered = detached.is_ok();
        // After a sticky error nothing is recorded any more, and that was reported once.
        if timeline.driver().sticky_error().is_none() {
            report_in_drop("leaving a stream of somebody else's", detached);
        }
        if is_covered {
            let table = self.stream.table();
            table.detached.lock().push(timeline.clone());
        }
    }
}

impl fmt::Debug for ExternalStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExternalStream").field(&self.timeline().raw()).finish()
    }
}

impl StreamTable {
    /// What is known of a stream of somebody else's: of one with the same handle that was left, or nothing
    /// yet.
    fn external(&self, borrowed: BorrowedStream<'_>) -> Result<Arc<Timeline>> {
        let raw = borrowed.raw();
        if let Some(timeline) = self.take_left(raw) {
            return match timeline.reattach() {
                Ok(()) => Ok(timeline),
                Err(error) => {
                    self.detached.lock().push(timeline);
                    Err(error.into())
                }
            };
        }
        self.driver().bind(raw.device())?;
        let stream = OwnedStream::lent(self.driver(), borrowed);
        let timeline = self.add_external(stream, StreamOptions::default())?;
        timeline.set_label(format!("an external stream of {}", raw.device()).into());
        Ok(timeline)
    }

    fn take_left(&self, raw: RawStream) -> Option<Arc<Timeline>> {
        let mut detached = self.detached.lock();
        let index = detached.iter().position(|timeline| timeline.raw() == raw)?;
        Some(detached.swap_remove(index))
    }
}
