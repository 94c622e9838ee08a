//! The place of a segment in the trace that it follows, and the waits beside the trace.

use crate::driver::{RawEvent, RawStream};

/// The followed lane, and the next call of its trace. The calls before that one are held back.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    pub(super) lane: u32,
    pub(super) place: u32,
    /// How many waits for records from outside of the segment are held back: they are the first ones in `Lane::outside`.
    pub(super) outside: u32,
}

/// A wait for a record from outside of the segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outside {
    /// The number of calls of the segment before the wait.
    pub(super) place: u32,
    pub(super) node: u32,
    pub(super) stream: RawStream,
    pub(super) event: RawEvent,
    /// The event's place in the list of events.
    pub(super) at: u32,
    /// The launch that contained the awaited record when the wait was made, and the launch's lane; launch 0 if the record was
    /// sent. The segment may record the event again later.
    pub(super) launched: (u64, u32),
}
