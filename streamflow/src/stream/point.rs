//! Points: a point is a place on a stream, given by the number of a record.

use std::num::NonZero;

/// The number of a platform within the process. It is never zero, so that an `Option<Point>` is as small as a [`Point`].
pub(crate) type PlatformNumber = NonZero<u32>;

/// A place on a stream, given by the number of a record. The point covers all work that was queued before that record.
///
/// A point is plain data: it can be copied, stored and sent. It has a meaning as long as its platform exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// The platform of the stream. Streams of different platforms can't be ordered.
    pub(super) platform: PlatformNumber,
    pub(super) stream: u32,
    pub(super) record: u64,
}

impl Point {
    /// The stream's number within its platform.
    pub const fn stream(self) -> u32 {
        self.stream
    }

    /// The number of the record. A stream counts its records from 1.
    pub const fn record(self) -> u64 {
        self.record
    }
}
