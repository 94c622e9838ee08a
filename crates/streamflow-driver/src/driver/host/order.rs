//! The order of submissions by events, for the reuse of memory that another stream freed.

use super::point::Point;

/// For the slot of each stream: the number of the stream's latest submission that comes before. A slot's earlier streams are
/// complete, so a number is enough.
#[derive(Debug, Clone, Default)]
pub(super) struct Order(Vec<u64>);

impl Order {
    /// Adds the order of an event's record.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Becomes the order of a record at `point`, on a stream with the order `before`.
    pub(super) fn record(&mut self, before: &Self, point: Point) {
        self.0.clone_from(&before.0);
        let slot = point.stream.index as usize;
        if self.0.len() <= slot {
            self.0.resize(slot + 1, 0);
        }
        self.0[slot] = point.number;
    }

    /// Whether a point comes before in this order.
    pub(super) fn covers(&self, point: Point) -> bool {
        self.0.get(point.stream.index as usize).is_some_and(|number| *number >= point.number)
    }
}
