//! Memory that is not written: the work that was to write it has failed in a hook, which has dropped the error.
//!
//! A call that fails marks the memory that it was to write. No work uses marked memory, no port sends it, and the host does not
//! read it: each of these is an [`Error::Unwritten`], with the first error. So a dropped error is told where data would be
//! lost by it, and an operator that sends other memory instead has handled it. A mark ends when
//!
//! - the hook returns an error: it has not dropped that. A hook that returns `Ok` after it has lost a message has;
//! - a copy, a fill or a function of `library` overwrites all that was to be written;
//! - the operator vouches for the content by [`assume_written`](super::DeviceSlice::assume_written);
//! - the memory has a new owner.
//!
//! Outside of hooks the caller has the error alone, and nothing is marked.
//!
//! Marks cost launches and copies nothing where nothing fails. A marked block has a word of its only write that matches no stream
//! (`last_write.rs`), so each use of it takes the slow path, where marks are checked.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::{Asker, MemoryRange};
use crate::error::{Error, Result};

thread_local! {
    /// Whether the hook that runs here has returned an error, for the marks that it has made. The one of an earlier hook
    /// if it has made none.
    static RETURNED: RefCell<Arc<AtomicBool>> = RefCell::default();
}

/// A mark: why memory is not written.
#[derive(Debug)]
pub(super) struct FailedWrite {
    /// From the first to the last byte that was to be written.
    range: MemoryRange,
    /// The node whose hook made the call.
    node: Arc<str>,
    /// The error of the call.
    cause: Error,
    /// Whether the hook has returned an error.
    returned: Arc<AtomicBool>,
    /// Whether a call of a library that overwrites all of the range has begun: the mark ends if it succeeds.
    is_overwritten: bool,
}

impl FailedWrite {
    /// A call has failed that was to write this range. `None` outside of hooks.
    pub(super) fn new(range: MemoryRange, error: &Error) -> Option<Self> {
        let mut node = Asker::current().name()?;
        let is_first = Asker::note_failure();
        let returned = RETURNED.try_with(|returned| {
            let mut returned = returned.borrow_mut();
            if is_first {
                *returned = Arc::default();
            }
            returned.clone()
        });
        // A call that was refused since its own memory is not written has the same cause.
        let cause = match error {
            Error::Unwritten { node: first, cause } => {
                node = first.as_str().into();
                (**cause).clone()
            }
            error => error.clone(),
        };
        Some(Self { range, node, cause, returned: returned.ok()?, is_overwritten: false })
    }

    /// A later call has failed as well. The first error counts.
    pub(super) fn extend_to(&mut self, range: MemoryRange) {
        let address = self.range.address.min(range.address);
        let bytes = self.range.end().max(range.end()) - address;
        self.range = MemoryRange { address, bytes };
        self.is_overwritten = false;
    }

    /// A call begins that overwrites all of this range. Until it fails or succeeds, the mark rejects nothing.
    pub(super) fn begin_overwrite(&mut self, range: MemoryRange) {
        self.is_overwritten |= self.is_within(range);
    }

    /// Whether a call that overwrites all has begun.
    pub(super) fn is_overwritten(&self) -> bool {
        self.is_overwritten
    }

    /// Whether the hook has returned an error.
    pub(super) fn has_ended(&self) -> bool {
        self.returned.load(Ordering::Relaxed)
    }

    /// Whether a write of this range has written all of it.
    pub(super) fn is_within(&self, written: MemoryRange) -> bool {
        written.address <= self.range.address && self.range.end() <= written.end()
    }

    /// Rejects a use of this range, if a part of it is not written.
    ///
    /// # Errors
    /// [`Error::Unwritten`].
    pub(super) fn check(&self, used: MemoryRange) -> Result<()> {
        if self.is_overwritten || !self.range.overlaps(used) {
            return Ok(());
        }
        let (node, cause) = ((*self.node).to_owned(), Box::new(self.cause.clone()));
        Err(Error::Unwritten { node, cause })
    }
}

/// The hook that runs on this thread has returned an error, so the marks that it has made end.
#[cold]
pub(crate) fn hook_has_failed() {
    if Asker::has_failure() {
        // A thread that ends has no hook.
        let _ = RETURNED.try_with(|returned| returned.borrow().store(true, Ordering::Relaxed));
    }
}
