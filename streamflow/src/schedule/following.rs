//! Finds out from the nodes' cells what may follow when nodes have ended, without a lock and without an allocation: each worker
//! of a run may do so at any time.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::stall::{self, Waits};
use crate::context::{Activity, RunControl};
use crate::graph::NodeStatus;

/// What may follow in a run when nodes end, and what has already followed.
pub(super) struct Following {
    control: Arc<RunControl>,
    waits: Waits,
    /// The nodes whose `flush` is to be called, each with the nodes that must have ended before.
    flushed: Box<[(usize, Box<[usize]>)]>,
    /// For each node, whether its `flush` has begun.
    is_flushed: Box<[AtomicBool]>,
    /// For each edge of `waits.passing`, whether it gives way.
    gives_way: Box<[AtomicBool]>,
}

/// What may follow now, since nodes have ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Asks {
    /// The run may be over.
    pub(super) is_over: bool,
    /// The run may go on: a `flush` may be due, or an edge may give way.
    pub(super) goes_on: bool,
}

impl Following {
    /// Returns `None` for a graph in which nothing can follow from the end of a node while other nodes run.
    pub(super) fn new(nodes: &[NodeStatus], control: &Arc<RunControl>) -> Option<Self> {
        let (waits, flushed) = (stall::waits(nodes), stall::flushed(nodes).into_boxed_slice());
        let is_needed = !flushed.is_empty() || !waits.passing.is_empty() || waits.may_run_for_ever;
        let none = |count| (0..count).map(|_| AtomicBool::new(false)).collect();
        let (is_flushed, gives_way) = (none(nodes.len()), none(waits.passing.len()));
        let control = control.clone();
        is_needed.then_some(Self { control, waits, flushed, is_flushed, gives_way })
    }

    /// Whether the graph has an attendant that could run for ever, so that the run may be over while it still runs.
    pub(super) fn may_run_for_ever(&self) -> bool {
        self.waits.may_run_for_ever
    }

    /// Whether the node is an attendant, in a run in which an attendant may run for ever.
    pub(super) fn attends(&self, node: usize) -> bool {
        self.waits.may_run_for_ever && self.is_attendant(node)
    }

    /// Whether the node is an attendant. After its `flush` has begun, a node is not an attendant any more, since it ends and
    /// other nodes wait for its messages.
    fn is_attendant(&self, node: usize) -> bool {
        self.waits.is_attendant[node] && !self.is_flushed[node].load(Ordering::Relaxed)
    }

    pub(super) fn begin_flush(&self, node: usize) {
        self.is_flushed[node].store(true, Ordering::Relaxed);
    }

    pub(super) fn give_way(&self, edges: &[usize]) {
        for ((edge, _), gives_way) in self.waits.passing.iter().zip(&self.gives_way) {
            gives_way.fetch_or(edges.contains(edge), Ordering::Relaxed);
        }
    }

    /// Whether something may follow, if each node that waits can't run any more. Until a node has ended, this is one load.
    #[inline]
    pub(super) fn may_follow(&self) -> bool {
        self.control.ended() > 0 && self.seems_to_follow()
    }

    #[inline(never)]
    fn seems_to_follow(&self) -> bool {
        self.follows(&|node| self.is_still(node)) != Asks::default()
    }

    /// Returns what may follow, after [`may_follow`](Self::may_follow) has returned `true`. Sets `stands`: for each node, whether
    /// it seems unable to run any more.
    pub(super) fn asks(&self, stands: &mut [bool]) -> Asks {
        let is_done = |node| self.activity(node) == Activity::Done;
        stands.iter_mut().enumerate().for_each(|(node, stands)| *stands = is_done(node));
        self.waits.grow(stands, |node| self.is_still(node));
        self.follows(&|node| stands[node])
    }

    /// Returns what may follow if the nodes for which `stands` is `true` can't run any more.
    fn follows(&self, stands: &dyn Fn(usize) -> bool) -> Asks {
        let holds = |node: usize| self.is_attendant(node) || stands(node);
        let is_due = |(node, before): &(usize, Box<[usize]>)| {
            !self.is_flushed[*node].load(Ordering::Relaxed)
                && stands(*node)
                && before.iter().all(|node| holds(*node))
        };
        let may_give_way = |((_, [from, to]), gives_way): (&(usize, [usize; 2]), &AtomicBool)| {
            !gives_way.load(Ordering::Relaxed)
                && self.activity(*from) == Activity::Blocked
                && stands(*from)
                && stands(*to)
        };
        let mut passing = self.waits.passing.iter().zip(&self.gives_way);
        Asks {
            is_over: self.waits.may_run_for_ever && (0..self.is_flushed.len()).all(holds),
            goes_on: self.flushed.iter().any(is_due) || passing.any(may_give_way),
        }
    }

    fn is_still(&self, node: usize) -> bool {
        matches!(self.activity(node), Activity::Done | Activity::Blocked)
    }

    fn activity(&self, node: usize) -> Activity {
        self.control.nodes()[node].word().activity()
    }
}
