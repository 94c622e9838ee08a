//! The order of points as far as a stream knows it by itself: the part of [`order`](super::order) that calls no driver.

use super::Point;

/// A stream that knows which points its work comes after.
pub(crate) trait Ordered {
    /// The stream's number within its platform.
    fn id(&self) -> u32;

    /// Whether work queued here now is already ordered after that record of a stream.
    fn comes_after(&self, stream: u32, record: u64) -> bool;

    /// The point that covers all work queued before this call. By rule 1, to be taken *after* the work was queued.
    fn open_point(&self) -> Point;

    /// Whether work queued here now is already ordered after `point`, a point of this platform.
    #[inline]
    fn implies(&self, point: Point) -> bool {
        self.comes_after(point.stream, point.record)
    }
}
