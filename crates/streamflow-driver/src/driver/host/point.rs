//! Points: places in streams, named by the number of a submission.

/// A point in a stream, named by the number of the submission that it is at.
///
/// A stream executes in order, so one comparison of numbers shows whether a point is reached. The record of an event is a
/// point, and a wait copies it: a later record of the event can't change an earlier wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) stream: StreamKey,
    pub(super) number: u64,
}

/// A stream, named by its slot and by the slot's generation at the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamKey {
    pub(super) index: u32,
    pub(super) generation: u32,
}
