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

    pub(super) fn len(&self) -> usize {
        self.earlier().len() + usize::from(self.latest.is_some())
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

    /// Adds one, which is the latest now.
    #[inline]
    pub(super) fn push(&mut self, point: Point) {
        if let Some(before) = self.latest.replace(point) {
            self.earlier.get_or_insert_default().push(before);
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
                self.push(point);
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

    /// Whether `holds` says so of each.
    #[inline(always)]
    pub(super) fn all(&self, holds: impl Fn(Point) -> bool) -> bool {
        self.try_for_each(|point| if holds(point) { Ok(()) } else { Err(()) }).is_ok()
    }

    /// Visits each, the latest first, until an error.
    #[inline(always)]
    pub(super) fn try_for_each<E>(&self, visit: impl Fn(Point) -> Result<(), E>) -> Result<(), E> {
        if let Some(latest) = self.latest {
            visit(latest)?;
            // Not as a chain, which costs more than most of these lists.
            if self.earlier.is_some() {
                return self.visit_earlier(visit);
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn visit_earlier<E>(&self, visit: impl Fn(Point) -> Result<(), E>) -> Result<(), E> {
        self.earlier().iter().rev().try_for_each(|point| visit(*point))
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = Point> {
        self.earlier().iter().copied().chain(self.latest)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::cell::RefCell;

    use super::*;
    use crate::{Platform, device};

    #[test]
    fn the_latest_comes_first_and_once_for_each_stream() {
        let platform = Platform::host().devices(3).build().unwrap();
        let record = |index| platform.default_stream(device(index)).unwrap().record().unwrap();
        let mut points = Points::default();
        assert!(points.is_empty() && points.all(|_| false));
        let [a, b, c] = [0, 1, 2].map(record);
        [a, b, c].into_iter().for_each(|point| points.replace(point));
        let later = record(0);
        points.replace(later);
        let seen = RefCell::new(Vec::new());
        let see = |point| {
            seen.borrow_mut().push(point);
            Ok::<_, ()>(())
        };
        points.try_for_each(see).unwrap();
        assert_eq!(seen.into_inner(), [later, c, b]);
        points.retain(|point| *point != later && *point != b);
        assert_eq!((points.len(), points.iter().collect::<Vec<_>>()), (1, vec![c]));
        points.clear();
        assert!(points.is_empty() && points.iter().next().is_none());
    }
}
