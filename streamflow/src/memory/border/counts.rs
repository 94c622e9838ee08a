//! How much memory is on the other side of the border.

use crate::sync::{AtomicU64, Ordering, statics};

/// How many allocations have crossed the border between streamflow and other code, in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForeignCounts {
    /// Memory of other code that was not given back yet.
    pub adopted: u64,
    /// Memory of streamflow that other code has, or that was not taken back yet; also copies on the host that were made for
    /// other code.
    pub lent: u64,
    /// Memory that will never be given back or taken back, since the program ends or a device has failed.
    pub leaked: u64,
}

/// A count.
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
    // Everything that was done with the memory is visible to a thread that reads the count.
    counter(count).fetch_sub(1, Ordering::Release);
}

/// The counts of this process.
pub fn foreign_counts() -> ForeignCounts {
    let [adopted, lent, leaked] =
        [Count::Adopted, Count::Lent, Count::Leaked].map(|it| counter(it).load(Ordering::Acquire));
    ForeignCounts { adopted, lent, leaked }
}
