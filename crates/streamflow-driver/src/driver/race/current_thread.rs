//! The calling thread: its number, its index in a checker, and the source location of its next call.
#![allow(clippy::disallowed_methods, reason = "`CURRENT` has no destructor")]

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::driver::note::SourceLocation;
use crate::sync::{AtomicBool, Ordering, thread_local};

/// The number of the next thread. Numbers are not reused.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

/// The number of a thread that has none yet, or that is running its destructors.
pub(super) const NO_NUMBER: u64 = 0;

/// The value of a journal's owner while no thread owns it. No thread has this number, and [`NO_NUMBER`] is another one.
pub(super) const NO_OWNER: u64 = u64::MAX;

thread_local! {
    // `CurrentThread` has no destructor, so accesses to it need no check, and still succeed while the thread ends.
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
    /// The number of the thread while it may write a journal. [`NO_NUMBER`] once the thread's destructors run: another
    /// thread may then become the owner of its journal.
    journal_writer: Cell<u64>,
    /// The number of the checker that the thread used last, and the index of the thread in that checker.
    checker_index: Cell<(u64, u32)>,
    location: Cell<Option<SourceLocation>>,
}

/// A flag that is true while the thread runs. The destructor clears it when the thread ends.
struct Alive(Arc<AtomicBool>);

impl Drop for Alive {
    fn drop(&mut self) {
        CURRENT.with(|current| current.journal_writer.set(NO_NUMBER));
        // Release: a thread that reads `false` with acquire also sees all lines that this thread has published.
        self.0.store(false, Ordering::Release);
    }
}

/// The number of the calling thread if it may write a journal that it owns, else [`NO_NUMBER`].
#[inline]
pub(super) fn journal_writer() -> u64 {
    CURRENT.with(|current| current.journal_writer.get())
}

/// The number of the calling thread, and a flag that is true until the thread ends. Too slow for the hot path.
pub(super) fn number() -> (u64, Arc<AtomicBool>) {
    // If the flag's destructor has run already, the thread counts as ended, and the next thread may get its index.
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

/// The number of the calling thread, and its index in the checker with the number `checker`. `None` if the thread has used
/// another checker since.
#[inline]
pub(super) fn checker_index(checker: u64) -> Option<(u64, u32)> {
    CURRENT.with(|current| {
        let (known, index) = current.checker_index.get();
        (known == checker).then_some((current.number.get(), index))
    })
}

/// Stores the index of the calling thread in the checker with the number `checker`, for [`checker_index`].
pub(super) fn set_checker_index(checker: u64, index: u32) {
    CURRENT.with(|current| current.checker_index.set((checker, index)));
}

/// Sets the source location of the calling thread's next call.
pub(super) fn set_location(location: SourceLocation) {
    CURRENT.with(|current| current.location.set(Some(location)));
}

/// Returns the source location that was set for this call, and clears it.
#[inline]
pub(super) fn take_location() -> Option<SourceLocation> {
    CURRENT.with(|current| current.location.take())
}
