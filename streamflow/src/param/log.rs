//! The values of parameters that a run has taken over, with their ticks.

use std::collections::VecDeque;

/// The number of changes that are kept of each node: the last ones.
const KEPT: usize = 1000;

/// A value of a parameter that a node has taken over in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamChange {
    /// The node.
    pub node: String,
    /// The parameter.
    pub parameter: &'static str,
    /// The first tick that had the value.
    pub tick: u64,
    /// The value as text, in its `Debug` form.
    pub value: String,
}

/// The changes of one node in one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParamChanges {
    /// The last changes, in the order of the ticks.
    pub(crate) kept: VecDeque<ParamChange>,
    /// The number of changes before these.
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
