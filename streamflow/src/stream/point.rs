//! Points: places on a stream, by the number of a record.

use std::num::NonZero;

/// Distinguishes the platforms of a process. Not zero, so that an `Option<Point>` is as small as a [`Point`].
pub(crate) type PlatformNumber = NonZero<u32>;

/// A place on a stream, by the number of a record: it covers everything that was queued before that record.
///
/// Plain data: it can be copied, kept and sent, and stays meaningful as long as its platform lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// The stream's platform: streams of different platforms can't be ordered.
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
