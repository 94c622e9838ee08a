//! The log of a node's parameter values: each value that a run has taken over, with the first tick that had it.

use std::collections::VecDeque;

/// The number of changes that the log of a node has at most. A further change removes the oldest.
const KEPT: usize = 1000;

/// A change of a parameter's value that a node has taken over in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamChange {
    /// The name of the node.
    pub node: String,
    /// The name of the parameter.
    pub parameter: &'static str,
    /// The first tick that had the new value.
    pub tick: u64,
    /// The new value as text, in its `Debug` form.
    pub value: String,
}

/// The changes of one node in one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParamChanges {
    /// The latest changes, in the order of their ticks.
    pub(crate) kept: VecDeque<ParamChange>,
    /// The number of earlier changes that were removed from `kept`.
    pub(crate) omitted: u64,
}

impl ParamChanges {
    pub(super) fn push(&mut self, change: ParamChange) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
            self.omitted += 1;
        }
        self.kept.push_back(change);
    }
}
