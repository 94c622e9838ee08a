//! The events outside of the graph for which nodes wait that can't run now.

use smallvec::SmallVec;

use crate::stream::Point;
use crate::time::Timestamp;

/// The events for which the nodes of a graph wait, beside messages and room: points of streams, moments, and other threads. A
/// scheduler collects it in each pass, and sleeps until one of these can have changed.
#[derive(Debug, Default)]
pub struct Waits {
    points: SmallVec<[Point; 8]>,
    until: Option<Timestamp>,
    for_others: bool,
    at_once: bool,
}

impl Waits {
    /// With room for so many points.
    pub(crate) fn with_room(points: usize) -> Self {
        Self { points: SmallVec::with_capacity(points), ..Self::default() }
    }

    /// Begins a pass.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.until = None;
        self.for_others = false;
        self.at_once = false;
    }

    /// A node waits for a point of a stream.
    pub fn for_point(&mut self, point: Point) {
        self.points.push(point);
    }

    /// A node waits for a moment.
    pub fn until(&mut self, at: Timestamp) {
        self.until = Some(self.until.map_or(at, |earlier| earlier.min(at)));
    }

    /// A node waits for another thread, which wakes the scheduler.
    pub fn for_others(&mut self) {
        self.for_others = true;
    }

    /// The events for which other conditions wait.
    pub(crate) fn add(&mut self, other: &Self) {
        self.points.extend_from_slice(&other.points);
        self.for_others |= other.for_others;
        other.until.into_iter().for_each(|at| self.until(at));
    }

    /// A node had nothing to send, and runs again at once.
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

    /// Whether no node waits for anything of these.
    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty() && self.until.is_none() && !self.for_others && !self.at_once
    }
}
