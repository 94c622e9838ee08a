//! The cursor: how far a segment has followed a lane's trace, and how many waits for records from outside of the segment it has
//! made.

use crate::driver::{RawEvent, RawStream};

/// The followed lane, and the index of the next call in its trace. The calls before that index are held back.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    pub(super) lane: u32,
    pub(super) place: u32,
    /// The number of waits for records from outside of the segment that are held back. They are the first ones in
    /// `Lane::outside`.
    pub(super) outside: u32,
}

/// A wait for a record from outside of the segment: no call of the segment has made that record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outside {
    /// The number of calls that the segment had made before the wait.
    pub(super) place: u32,
    pub(super) node: u32,
    pub(super) stream: RawStream,
    pub(super) event: RawEvent,
    /// The index of the event's entry in `State::events`.
    pub(super) at: u32,
    /// The number of the launch that contained the awaited record when the wait was made, and the index of that launch's
    /// lane; number 0 if the record was sent. A later record of the event in the segment does not change this.
    pub(super) launched: (u64, u32),
}
