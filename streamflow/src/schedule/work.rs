//! Whether a run goes on in which nothing happens, or nothing but ticks whose messages nobody takes.
//!
//! A node that waits for a stream, a moment or another thread keeps a run going, and so does one whose messages and room are
//! there. An attendant does not: rule 3 of `stall/timing.rs`. Both schedulers ask [`goes_on`].

use super::nodes::Nodes;
use super::stall::{self, Attending};
use crate::context::Activity;
use crate::graph::{AnyNode, NodeStatus};

/// An attendant that never waits is looked at once in so many of its ticks.
pub(super) const TICKS_BETWEEN: u32 = 16;

/// The edges of an attendant may have room that it never uses. So one of so many answers does not rely on that, if no other
/// node has done a tick since the last of these.
const ANSWERS_BETWEEN: u32 = 16;

/// The nodes of a run, as a scheduler has them.
pub(super) trait Look {
    /// Calls a function with a node. `None` if another worker has it, and it is an attendant.
    fn look<R>(&mut self, node: usize, call: impl FnOnce(&mut dyn AnyNode) -> R) -> Option<R>;
}

impl Look for Nodes<'_, '_> {
    fn look<R>(&mut self, node: usize, call: impl FnOnce(&mut dyn AnyNode) -> R) -> Option<R> {
        self.get_mut(node).map(|node| call(&mut **node))
    }
}

/// What a run remembers of its attendants. A graph without an attendant that may run for ever has none.
pub(super) struct Attendants {
    graph: Attending,
    /// The nodes as they were at the begin, for those that another worker has.
    begin: Vec<NodeStatus>,
    answers: u32,
    /// How many ticks the other nodes had done.
    ticks: u64,
}

impl Attendants {
    pub(super) fn new(mut nodes: Vec<NodeStatus>) -> Option<Self> {
        let graph = stall::attending(&nodes)?;
        // One that another worker has may run: it waits for nothing.
        let attendants = nodes.iter_mut().zip(&graph.is_attendant).filter(|(_, attends)| **attends);
        attendants.for_each(|(node, _)| (node.inputs, node.unmet) = (Vec::new(), Vec::new()));
        Some(Self { graph, begin: nodes, answers: 0, ticks: 0 })
    }

    /// A node whose `flush` begins is no attendant any more: it ends, and others wait for what it sends.
    pub(super) fn begin_flush(&mut self, node: usize) {
        self.graph.is_attendant[node] = false;
    }

    /// By node, whether it is an attendant.
    pub(super) fn all(&self) -> &[bool] {
        &self.graph.is_attendant
    }

    /// Whether an attendant may still send a message to a node that is not done. Without memory, so that it may be wrong: the
    /// attendant may be done, and the node may be stuck.
    fn may_serve(&mut self, nodes: &mut impl Look) -> bool {
        self.answers += 1;
        if self.answers.is_multiple_of(ANSWERS_BETWEEN) {
            let others = (0..self.begin.len()).filter(|node| !self.graph.is_attendant[*node]);
            let ticks =
                others.filter_map(|node| nodes.look(node, |node| node.cell().word().ticks()));
            let ticks = ticks.sum();
            if std::mem::replace(&mut self.ticks, ticks) == ticks {
                return false;
            }
        }
        self.graph.served.iter().any(|(node, edges)| {
            let lacks =
                |node: &mut dyn AnyNode| activity(node) != Activity::Done && !node.are_full(edges);
            nodes.look(*node, lacks).unwrap_or(true)
        })
    }
}

fn activity(node: &mut dyn AnyNode) -> Activity {
    node.cell().word().activity()
}

/// Whether a run of so many nodes goes on. Each has been looked at since another one has run, attendants aside.
pub(super) fn goes_on(
    count: usize,
    nodes: &mut impl Look,
    mut attendants: Option<&mut Attendants>,
) -> bool {
    let attends = |node: &usize, all: Option<&Attendants>| all.is_some_and(|all| all.all()[*node]);
    let can_work = |node: &mut dyn AnyNode| node.has_work() && activity(node) != Activity::Blocked;
    let mut others = (0..count).filter(|node| !attends(node, attendants.as_deref()));
    if others.any(|node| nodes.look(node, can_work).unwrap_or(true)) {
        return true;
    }
    if attendants.as_mut().is_some_and(|attendants| attendants.may_serve(nodes)) {
        return true;
    }
    // No answer that most runs get takes memory.
    let mut has_work = |node: &usize| nodes.look(*node, |node| node.has_work()).unwrap_or(true);
    if !(0..count).any(|node| has_work(&node)) {
        return false;
    }
    let at_begin = |node: usize| attendants.as_ref().and_then(|all| all.begin.get(node)).cloned();
    let status = |node| nodes.look(node, |node| node.status()).or_else(|| at_begin(node));
    let statuses: Vec<_> = (0..count).filter_map(status).collect();
    // After the statuses: a message that an attendant sends meanwhile is in one of the two.
    let has_work = |node: &usize| nodes.look(*node, |node| node.has_work()).unwrap_or(true);
    let some: Vec<_> = (0..count).filter(has_work).collect();
    stall::may_go_on(&statuses, &some)
}
