//! The order between streams that events give. It decides which streams may reuse freed memory before the free has executed.

use super::point::Point;

/// The submissions that come before something, as a number for the slot of each stream: the latest submission to that stream
/// that comes before. An earlier stream of a slot is complete, so no generation is needed.
#[derive(Debug, Clone, Default)]
pub(super) struct Order(Vec<u64>);

impl Order {
    /// Adds all submissions of `other`, such as those before an event's record.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Sets this order to that of a record at `point`: the submissions in `before`, the order of the record's stream, and
    /// `point` itself.
    pub(super) fn record(&mut self, before: &Self, point: Point) {
        self.0.clone_from(&before.0);
        let slot = point.stream.index as usize;
        if self.0.len() <= slot {
            self.0.resize(slot + 1, 0);
        }
        self.0[slot] = point.number;
    }

    /// Whether the submission at `point` comes before, in this order.
    pub(super) fn covers(&self, point: Point) -> bool {
        self.0.get(point.stream.index as usize).is_some_and(|number| *number >= point.number)
    }
}
