//! The numbers of allocations that streamflow has adopted from other code, or has lent to other code.

use crate::sync::{AtomicU64, Ordering, statics};

/// The numbers of allocations that streamflow and other code have exchanged in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForeignCounts {
    /// Allocations of other code that streamflow has not given back yet.
    pub adopted: u64,
    /// Allocations of streamflow that other code has, or that it has returned and the pool has not taken back yet; also
    /// copies on the host that were made for other code and that it has not freed yet.
    pub lent: u64,
    /// Allocations that will never be given back or taken back, because the program ends or a device has failed.
    pub leaked: u64,
}

/// A field of [`ForeignCounts`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Count {
    Adopted,
    Lent,
    Leaked,
}

statics! {
    static COUNTS: [AtomicU64; 3] = [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)];
}

fn counter(count: Count) -> &'static AtomicU64 {
    &COUNTS[count as usize]
}

pub(crate) fn add(count: Count) {
    counter(count).fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn remove(count: Count) {
    // The order is `Release`, so that a thread that reads the count with `Acquire` sees everything that this thread has done
    // with the memory before.
    counter(count).fetch_sub(1, Ordering::Release);
}

/// The current counts of this process.
pub fn foreign_counts() -> ForeignCounts {
    let [adopted, lent, leaked] =
        [Count::Adopted, Count::Lent, Count::Leaked].map(|it| counter(it).load(Ordering::Acquire));
    ForeignCounts { adopted, lent, leaked }
}
