//! Moments in the work of streams.

use std::num::NonZero;

/// Tells platforms apart within a process. Not zero, so that a point that there may not be is as small
/// as one.
pub(crate) type PlatformNumber = NonZero<u32>;

/// A moment in a stream's work: everything that was queued before its `epoch`th record.
///
/// Plain data: it can be copied, kept and sent, and stays meaningful as long as its platform lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// Which platform: streams of different platforms can't be ordered.
    pub(super) platform: PlatformNumber,
    pub(super) stream: u32,
    pub(super) epoch: u64,
}

impl Point {
    /// The stream's number within its platform.
    pub const fn stream(self) -> u32 {
        self.stream
    }

    /// The number of the record, from 1.
    pub const fn epoch(self) -> u64 {
        self.epoch
    }
}
