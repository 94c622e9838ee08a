//! Lent memory: memory of streamflow that other code uses until it returns the memory.

use std::ptr::NonNull;

use super::reaper;
use crate::driver::{AccessMode, DriverError, MemoryRange, Rows};
use crate::error::Result;
use crate::memory::border::counts::{self, Count};
use crate::memory::border::list::Node;
use crate::memory::border::task::{Entry, Task, entry};
use crate::memory::pooled::OwnedBlock;
use crate::memory::{Element, MemoryPool, Shared, Tensor};

/// A value that keeps lent memory alive while other code uses it.
pub(crate) trait Lendable: Send + 'static {
    /// The owner of the memory's block.
    fn owner(&self) -> &OwnedBlock<MemoryPool>;
    /// The access to the memory that other code has: whether it may only read, or also write.
    fn mode(&self) -> AccessMode;
    /// The bytes that other code touches, and their rows; `None` if that may be all of the bytes.
    #[cfg_attr(
        not(feature = "dlpack"),
        allow(dead_code, reason = "DLPack alone tells it the race checker")
    )]
    fn touched(&self) -> (MemoryRange, Option<Rows>) {
        (self.owner().range(), None)
    }
}

impl<T: Element> Lendable for Tensor<T> {
    fn owner(&self) -> &OwnedBlock<MemoryPool> {
        self.owned_block()
    }

    fn mode(&self) -> AccessMode {
        AccessMode::Write
    }
}

impl<M: Lendable + Sync> Lendable for Shared<M> {
    fn owner(&self) -> &OwnedBlock<MemoryPool> {
        M::owner(self)
    }

    fn mode(&self) -> AccessMode {
        AccessMode::Read
    }

    fn touched(&self) -> (MemoryRange, Option<Rows>) {
        M::touched(self)
    }
}

/// Memory that is lent to other code, or that other code has returned and the pool has not taken back yet.
pub(crate) struct Lent(Box<dyn Lendable>);

/// CUDA's codes for a call that a stream capture forbids: `cudaErrorStreamCapture…`.
pub(super) const CAPTURE: std::ops::RangeInclusive<i32> = 900..=908;

/// The value by which lent memory returns to its pool. Other code calls [`give_back`](Self::give_back) when it no longer
/// uses the memory.
pub(crate) struct Returner {
    entry: Box<Entry>,
    /// The pool of the memory. The pointer is valid because `entry` owns the memory, and the memory keeps the pool alive.
    pool: NonNull<MemoryPool>,
}

// SAFETY: the pool is `Sync`, and the entry is `Send`.
unsafe impl Send for Returner {}

/// Creates the [`Returner`] of memory that is lent to other code, and counts the memory as lent.
///
/// # Errors
/// [`Error::Exchange`](crate::Error::Exchange), when the system has no thread for the reaper;
/// [`DriverError::Unavailable`], when the driver can't make a stream wait for work of other code, and so the pool could not
/// take the memory back.
pub(crate) fn lend(memory: impl Lendable) -> Result<Returner> {
    reaper::start()?;
    let pool = memory.owner().pool();
    pool.check_take_back()?;
    pool.take_lent_back();
    let pool = NonNull::from(pool);
    counts::add(Count::Lent);
    Ok(Returner { entry: entry(Lent(Box::new(memory))), pool })
}

impl Returner {
    /// Adds the memory to the pool's list of returned memory. Any thread may call this function, under any lock, because the
    /// function waits for nothing and makes no call of the driver.
    pub(crate) fn give_back(self) {
        // SAFETY: the memory keeps its pool alive, and this function does not use the pool any more after it has put the
        // memory into a list where another thread can find it.
        let pool = unsafe { self.pool.as_ref() };
        if pool.table.driver().observer().works_alone() {
            return reaper::add(self.entry);
        }
        if let Err(closed) = pool.border.lent.add(self.entry) {
            reaper::add(closed);
        }
    }
}

impl Task for Lent {
    fn execute(self: Box<Self>) -> Option<Box<dyn Task>> {
        match self.take_back() {
            Ok(()) => None,
            Err((error, lent)) => lent.not_taken_back(error),
        }
    }

    fn count(&self) -> Count {
        Count::Lent
    }
}

impl Lent {
    /// Makes later uses of the memory come after all work that other code may have queued with it: the reclaim stream waits
    /// for all work of the device. Then drops the owner of the memory. The host does not wait.
    ///
    /// # Errors
    /// The driver's error, together with the memory that is not taken back yet.
    fn take_back(self) -> Result<(), (DriverError, Self)> {
        let owner = self.0.owner();
        let pool = owner.pool();
        let (driver, stream) = (pool.table.driver(), &pool.reclaim);
        if driver.sticky_error().is_none() {
            // SAFETY: the timeline owns its stream.
            let waited =
                stream.bind().and_then(|()| unsafe { driver.wait_for_device(stream.raw()) });
            if let Err(error) = waited {
                return Err((error, self));
            }
            // The use is noted with the access of the other code. If that was a read, reads by other owners need not wait for
            // this use.
            owner.note(stream, self.0.mode());
        }
        drop(self.0);
        // The count changes after the drop, so that a thread that sees the lower count finds the memory in its pool.
        counts::remove(Count::Lent);
        Ok(())
    }

    fn not_taken_back(self, error: DriverError) -> Option<Box<dyn Task>> {
        if let DriverError::Call { code, .. } = &error
            && CAPTURE.contains(code)
        {
            // The driver has refused the call, because another library is capturing a graph. This task is returned and tried
            // again later, when the capture may have ended.
            return Some(Box::new(self));
        }
        tracing::error!(%error, "memory that other code has returned is lost");
        reaper::leak(Box::new(self));
        None
    }
}

impl MemoryPool {
    /// Returns an error if the driver lacks the call by which the pool takes lent memory back.
    pub(super) fn check_take_back(&self) -> Result<()> {
        if self.waits_for_device {
            return Ok(());
        }
        Err(DriverError::Unavailable {
            what: "memory for other code needs cuCtxRecordEvent, which this NVIDIA driver lacks"
                .to_owned(),
            remedy: "update the driver to one of CUDA 12.5, release 555 or later".to_owned(),
        }
        .into())
    }

    /// Takes back the memory in the list of returned memory. On a GPU the list stays empty, because there the reaper thread
    /// takes returned memory back.
    #[inline]
    pub(in crate::memory) fn take_lent_back(&self) {
        if !self.border.lent.is_empty() {
            self.take_back_each(self.border.lent.take_all());
        }
    }

    #[cold]
    fn take_back_each(&self, returned: Vec<Box<dyn Task>>) {
        for task in returned {
            if let Some(again) = task.execute() {
                reaper::add(Node::new(again));
            }
        }
    }

    /// Closes the list of returned memory, after taking back the memory in it. From then on the reaper thread takes back the
    /// memory that other code returns.
    pub(in crate::memory) fn close_lent(&self) {
        let returned = self.border.lent.close();
        self.take_back_each(returned);
    }
}
