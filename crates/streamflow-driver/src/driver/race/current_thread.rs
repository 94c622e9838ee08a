//! The calling thread: its number, its index in a checker, and the source location of its next call.
#![allow(clippy::disallowed_methods, reason = "`CURRENT` has no destructor")]

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::driver::note::SourceLocation;
use crate::sync::{AtomicBool, Ordering, thread_local};

/// The next thread's number. Numbers are never reused.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

/// The number of a thread that has none yet, or whose destructors run.
pub(super) const NO_NUMBER: u64 = 0;

/// The number in place of the owner's while no thread owns a journal: neither a thread's number nor [`NO_NUMBER`].
pub(super) const NO_OWNER: u64 = u64::MAX;

thread_local! {
    // `CurrentThread` has no destructor. So its accesses need no check, and work while the thread ends.
    static CURRENT: CurrentThread = const {
        CurrentThread {
            number: Cell::new(NO_NUMBER),
            journal_writer: Cell::new(NO_NUMBER),
            checker_index: Cell::new((0, 0)),
            location: Cell::new(None),
        }
    };
    static ALIVE: Alive = Alive(Arc::new(AtomicBool::new(true)));
}

struct CurrentThread {
    number: Cell<u64>,
    /// The thread's number, or [`NO_NUMBER`] once its destructors run: another thread may then become the owner of its
    /// journal.
    journal_writer: Cell<u64>,
    /// The number of the checker that the thread used last, and the thread's index in that checker.
    checker_index: Cell<(u64, u32)>,
    location: Cell<Option<SourceLocation>>,
}

/// A flag that is true while the thread runs. Its destructor clears it when the thread ends.
struct Alive(Arc<AtomicBool>);

impl Drop for Alive {
    fn drop(&mut self) {
        CURRENT.with(|current| current.journal_writer.set(NO_NUMBER));
        // Release: a thread that reads `false` (with acquire) also sees all that this thread has published.
        self.0.store(false, Ordering::Release);
    }
}

/// The thread's number if it may write a journal that it owns, else [`NO_NUMBER`].
#[inline]
pub(super) fn journal_writer() -> u64 {
    CURRENT.with(|current| current.journal_writer.get())
}

/// The thread's number, and a flag that says whether the thread is alive. Too slow for the hot path.
pub(super) fn number() -> (u64, Arc<AtomicBool>) {
    // A thread counts as ended once its destructors run: the next thread gets its index.
    let alive = ALIVE
        .try_with(|alive| alive.0.clone())
        .unwrap_or_else(|_| Arc::new(AtomicBool::new(false)));
    CURRENT.with(|current| {
        if current.number.get() == NO_NUMBER {
            current.number.set(NEXT_NUMBER.fetch_add(1, Ordering::Relaxed));
            let may_write = alive.load(Ordering::Relaxed);
            current.journal_writer.set(if may_write { current.number.get() } else { NO_NUMBER });
        }
        (current.number.get(), alive)
    })
}

/// The thread's number and its index in `checker`, if the thread used no other checker since.
#[inline]
pub(super) fn checker_index(checker: u64) -> Option<(u64, u32)> {
    CURRENT.with(|current| {
        let (known, index) = current.checker_index.get();
        (known == checker).then_some((current.number.get(), index))
    })
}

/// Remembers the thread's index in the checker with this number, for [`checker_index`].
pub(super) fn set_checker_index(checker: u64, index: u32) {
    CURRENT.with(|current| current.checker_index.set((checker, index)));
}

/// Sets the source location of the thread's next call.
pub(super) fn set_location(location: SourceLocation) {
    CURRENT.with(|current| current.location.set(Some(location)));
}

/// Takes the source location that was set for this call.
#[inline]
pub(super) fn take_location() -> Option<SourceLocation> {
    CURRENT.with(|current| current.location.take())
}
