//! Places in streams.

/// A place in a stream: the operation with this number.
///
/// Streams are in order, so whether the operation is complete is one comparison. An event's record
/// is nothing but such a place; a later record elsewhere can't change an earlier wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) stream: StreamKey,
    pub(super) number: u64,
}

/// A stream's slot, and which of the slot's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamKey {
    pub(super) index: u32,
    pub(super) generation: u32,
}
