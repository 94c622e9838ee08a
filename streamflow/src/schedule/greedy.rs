//! The greedy scheduler: it runs the nodes in their static order, on one thread.
//!
//! `AnyNode::step` (`operator/node.rs`) runs one tick of a node. It returns an error or a panic of a hook as an error with node,
//! hook and tick, and [`run`](super::run()) returns that error to the program.

use super::nodes::Nodes;
use crate::error::Result;
use crate::graph::{Step, Waits};
use crate::time::Timestamp;

/// The result of a pass over the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// A node has run and changed something, or a command of the run ended the pass early.
    Ran,
    Nothing,
    /// The time limit of the run has passed.
    TimeOver,
}

/// Makes one pass: each node that is ready runs once. The pass ends early if a command pauses or stops the run, or at the moment
/// `until`. `next` is called with the index of each node before the node's step.
#[inline]
pub(super) fn pass(
    nodes: Nodes<'_, '_>,
    until: Option<Timestamp>,
    waits: &mut Waits,
    next: impl Fn(usize),
) -> Result<Pass> {
    let mut done = Pass::Nothing;
    for (index, node) in nodes.iter_mut().enumerate() {
        next(index);
        match node.step(waits, until).map_err(|error| *error)? {
            Step::Changed => done = Pass::Ran,
            Step::Nothing => {}
            Step::Interrupted => return Ok(Pass::Ran),
            Step::TimeOver => return Ok(Pass::TimeOver),
        }
    }
    Ok(done)
}
