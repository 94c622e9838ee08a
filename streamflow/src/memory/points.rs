//! A few points of one kind, nearly always none or one.

use crate::stream::Point;

/// Points, one for each stream, the latest apart, so that one takes no list.
#[derive(Debug, Default)]
pub(super) struct Points {
    latest: Option<Kept>,
    /// The others, in the order in which they were added. None without a latest.
    earlier: Earlier,
}

/// A point, and a stream that has waited for it. Streams remember only some of their waits; what a use must be forgotten
/// for is remembered here.
#[derive(Debug, Clone, Copy)]
struct Kept {
    point: Point,
    waited: Option<u32>,
}

/// Made when it is first needed, and kept. Boxed, so that who has none is small: blocks are looked at when nothing of
/// ours is in the cache.
#[allow(clippy::box_collection, reason = "a third of the size")]
type Earlier = Option<Box<Vec<Kept>>>;

impl Points {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.latest.is_none()
    }

    /// The only one; `None` for none or several.
    pub(super) fn only(&self) -> Option<Point> {
        if self.earlier().is_empty() { self.latest.map(|kept| kept.point) } else { None }
    }

    fn earlier(&self) -> &[Kept] {
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
        let new = Kept { point, waited: None };
        match self.latest {
            Some(latest) if latest.point.stream() != point.stream() => {
                if let Some(earlier) = &mut self.earlier {
                    earlier.retain(|earlier| earlier.point.stream() != point.stream());
                }
                self.latest = Some(new);
                self.earlier.get_or_insert_default().push(latest);
            }
            _ => self.latest = Some(new),
        }
    }

    /// Forgets those that `stream` has waited for: which are marked so, or of which `is_before` says it.
    pub(super) fn forget(&mut self, stream: u32, is_before: impl Fn(Point) -> bool) {
        let keep = |kept: &Kept| kept.waited != Some(stream) && !is_before(kept.point);
        let earlier = self.earlier.as_deref_mut();
        let is_latest_kept = self.latest.as_ref().is_some_and(keep);
        let next = earlier.and_then(|earlier| {
            earlier.retain(keep);
            if is_latest_kept { None } else { earlier.pop() }
        });
        if !is_latest_kept {
            self.latest = next;
        }
    }

    /// Marks those of these points that are still there: `stream` has waited for them.
    pub(super) fn mark(&mut self, points: &[Point], stream: u32) {
        let earlier = self.earlier.as_deref_mut().map_or(&mut [][..], Vec::as_mut_slice);
        let all = self.latest.iter_mut().chain(earlier);
        all.filter(|kept| points.contains(&kept.point)).for_each(|kept| kept.waited = Some(stream));
    }

    /// Those that `stream` is not marked to have waited for, the latest first.
    pub(super) fn not_waited_for_by(&self, stream: u32) -> impl Iterator<Item = Point> {
        let all = self.latest.iter().chain(self.earlier().iter().rev());
        all.filter(move |kept| kept.waited != Some(stream)).map(|kept| kept.point)
    }

    /// Visits each, the latest first, until an error.
    #[inline(always)]
    pub(super) fn try_for_each<E>(
        &self,
        mut visit: impl FnMut(Point) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(latest) = self.latest else { return Ok(()) };
        visit(latest.point)?;
        // Nearly always none. Not as a chain of iterators, which costs more than most of these lists.
        if self.earlier.is_none() { Ok(()) } else { self.visit_earlier(&mut visit) }
    }

    #[inline(never)]
    fn visit_earlier<E>(&self, visit: &mut dyn FnMut(Point) -> Result<(), E>) -> Result<(), E> {
        self.earlier().iter().rev().try_for_each(|kept| visit(kept.point))
    }

    /// All of them, the latest first.
    #[inline]
    pub(super) fn latest_first(&self) -> impl Iterator<Item = Point> {
        self.latest.iter().chain(self.earlier().iter().rev()).map(|kept| kept.point)
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
        points.mark(&[b], 7);
        assert_eq!(points.not_waited_for_by(7).collect::<Vec<_>>(), [later, c]);
        assert_eq!(points.not_waited_for_by(8).count(), 3);
        points.forget(7, |point| point == later);
        assert_eq!(points.only(), Some(c));
        points.clear();
        assert!(points.is_empty() && points.latest_first().next().is_none());
    }
}
