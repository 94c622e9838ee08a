//! Stamps: they tell apart the objects that had one handle after the other, so that a stale handle is noticed although
//! the driver has given it out again.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::driver::{RawEvent, RawStream};

/// The next stamp. Stamps are unique within the process, so that a checker above another one keeps its stamps.
static STAMPS: AtomicU32 = AtomicU32::new(1);

fn next(stamp: u32) -> u32 {
    if stamp == 0 { STAMPS.fetch_add(1, Ordering::Relaxed) } else { stamp }
}

/// The handle of a stream that was just made.
pub(super) fn stamped_stream(raw: RawStream) -> RawStream {
    raw.stamped(next(raw.stamp()))
}

/// The handle of an event that was just made.
pub(super) fn stamped_event(raw: RawEvent) -> RawEvent {
    raw.stamped(next(raw.stamp()))
}
