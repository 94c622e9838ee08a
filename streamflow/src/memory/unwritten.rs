//! Memory that is not written, because the work that was to write it has failed and a hook has dropped the error.
//!
//! A call that fails marks the memory that it was to write. No work uses marked memory, no port sends it, and the host
//! does not read it: each attempt is an [`Error::Unwritten`] with the first error. So a dropped error is reported where
//! it would lose data. An operator that sends other memory instead has handled the error. A mark ends when
//!
//! - the hook returns an error: then the error is not dropped. A hook that loses a message and returns `Ok` has dropped
//!   it;
//! - a copy, a fill or a function of `library` overwrites all of the memory that was to be written;
//! - the operator vouches for the content by [`assume_written`](super::DeviceSlice::assume_written);
//! - the memory has a new owner.
//!
//! Outside of hooks the caller gets the error, and nothing is marked.
//!
//! As long as nothing fails, marks cost launches and copies nothing. The word for the last write of a marked block
//! (`last_write.rs`) matches no stream, so each use of the block takes the slow path, and marks are checked only there.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::{Asker, MemoryRange};
use crate::error::{Error, Result};

thread_local! {
    /// Whether the hook that runs on this thread has returned an error. The marks that the hook has made share this
    /// value. Until the hook makes its first mark, the value is that of an earlier hook.
    static RETURNED: RefCell<Arc<AtomicBool>> = RefCell::default();
}

/// A mark: the reason why memory is not written.
#[derive(Debug)]
pub(super) struct FailedWrite {
    /// The range from the first to the last byte that was to be written.
    range: MemoryRange,
    /// The name of the node whose hook made the call.
    node: Arc<str>,
    /// The error of the call.
    cause: Error,
    /// Whether the hook has returned an error. The mark has then ended.
    returned: Arc<AtomicBool>,
    /// Whether a library's call that overwrites the whole range has begun. The mark ends if that call succeeds.
    is_overwritten: bool,
}

impl FailedWrite {
    /// Creates the mark of a failed call that was to write this range. `None` outside of hooks.
    pub(super) fn new(range: MemoryRange, error: &Error) -> Option<Self> {
        let mut node = Asker::current().name()?;
        let is_first = Asker::mark_failed();
        let returned = RETURNED.try_with(|returned| {
            let mut returned = returned.borrow_mut();
            if is_first {
                *returned = Arc::default();
            }
            returned.clone()
        });
        // The error of a call that was refused because of unwritten memory has a cause. This mark gets the same cause.
        let cause = match error {
            Error::Unwritten { node: first, cause } => {
                node = first.as_str().into();
                (**cause).clone()
            }
            error => error.clone(),
        };
        Some(Self { range, node, cause, returned: returned.ok()?, is_overwritten: false })
    }

    /// Extends the mark by the range of a later failed call. The first error stays.
    pub(super) fn extend_to(&mut self, range: MemoryRange) {
        let address = self.range.address.min(range.address);
        let bytes = self.range.end().max(range.end()) - address;
        self.range = MemoryRange { address, bytes };
        self.is_overwritten = false;
    }

    /// Notes the begin of a call that overwrites all of this range. Until the call fails or succeeds, the mark rejects
    /// nothing.
    pub(super) fn begin_overwrite(&mut self, range: MemoryRange) {
        self.is_overwritten |= self.is_within(range);
    }

    /// Whether a call that overwrites all of the marked range has begun.
    pub(super) fn is_overwritten(&self) -> bool {
        self.is_overwritten
    }

    /// Whether the hook has returned an error.
    pub(super) fn has_ended(&self) -> bool {
        self.returned.load(Ordering::Relaxed)
    }

    /// Whether a write of the range `written` covers all of the marked range.
    pub(super) fn is_within(&self, written: MemoryRange) -> bool {
        written.address <= self.range.address && self.range.end() <= written.end()
    }

    /// Returns an error for a use of this range, if a part of it is not written.
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

/// Ends the marks that the hook on this thread has made: the hook has returned an error.
#[cold]
pub(crate) fn hook_has_failed() {
    if Asker::has_failure() {
        // `try_with` fails only on a thread that ends. No hook runs there.
        let _ = RETURNED.try_with(|returned| returned.borrow().store(true, Ordering::Relaxed));
    }
}
