//! Marks of memory that is not written, because the work that was to write it has failed and a hook has dropped the error.
//!
//! A call that fails in a hook marks the memory that it was to write. No work uses marked memory, no port sends it, and the
//! host does not read it: each attempt is an [`Error::Unwritten`] with the first error. So a dropped error is reported
//! where it would lose data. An operator that sends other memory instead has handled the error. A mark ends when
//!
//! - the hook returns an error: the hook has then not dropped the error. A hook that loses a message and returns `Ok` has
//!   dropped the error;
//! - a copy, a fill or a function of `library` overwrites all of the memory that was to be written;
//! - the operator vouches for the content by [`assume_written`](super::DeviceSlice::assume_written);
//! - the memory has a new owner.
//!
//! A call that fails outside of hooks returns its error and marks nothing.
//!
//! While no call fails, marks cost launches and copies no time. The word for the last write of a marked block
//! (`last_write.rs`) matches no stream. So each use of a marked block takes the slow path, and only that path checks marks.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::{Asker, MemoryRange};
use crate::error::{Error, Result};

thread_local! {
    /// A flag: whether the hook that runs on this thread has returned an error. The marks that the hook makes share this
    /// flag. The hook's first mark creates the hook's flag; before, this is the flag of an earlier hook.
    static RETURNED: RefCell<Arc<AtomicBool>> = RefCell::default();
}

/// A mark: the range of memory that is not written, and the error that is the reason.
#[derive(Debug)]
pub(super) struct FailedWrite {
    /// The range from the first to the last byte that was to be written.
    range: MemoryRange,
    /// The name of the node whose hook made the call that has failed.
    node: Arc<str>,
    /// The error of the call that has failed.
    cause: Error,
    /// Whether the hook that made the call has returned an error. The mark has then ended.
    returned: Arc<AtomicBool>,
    /// Whether a library's call that overwrites the whole range has begun. The mark ends if that call succeeds.
    is_overwritten: bool,
}

impl FailedWrite {
    /// Creates the mark for a failed call that was to write this range. Returns `None` for a call outside of hooks.
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
        // If the call was refused because it uses marked memory, the new mark gets the node and the cause of that mark.
        let cause = match error {
            Error::Unwritten { node: first, cause } => {
                node = first.as_str().into();
                (**cause).clone()
            }
            error => error.clone(),
        };
        Some(Self { range, node, cause, returned: returned.ok()?, is_overwritten: false })
    }

    /// Extends the mark by the range of a later call that has failed. The mark keeps the first error.
    pub(super) fn extend_to(&mut self, range: MemoryRange) {
        let address = self.range.address.min(range.address);
        let bytes = self.range.end().max(range.end()) - address;
        self.range = MemoryRange { address, bytes };
        self.is_overwritten = false;
    }

    /// Notes that a call begins that overwrites all of this range. If the marked range lies within it, the mark rejects no use
    /// until the call fails or succeeds.
    pub(super) fn begin_overwrite(&mut self, range: MemoryRange) {
        self.is_overwritten |= self.is_within(range);
    }

    /// Whether a call that overwrites all of the marked range has begun.
    pub(super) fn is_overwritten(&self) -> bool {
        self.is_overwritten
    }

    /// Whether the mark has ended, because the hook that made the failed call has returned an error.
    pub(super) fn has_ended(&self) -> bool {
        self.returned.load(Ordering::Relaxed)
    }

    /// Whether a write of the range `written` covers all of the marked range.
    pub(super) fn is_within(&self, written: MemoryRange) -> bool {
        written.address <= self.range.address && self.range.end() <= written.end()
    }

    /// Returns an error for a use of the range `used`, if the use overlaps the marked range.
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

/// Ends the marks that the hook on this thread has made. The caller calls this when the hook has returned an error.
#[cold]
pub(crate) fn hook_has_failed() {
    if Asker::has_failure() {
        // `try_with` fails only while the thread ends, and no hook runs then.
        let _ = RETURNED.try_with(|returned| returned.borrow().store(true, Ordering::Relaxed));
    }
}
