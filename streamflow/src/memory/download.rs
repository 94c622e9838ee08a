//! Law 14: A download is read when it is there.
//!
//! The type [`Download`]: a copy to the host whose elements can't be read before the copy is complete.

use std::task::Waker;

use super::{Element, Pinned};
use crate::error::Result;
use crate::stream::{Awaiting, Point, StreamTable};

/// A copy from a device to the host, perhaps not complete yet. The elements can't be read before the copy is complete.
///
/// Made by [`CudaStream::download`](crate::CudaStream::download) and
/// [`Platform::download`](crate::Platform::download). Dropping a download does not wait. Asynchronous code
/// [awaits](super::Downloaded) it.
#[derive(Debug)]
#[must_use = "a download that is not read has no effect"]
pub struct Download<T: Element> {
    /// The page-locked memory that the copy writes. Its block also stores the shape.
    pinned: Pinned<T>,
}

impl<T: Element> Download<T> {
    /// Creates the value for a queued copy to `pinned`. The block of `pinned` has the shape of the downloaded data.
    pub(super) fn new(pinned: Pinned<T>) -> Self {
        Self { pinned }
    }

    /// The shape of the downloaded memory; one dimension for a slice.
    pub fn shape(&self) -> &[usize] {
        self.pinned.block().shape().dims()
    }

    /// The elements, if the copy is complete. Does not block.
    ///
    /// # Errors
    /// The driver's, when the query fails; an error of earlier work may be reported here.
    #[track_caller]
    pub fn try_get(&self) -> Result<Option<&[T]>> {
        self.pinned.try_as_slice()
    }

    /// The elements; blocks until the copy is complete.
    ///
    /// # Errors
    /// The driver's, when the wait fails; an error of earlier work may be reported here.
    #[track_caller]
    pub fn wait_blocking(&self) -> Result<&[T]> {
        self.pinned.as_slice_blocking()
    }

    /// Creates the registration by which a task is woken when this download is complete. The download's future uses it.
    pub(super) fn awaiting(&self) -> Awaiting {
        Awaiting::new(self.pinned.awaited())
    }

    /// Returns whether the copy is complete. If it is not, registers `task`, which is woken when the copy may be complete.
    pub(super) fn poll_complete(&self, awaiting: &Awaiting, task: &Waker) -> Result<bool> {
        // The table of streams is that of the pool, because the future may outlive the platform.
        let table = self.pinned.table();
        match self.pinned.block().first_incomplete(table)? {
            Some(point) => awaiting.wake_at(table, point, task).map(|()| false),
            // `try_as_slice` tells the driver's layers, such as the race checker, that the host reads the memory.
            None if self.pinned.try_as_slice()?.is_some() => Ok(true),
            None => {
                task.wake_by_ref();
                Ok(false)
            }
        }
    }

    /// The elements. The caller has found that the copy is complete.
    pub(super) fn complete_elements(&self) -> &[T] {
        self.pinned.complete_elements()
    }

    /// The point at which the copy will be complete. `None` if the copy is complete now.
    pub(crate) fn incomplete(&self, streams: &StreamTable) -> Result<Option<Point>> {
        self.pinned.block().first_incomplete(streams)
    }

    /// Returns the page-locked memory that the copy writes. The elements of a [`Pinned`], too, can't be read before the copy is
    /// complete.
    pub fn into_pinned(self) -> Pinned<T> {
        self.pinned
    }
}
