//! Points in streams.

/// A point in a stream: the operation with this number.
///
/// Streams are in order, so one comparison shows whether the operation is complete. An event's record is a
/// point, and a wait copies it: a later record of the event can't change an earlier wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) stream: StreamKey,
    pub(super) number: u64,
}

/// A stream's slot, and the stream's generation in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamKey {
    pub(super) index: u32,
    pub(super) generation: u32,
}
