//! Whether a run goes on in which nothing happens, or nothing but ticks whose messages nobody takes.
//!
//! A node that waits for a stream, a moment or another thread keeps a run going, and so does one whose messages and room are
//! there. An attendant does not: rule 3 of `stall/timing.rs`. Both schedulers ask [`goes_on`], when `ends.rs` says that it may be
//! over.

use super::ends::Ends;
use super::nodes::Look;
use super::stall;
use crate::context::Activity;
use crate::graph::AnyNode;

/// Whether a run of so many nodes goes on in which none can run now, or none but attendants.
pub(super) fn has_work(count: usize, nodes: &mut impl Look, mut ends: Option<&mut Ends>) -> bool {
    let may_be_over = ends.as_deref_mut().is_none_or(Ends::may_be_over);
    !may_be_over || goes_on(count, nodes, ends.as_deref())
}

/// Whether a run of so many nodes goes on. Each has been looked at since another one has run, attendants aside.
pub(super) fn goes_on(count: usize, nodes: &mut impl Look, ends: Option<&Ends>) -> bool {
    let can_work = |node: &mut dyn AnyNode| {
        node.has_work() && node.cell().word().activity() != Activity::Blocked
    };
    let mut others = (0..count).filter(|node| !ends.is_some_and(|ends| ends.attends(*node)));
    if others.any(|node| nodes.look(node, can_work).unwrap_or(true)) {
        return true;
    }
    // No answer that most runs get takes memory.
    let mut has_work = |node: &usize| nodes.look(*node, |node| node.has_work()).unwrap_or(true);
    if !(0..count).any(|node| has_work(&node)) {
        return false;
    }
    let at_begin = |node: usize| ends.and_then(|ends| ends.unseen(node));
    let status = |node| nodes.look(node, |node| node.status()).or_else(|| at_begin(node));
    let statuses: Vec<_> = (0..count).filter_map(status).collect();
    // After the statuses: a message that an attendant sends meanwhile is in one of the two.
    let has_work = |node: &usize| nodes.look(*node, |node| node.has_work()).unwrap_or(true);
    let some: Vec<_> = (0..count).filter(has_work).collect();
    stall::may_go_on(&statuses, &some)
}
