//! Counts the calls of all programs.

use std::sync::atomic::{AtomicU64, Ordering};

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Counts one call.
pub(crate) fn called() {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of calls so far.
pub(crate) fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}
