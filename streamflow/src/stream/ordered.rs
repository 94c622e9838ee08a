//! The points that a stream comes after, as far as the stream itself shows that: the part of [`order`](super::order) that
//! calls no driver.

use super::Point;

/// A stream that can tell which points its work comes after.
pub(crate) trait Ordered {
    /// The stream's number within its platform.
    fn id(&self) -> u32;

    /// Whether work that is queued on this stream now is already ordered after record `record` of `stream`.
    fn comes_after(&self, stream: u32, record: u64) -> bool;

    /// Returns the point that covers all work queued before this call. By rule 1, a caller takes it *after* it has queued
    /// the work.
    fn open_point(&self) -> Point;

    /// Whether work that is queued on this stream now is already ordered after `point`, a point of this platform.
    #[inline]
    fn implies(&self, point: Point) -> bool {
        self.comes_after(point.stream, point.record)
    }
}
