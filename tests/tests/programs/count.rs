//! How much was done.

use std::sync::atomic::{AtomicU64, Ordering};

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Something was done.
pub(crate) fn called() {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

/// How many calls were made.
pub(crate) fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}
