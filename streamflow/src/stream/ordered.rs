//! A trait for a stream that knows which points its own work comes after. This part of [`order`](super::order) calls no driver.

use super::Point;

/// A stream that knows which points its work comes after.
pub(crate) trait Ordered {
    /// The stream's number within its platform.
    fn id(&self) -> u32;

    /// Whether work that is queued on this stream now comes after record number `record` of `stream`, by waits made before.
    fn comes_after(&self, stream: u32, record: u64) -> bool;

    /// Returns the point that covers all work queued before this call. By rule 1 of [`order`](super::order), a caller takes the
    /// point *after* it has queued the work.
    fn open_point(&self) -> Point;

    /// Whether work that is queued on this stream now comes after `point`, a point of this platform, by waits made before.
    #[inline]
    fn implies(&self, point: Point) -> bool {
        self.comes_after(point.stream, point.record)
    }
}
