//! The greedy scheduler: it runs the nodes in their static order, on one thread.
//!
//! `AnyNode::tick` (`operator/node.rs`) runs one tick of a node. An error of a hook has its node, hook and tick when
//! it gets here; [`run`](super::run()) returns it to the user's program.

use super::limit::Limit;
use super::nodes::Nodes;
use crate::context::{Activity, RunControl};
use crate::error::Result;
use crate::graph::{Progress, Readiness, Waits};
use crate::platform::Platform;

/// What a pass over the nodes has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// A node has run and changed something, or a command ended the pass early.
    Ran,
    Nothing,
    /// The time of the run is over.
    TimeOver,
}

/// Runs each node that is ready, once. It ends early when a command pauses or stops the run.
#[inline]
pub(super) fn pass(
    nodes: Nodes<'_, '_>,
    run: &RunControl,
    limit: &Limit,
    platform: &Platform,
    waits: &mut Waits,
) -> Result<Pass> {
    let mut pass = Pass::Nothing;
    for (node, cell) in nodes.iter_mut().zip(run.nodes()) {
        match node.readiness(waits)? {
            Readiness::Ready => {
                if !run.permits_ticks() {
                    return Ok(Pass::Ran);
                }
                if let Limit::Until(end) = limit
                    && platform.clock().now() >= *end
                {
                    return Ok(Pass::TimeOver);
                }
                match node.tick()? {
                    Progress::Changed => pass = Pass::Ran,
                    Progress::Unchanged => {}
                    // What it waits for now belongs to this pass.
                    Progress::Empty => {
                        if node.readiness(waits)? == Readiness::Ready {
                            waits.at_once();
                        }
                    }
                }
            }
            Readiness::Waiting => cell.set_activity(Activity::Waiting),
            Readiness::Blocked => cell.set_activity(Activity::Blocked),
            Readiness::Done => cell.set_activity(Activity::Done),
        }
    }
    Ok(pass)
}
