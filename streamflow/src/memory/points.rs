//! A few points of one kind, nearly always none or one.

use crate::stream::Point;

/// Points, the latest apart, so that one takes no list.
#[derive(Debug, Default)]
pub(super) struct Points {
    latest: Option<Point>,
    /// The others, in the order in which they were added. None without a latest.
    earlier: Earlier,
}

/// Made when it is first needed, and kept. Boxed, so that who has none is small: blocks are looked at when nothing of
/// ours is in the cache.
#[allow(clippy::box_collection, reason = "a third of the size")]
type Earlier = Option<Box<Vec<Point>>>;

impl Points {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.latest.is_none()
    }

    /// The only one; `None` for none or several.
    pub(super) fn only(&self) -> Option<Point> {
        if self.earlier().is_empty() { self.latest } else { None }
    }

    fn earlier(&self) -> &[Point] {
        self.earlier.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Keeps none.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.latest = None;
        if let Some(earlier) = &mut self.earlier {
            earlier.clear();
        }
    }

    /// Adds one, in place of an earlier one on the same stream.
    #[inline]
    pub(super) fn replace(&mut self, point: Point) {
        match self.latest {
            Some(latest) if latest.stream() != point.stream() => {
                if let Some(earlier) = &mut self.earlier {
                    earlier.retain(|earlier| earlier.stream() != point.stream());
                }
                self.latest = Some(point);
                self.earlier.get_or_insert_default().push(latest);
            }
            _ => self.latest = Some(point),
        }
    }

    /// Keeps those of which `keep` says so.
    pub(super) fn retain(&mut self, keep: impl Fn(&Point) -> bool) {
        let earlier = self.earlier.as_deref_mut();
        let is_latest_kept = self.latest.as_ref().is_some_and(&keep);
        let next = earlier.and_then(|earlier| {
            earlier.retain(keep);
            if is_latest_kept { None } else { earlier.pop() }
        });
        if !is_latest_kept {
            self.latest = next;
        }
    }

    /// Visits each, the latest first, until an error.
    #[inline(always)]
    pub(super) fn try_for_each<E>(
        &self,
        mut visit: impl FnMut(Point) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(latest) = self.latest else { return Ok(()) };
        visit(latest)?;
        // Nearly always none. Not as a chain of iterators, which costs more than most of these lists.
        if self.earlier.is_none() { Ok(()) } else { self.visit_earlier(&mut visit) }
    }

    #[inline(never)]
    fn visit_earlier<E>(&self, visit: &mut dyn FnMut(Point) -> Result<(), E>) -> Result<(), E> {
        self.earlier().iter().rev().try_for_each(|point| visit(*point))
    }

    /// All of them, the latest first.
    #[inline]
    pub(super) fn latest_first(&self) -> impl Iterator<Item = Point> {
        self.latest.into_iter().chain(self.earlier().iter().rev().copied())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::{Platform, device};

    #[test]
    fn the_latest_comes_first_and_once_for_each_stream() {
        let platform = Platform::host().devices(3).build().unwrap();
        let record = |index| platform.default_stream(device(index)).unwrap().record().unwrap();
        let mut points = Points::default();
        assert!(points.is_empty() && points.only().is_none());
        let [a, b, c] = [0, 1, 2].map(record);
        points.replace(a);
        assert_eq!(points.only(), Some(a));
        [b, c].into_iter().for_each(|point| points.replace(point));
        let later = record(0);
        points.replace(later);
        assert_eq!(points.latest_first().collect::<Vec<_>>(), [later, c, b]);
        assert_eq!(points.only(), None);
        points.retain(|point| *point != later && *point != b);
        assert_eq!(points.only(), Some(c));
        points.clear();
        assert!(points.is_empty() && points.latest_first().next().is_none());
    }
}
