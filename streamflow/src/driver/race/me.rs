//! The calling thread: its number, and where its next call comes from.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::driver::note::SourceLocation;

/// Numbers are never used again.
static THREADS: AtomicU64 = AtomicU64::new(1);

/// No thread's number.
pub(super) const NOBODY: u64 = 0;

/// No thread has this number, not even one without a number.
pub(super) const NEVER: u64 = u64::MAX;

thread_local! {
    // Without a destructor, so that it is found without a test and also while the thread ends.
    static ME: Me = const {
        Me {
            number: Cell::new(NOBODY),
            alone: Cell::new(NOBODY),
            place: Cell::new((0, 0)),
            location: Cell::new(None),
        }
    };
    static ALIVE: Alive = Alive(Arc::new(AtomicBool::new(true)));
}

struct Me {
    number: Cell<u64>,
    /// The number, until the thread's destructors run: from then on another thread may produce for a
    /// journal that was this one's.
    alone: Cell<u64>,
    /// A checker, and the thread's index there.
    place: Cell<(u64, u32)>,
    location: Cell<Option<SourceLocation>>,
}

/// Says, in its destructor, that the thread is gone.
struct Alive(Arc<AtomicBool>);

impl Drop for Alive {
    fn drop(&mut self) {
        ME.with(|me| me.alone.set(NOBODY));
        // Whoever reads it sees all that the thread has published before.
        self.0.store(false, Ordering::Release);
    }
}

/// The thread's number if it may write a journal that it owns.
#[inline]
pub(super) fn alone() -> u64 {
    ME.with(|me| me.alone.get())
}

/// The thread's number, and whether it is alive. Not for the hot path.
pub(super) fn number() -> (u64, Arc<AtomicBool>) {
    // A thread whose destructors run is as good as gone: its index is given to the next one.
    let alive = ALIVE
        .try_with(|alive| alive.0.clone())
        .unwrap_or_else(|_| Arc::new(AtomicBool::new(false)));
    ME.with(|me| {
        if me.number.get() == NOBODY {
            me.number.set(THREADS.fetch_add(1, Ordering::Relaxed));
            me.alone.set(if alive.load(Ordering::Relaxed) { me.number.get() } else { NOBODY });
        }
        (me.number.get(), alive)
    })
}

/// The thread's number and its index in a checker, if that was the one it used last.
#[inline]
pub(super) fn place(checker: u64) -> Option<(u64, u32)> {
    ME.with(|me| {
        let (known, index) = me.place.get();
        (known == checker).then_some((me.number.get(), index))
    })
}

pub(super) fn set_place(checker: u64, index: u32) {
    ME.with(|me| me.place.set((checker, index)));
}

/// Says where the next call comes from.
pub(super) fn set_location(location: SourceLocation) {
    ME.with(|me| me.location.set(Some(location)));
}

/// Where this call comes from, if it was said.
#[inline]
pub(super) fn take_location() -> Option<SourceLocation> {
    ME.with(|me| me.location.take())
}
