//! Finds out whether a run goes on when no node runs, or when only nodes run whose messages no node takes.
//!
//! A run goes on as long as a node waits for a stream, a moment or another thread, or has its messages and its room. Attendants
//! do not count: rule 3 of `stall/timing.rs`. Both schedulers call [`goes_on`] when `ends.rs` has found that the run may be over.

use super::ends::Ends;
use super::nodes::Look;
use super::stall;
use crate::context::Activity;
use crate::graph::AnyNode;

/// Whether a run of `count` nodes goes on, when no node can run now or only attendants can.
pub(super) fn has_work(count: usize, nodes: &mut impl Look, mut ends: Option<&mut Ends>) -> bool {
    let may_be_over = ends.as_deref_mut().is_none_or(Ends::may_be_over);
    !may_be_over || goes_on(count, nodes, ends.as_deref())
}

/// Whether a run of `count` nodes goes on. Each node was looked at after the last tick of a node that is not an attendant.
pub(super) fn goes_on(count: usize, nodes: &mut impl Look, ends: Option<&Ends>) -> bool {
    let can_work = |node: &mut dyn AnyNode| {
        node.has_work() && node.cell().word().activity() != Activity::Blocked
    };
    let mut others = (0..count).filter(|node| !ends.is_some_and(|ends| ends.attends(*node)));
    if others.any(|node| nodes.look(node, can_work).unwrap_or(true)) {
        return true;
    }
    // Most runs are decided by the check above or by the next one, neither of which allocates.
    let mut has_work = |node: &usize| nodes.look(*node, |node| node.has_work()).unwrap_or(true);
    if !(0..count).any(|node| has_work(&node)) {
        return false;
    }
    let at_begin = |node: usize| ends.and_then(|ends| ends.unseen(node));
    let status = |node| nodes.look(node, |node| node.status()).or_else(|| at_begin(node));
    let statuses: Vec<_> = (0..count).filter_map(status).collect();
    // `has_work` is called after the statuses were read. If an attendant sends a message between the two, one of them shows it.
    let has_work = |node: &usize| nodes.look(*node, |node| node.has_work()).unwrap_or(true);
    let some: Vec<_> = (0..count).filter(has_work).collect();
    stall::may_go_on(&statuses, &some)
}
