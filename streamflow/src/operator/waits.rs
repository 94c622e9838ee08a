//! `Waits`: the events outside of the graph for which nodes wait.

use smallvec::SmallVec;

use crate::stream::Point;
use crate::time::Timestamp;

/// The events outside of the graph for which the graph's nodes wait: points of streams, moments, and other threads. A scheduler
/// collects them when it visits the nodes, and sleeps until one of them may have happened.
#[derive(Debug, Default)]
pub struct Waits {
    points: SmallVec<[Point; 8]>,
    until: Option<Timestamp>,
    for_others: bool,
    at_once: bool,
}

impl Waits {
    /// Creates an empty list with capacity for this number of points.
    pub(crate) fn with_room(points: usize) -> Self {
        Self { points: SmallVec::with_capacity(points), ..Self::default() }
    }

    /// Removes all events, at the beginning of a pass of the scheduler over the nodes.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.until = None;
        self.for_others = false;
        self.at_once = false;
    }

    /// Adds a point of a stream for which a node waits.
    pub fn for_point(&mut self, point: Point) {
        self.points.push(point);
    }

    /// Adds a moment for which a node waits.
    pub fn until(&mut self, at: Timestamp) {
        self.until = Some(self.until.map_or(at, |earlier| earlier.min(at)));
    }

    /// Records that a node waits for another thread, which wakes the scheduler.
    pub fn for_others(&mut self) {
        self.for_others = true;
    }

    /// Adds the events of another list to this one.
    pub(crate) fn add(&mut self, other: &Self) {
        self.points.extend_from_slice(&other.points);
        self.for_others |= other.for_others;
        other.until.into_iter().for_each(|at| self.until(at));
    }

    /// Records that a node had nothing to send and may run again at once, so that the scheduler does not sleep.
    pub(crate) fn at_once(&mut self) {
        self.at_once = true;
    }

    pub(crate) fn is_at_once(&self) -> bool {
        self.at_once
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns whether a node waits for another thread.
    pub(crate) fn is_for_others(&self) -> bool {
        self.for_others
    }

    /// Returns the earliest moment for which a node waits.
    pub(crate) fn earliest(&self) -> Option<Timestamp> {
        self.until
    }

    /// Returns whether the list has no event.
    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty() && self.until.is_none() && !self.for_others && !self.at_once
    }
}
