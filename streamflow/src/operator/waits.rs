//! The events outside of the graph that nodes wait for when they can't run.

use smallvec::SmallVec;

use crate::stream::Point;
use crate::time::Timestamp;

/// The events for which the nodes of a graph wait, beside messages and room: points of streams, moments, and other
/// threads. A scheduler collects them in each pass, and sleeps until one of them may have happened.
#[derive(Debug, Default)]
pub struct Waits {
    points: SmallVec<[Point; 8]>,
    until: Option<Timestamp>,
    for_others: bool,
    at_once: bool,
}

impl Waits {
    /// Creates an empty list with room for this number of points.
    pub(crate) fn with_room(points: usize) -> Self {
        Self { points: SmallVec::with_capacity(points), ..Self::default() }
    }

    /// Removes all events, at the begin of a pass.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.until = None;
        self.for_others = false;
        self.at_once = false;
    }

    /// Adds a point of a stream that a node waits for.
    pub fn for_point(&mut self, point: Point) {
        self.points.push(point);
    }

    /// Adds a moment that a node waits for.
    pub fn until(&mut self, at: Timestamp) {
        self.until = Some(self.until.map_or(at, |earlier| earlier.min(at)));
    }

    /// Records that a node waits for another thread. That thread wakes the scheduler.
    pub fn for_others(&mut self) {
        self.for_others = true;
    }

    /// Adds the events of other conditions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.points.extend_from_slice(&other.points);
        self.for_others |= other.for_others;
        other.until.into_iter().for_each(|at| self.until(at));
    }

    /// Records that a node had nothing to send, and runs again at once.
    pub(crate) fn at_once(&mut self) {
        self.at_once = true;
    }

    pub(crate) fn is_at_once(&self) -> bool {
        self.at_once
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    /// Whether a node waits for another thread.
    pub(crate) fn is_for_others(&self) -> bool {
        self.for_others
    }

    /// The earliest moment that a node waits for.
    pub(crate) fn earliest(&self) -> Option<Timestamp> {
        self.until
    }

    /// Whether no node waits for any of these events.
    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty() && self.until.is_none() && !self.for_others && !self.at_once
    }
}
