//! Counts the heap allocations of the calling thread, or of all threads.
//!
//! ```no_run
//! use streamflow_tests::allocations::{Counting, count};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let (allocations, _) = count(|| vec![1, 2, 3].len());
//! assert_eq!(allocations, 1);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

thread_local! {
    // A `const` without a destructor: reading the counter never allocates, and works while the thread exits.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// How many allocations all threads have made.
static ALL: AtomicU64 = AtomicU64::new(0);

/// The bytes that all threads have allocated and not freed.
static LIVE: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, with a count of its calls. A test binary sets it as its global allocator.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counting;

/// Runs a closure and counts the allocations and reallocations of the calling thread in it.
///
/// # Panics
/// Without [`Counting`] as the global allocator, since every count would be 0.
pub fn count<T>(f: impl FnOnce() -> T) -> (u64, T) {
    let before = COUNT.get();
    drop(std::hint::black_box(Box::new(0_u8)));
    let start = COUNT.get();
    assert!(start > before, "`Counting` is not this binary's global allocator");
    let value = f();
    (COUNT.get() - start, value)
}

/// The number of allocations of the calling thread so far, to compare two moments of one run. Check with [`count`] that
/// [`Counting`] is the global allocator.
pub fn so_far() -> u64 {
    COUNT.get()
}

/// The number of allocations of all threads so far, to compare two moments of a run on several threads. Nothing else may
/// run in the process meanwhile. Check with [`count`] that [`Counting`] is the global allocator.
pub fn so_far_of_all() -> u64 {
    ALL.load(Ordering::Relaxed)
}

/// The bytes that all threads have allocated and not freed, to compare two moments of one process. Check with [`count`]
/// that [`Counting`] is the global allocator.
pub fn live_bytes() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

fn note(more: usize, less: usize) {
    let bytes = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
    LIVE.fetch_add(bytes(more) - bytes(less), Ordering::Relaxed);
    if more > 0 {
        COUNT.set(COUNT.get() + 1);
        ALL.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every method passes its arguments to the system's allocator, under the same contract. The counting itself
// touches only a thread-local integer and atomic integers.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller keeps the contract of this method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller keeps the contract of this method.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, layout.size());
        // SAFETY: the caller keeps the contract of this method.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: the caller keeps the contract of this method.
        unsafe { System.dealloc(pointer, layout) }
    }
}
