//! A small set of points, almost always empty or with one point.
//!
//! A point in a set may have a mark: the number of a stream that has waited for the point. Streams keep clocks of the points
//! that they have waited for (`stream::seen`), and a clock forgets some. A mark is dropped only together with its point.
//!
//! Marks are in a list of their own, since few points have one; `memory::shape` has the number of cache misses that this
//! saves. A point is written field by field into its final place, which saves 28 instructions for a task, 14 ns in a chain
//! of 100. Both numbers are measured by `overhead -- chains`.

use std::hint::cold_path;

use crate::stream::Point;

/// A set of points, at most one for each stream. The latest point has a field of its own: a single point needs no list.
///
/// The fields that few sets use are in a box, so that a set is small. A set is a part of a block, and a block is mostly read
/// from main memory.
#[derive(Debug, Default)]
pub(super) struct PointSet {
    latest: Option<Point>,
    /// The fields that few sets use. The box is allocated at the first use, and stays allocated.
    others: Option<Box<Others>>,
}

/// The fields of a set that a single point does not need.
#[derive(Debug, Default)]
struct Others {
    /// The points except the latest one, in the order in which they were added. Empty if the set is empty.
    points: Vec<MarkedPoint>,
    /// The mark of the latest point: the number of a stream that has waited for that point.
    latest_waited_by: Option<u32>,
}

/// A point, with its mark: the number of a stream that has waited for the point. The stream's clock may forget that wait,
/// but the mark stays. So a later use on that stream can replace the use at this point.
#[derive(Debug, Clone, Copy)]
struct MarkedPoint {
    point: Point,
    waited_by: Option<u32>,
}

impl PointSet {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.latest.is_none()
    }

    /// The point, if the set has exactly one point.
    pub(super) fn only(&self) -> Option<Point> {
        if self.others().is_empty() { self.latest } else { None }
    }

    fn others(&self) -> &[MarkedPoint] {
        self.others.as_ref().map_or(&[], |others| others.points.as_slice())
    }

    /// The latest point, with its mark.
    fn marked_latest(&self) -> Option<MarkedPoint> {
        let waited_by = self.others.as_ref().and_then(|others| others.latest_waited_by);
        self.latest.map(|point| MarkedPoint { point, waited_by })
    }

    /// Sets the latest point.
    fn set_latest(&mut self, latest: Option<MarkedPoint>) {
        self.latest = latest.map(|latest| latest.point);
        if let Some(others) = &mut self.others {
            others.latest_waited_by = latest.and_then(|latest| latest.waited_by);
        }
    }

    /// Removes all points.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.set_latest(None);
        if let Some(others) = &mut self.others {
            others.points.clear();
        }
    }

    /// Adds a point, and removes an earlier point on the same stream.
    #[inline(always)]
    pub(super) fn replace(&mut self, point: Point) {
        self.replace_by(point.stream(), || point);
    }

    /// Calls [`replace`](Self::replace) with the point that the function `point` returns. `stream` is that point's stream.
    #[inline(always)]
    pub(super) fn replace_by(&mut self, stream: u32, point: impl Fn() -> Point) {
        // Fast path: the set has no list. This code is inlined into the callers, so that `point` writes the point into `latest`
        // directly. To copy a whole point right after its fields were written would stall the processor until the fields have
        // reached the cache.
        let is_only = self.latest.is_none_or(|latest| latest.stream() == stream);
        if is_only && self.others.is_none() {
            self.latest = Some(point());
        } else {
            cold_path();
            self.add(point());
        }
    }

    #[inline(never)]
    fn add(&mut self, point: Point) {
        if let Some(latest) = self.latest
            && latest.stream() != point.stream()
        {
            let latest = self.marked_latest();
            let others = &mut self.others.get_or_insert_default().points;
            others.retain(|other| other.point.stream() != point.stream());
            others.extend(latest);
        }
        self.set_latest(Some(MarkedPoint { point, waited_by: None }));
    }

    /// Removes the points that `stream` comes after: the points that `stream` has marked, and the points for which
    /// `is_before` returns `true`.
    pub(super) fn forget(&mut self, stream: u32, is_before: impl Fn(Point) -> bool) {
        let keep =
            |marked: &MarkedPoint| marked.waited_by != Some(stream) && !is_before(marked.point);
        let is_latest_kept = self.marked_latest().as_ref().is_some_and(keep);
        let next = self.others.as_deref_mut().and_then(|others| {
            others.points.retain(keep);
            if is_latest_kept { None } else { others.points.pop() }
        });
        if !is_latest_kept {
            self.set_latest(next);
        }
    }

    /// Marks these points as waited for by `stream`. A point that is not in the set is ignored.
    pub(super) fn mark(&mut self, points: &[Point], stream: u32) {
        if self.latest.is_some_and(|latest| points.contains(&latest)) {
            self.others.get_or_insert_default().latest_waited_by = Some(stream);
        }
        let others = self.others.iter_mut().flat_map(|others| &mut others.points);
        others
            .filter(|marked| points.contains(&marked.point))
            .for_each(|marked| marked.waited_by = Some(stream));
    }

    /// The points that `stream` has not marked as waited for, the latest first.
    pub(super) fn not_waited_for_by(&self, stream: u32) -> impl Iterator<Item = Point> {
        let all = self.marked_latest().into_iter().chain(self.others().iter().rev().copied());
        all.filter(move |marked| marked.waited_by != Some(stream)).map(|marked| marked.point)
    }

    /// Visits each point, the latest first, until `visit` returns an error.
    #[inline(always)]
    pub(super) fn try_for_each<E>(
        &self,
        mut visit: impl FnMut(Point) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(latest) = self.latest else { return Ok(()) };
        visit(latest)?;
        // Fast path: the set has no list. A chain of iterators over `latest` and the list would cost more than most visits.
        if self.others.is_none() { Ok(()) } else { self.visit_others(&mut visit) }
    }

    #[inline(never)]
    fn visit_others<E>(&self, visit: &mut dyn FnMut(Point) -> Result<(), E>) -> Result<(), E> {
        self.others().iter().rev().try_for_each(|other| visit(other.point))
    }

    /// All points, the latest first.
    #[inline]
    pub(super) fn latest_first(&self) -> impl Iterator<Item = Point> {
        self.latest.into_iter().chain(self.others().iter().rev().map(|marked| marked.point))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::{Platform, device};

    #[test]
    fn the_latest_point_comes_first_and_each_stream_has_one() {
        let platform = Platform::host().devices(3).build().unwrap();
        let record = |index| platform.default_stream(device(index)).unwrap().record().unwrap();
        let mut points = PointSet::default();
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

    /// When a later point is added, the mark of the former latest point moves with that point, and does not become a mark
    /// of the later one.
    #[test]
    fn a_mark_stays_with_its_point() {
        let platform = Platform::host().devices(2).build().unwrap();
        let record = |index| platform.default_stream(device(index)).unwrap().record().unwrap();
        let [a, b] = [0, 1].map(record);
        let mut points = PointSet::default();
        points.replace(a);
        points.mark(&[a], 7);
        assert_eq!(points.not_waited_for_by(7).next(), None);
        points.replace(b);
        assert_eq!(points.not_waited_for_by(7).collect::<Vec<_>>(), [b]);
        points.mark(&[b], 8);
        points.forget(8, |_| false);
        assert_eq!(points.only(), Some(a));
        assert_eq!(points.not_waited_for_by(7).next(), None);
        let later = record(0);
        points.replace(later);
        assert_eq!(points.not_waited_for_by(7).collect::<Vec<_>>(), [later]);
        points.mark(&[later], 7);
        points.clear();
        points.replace(b);
        assert_eq!(points.not_waited_for_by(7).collect::<Vec<_>>(), [b]);
    }
}
