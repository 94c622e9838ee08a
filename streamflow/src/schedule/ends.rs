//! The consequences when nodes have ended and others still run: a node's inputs have ended and its `flush` is due, an
//! edge gives way to a node that runs no more, or the run is over although attendants go on (rule 3 of `stall/timing.rs`).
//!
//! `stall` decides from the statuses of all nodes, and collecting these allocates memory. So after each pass or look a
//! scheduler calls [`Ends::asks`] first: it reads the nodes' cells (`NodeCell`), and tells whether the decision may
//! differ from the last one. Until a node has ended, that is one load. Afterwards `asks` visits the nodes concerned until
//! it finds one that runs (`following.rs`); workers do so without a lock. The scheduler calls `stall` only when each of
//! these nodes has ended, or has found that it can't run and has a neighbour in one of these two states.
//!
//! A run that has stalled in all nodes but attendants may have no node that has ended. So one of [`LOOKS_BETWEEN`]
//! passes, or looks at attendants, calls `stall` without an ended node, if no other node has run since the last such pass.

use std::sync::Arc;

use super::following::{Asks, Following};
use super::nodes::Look;
use super::stall;
use crate::context::RunControl;
use crate::graph::NodeStatus;
use crate::operator::Flushing;

/// The number of passes, or of looks at attendants, after which a scheduler checks whether any other node has run.
pub(super) const LOOKS_BETWEEN: u32 = 256;

/// The state from which a run finds the consequences when nodes have ended. A graph in which no such consequence is
/// possible has no `Ends`.
pub(super) struct Ends {
    control: Arc<RunControl>,
    following: Arc<Following>,
    /// The statuses at the beginning, for the nodes that another worker holds.
    begin: Vec<NodeStatus>,
    /// By node, whether it seems to run no more.
    stands: Box<[bool]>,
    /// The [state](Self::save_state) at the last call of [`asks`](Self::asks) that found a possible consequence.
    /// `answered` is the state at the last such call for which `stall` found no consequence.
    asked: Box<[u64]>,
    answered: Box<[u64]>,
    looks: u32,
    /// The number of ticks of all nodes but attendants at the last call of [`have_stood`](Self::have_stood).
    ticks: u64,
}

/// The result of [`Ends::follow`].
pub(super) struct Followed {
    /// Whether a `flush` has begun or an edge has given way, so that nodes may run that could not before.
    pub(super) any: bool,
    /// Whether the status of each node that seems to run no more was read. If another worker holds such a node, that worker
    /// calls `Team::ask` once more when it gives the node back.
    pub(super) is_complete: bool,
}

impl Ends {
    pub(super) fn new(nodes: Vec<NodeStatus>, control: &Arc<RunControl>) -> Option<Self> {
        let following = Arc::new(Following::new(&nodes, control)?);
        let stands = vec![false; nodes.len()].into();
        let asked: Box<[u64]> = vec![0; nodes.len() + 2].into();
        Some(Self {
            control: control.clone(),
            following,
            begin: nodes,
            stands,
            answered: asked.clone(),
            asked,
            looks: 0,
            ticks: 0,
        })
    }

    /// The consequences that are possible in the run, in a form that workers read without a lock.
    pub(super) fn following(&self) -> &Arc<Following> {
        &self.following
    }

    /// The `flush` of a node begins.
    pub(super) fn begin_flush(&mut self, node: usize) {
        self.following.begin_flush(node);
        self.begin[node].flush = Flushing::GoesOn;
    }

    /// Whether the node is an attendant that may run for ever.
    pub(super) fn attends(&self, node: usize) -> bool {
        self.following.attends(node)
    }

    /// By node, whether it seemed to run no more at the last call of [`asks`](Self::asks) after a node had ended.
    pub(super) fn stands(&self) -> &[bool] {
        &self.stands
    }

    /// The status that is assumed for a node that another worker holds: the node waits for nothing.
    pub(super) fn unseen(&self, node: usize) -> Option<NodeStatus> {
        let status = self.begin.get(node)?.clone();
        Some(NodeStatus { inputs: Vec::new(), unmet: Vec::new(), ..status })
    }

    /// Whether the run may be over because no node but attendants can run. A call counts as a pass.
    pub(super) fn may_be_over(&mut self) -> bool {
        !self.following.may_run_for_ever() || self.asks().is_over || self.has_stalled()
    }

    /// Counts a pass. Returns whether the run may have stalled in it: only one of [`LOOKS_BETWEEN`] passes checks, and
    /// no node but attendants has run since the last check.
    pub(super) fn has_stalled(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        self.looks.is_multiple_of(LOOKS_BETWEEN) && self.have_stood()
    }

    /// Whether no node but attendants has run since the last call.
    pub(super) fn have_stood(&mut self) -> bool {
        let others = (0..self.stands.len()).filter(|node| !self.attends(*node));
        let ticks = others.map(|node| self.control.nodes()[node].word().ticks()).sum();
        std::mem::replace(&mut self.ticks, ticks) == ticks
    }

    /// The consequences that may be due now, from the nodes' cells alone and without an allocation. `stall` may find
    /// afterwards that none is due.
    #[inline]
    pub(super) fn asks(&mut self) -> Asks {
        if self.following.may_follow() { self.asks_now() } else { Asks::default() }
    }

    #[inline(never)]
    fn asks_now(&mut self) -> Asks {
        let asks = self.following.asks(&mut self.stands);
        if asks != Asks::default() {
            self.save_state();
            if self.asked == self.answered {
                return Asks::default();
            }
        }
        asks
    }

    /// Stores in `asked` which nodes seem to run no more, how many ticks each of these has done, how many nodes have
    /// ended, and how many turns have dropped messages without a tick. Until one of these has changed, `stall` decides the
    /// same.
    fn save_state(&mut self) {
        let Self { control, stands, asked, .. } = self;
        let nodes = control.nodes().iter().zip(stands.iter());
        let ticks = nodes.map(|(node, stands)| if *stands { node.word().ticks() + 1 } else { 0 });
        let counts = [control.ended().into(), control.dropped().into()];
        asked.iter_mut().zip(ticks.chain(counts)).for_each(|(place, it)| *place = it);
    }

    /// Records that `stall` has found no consequence, for the state that the last call of [`asks`](Self::asks) has stored.
    /// `stall` used statuses that were collected after that call.
    pub(super) fn answered(&mut self) {
        self.answered.copy_from_slice(&self.asked);
    }

    /// Begins each `flush` that is due, and has edges give way.
    pub(super) fn follow(&mut self, nodes: &mut impl Look) -> Followed {
        let count = self.begin.len();
        let (mut statuses, mut is_unknown) = (Vec::with_capacity(count), vec![false; count]);
        for (node, is_unknown) in is_unknown.iter_mut().enumerate() {
            let status = nodes.look(node, |node| node.status());
            *is_unknown = status.is_none();
            statuses.push(status.unwrap_or_else(|| self.begin[node].clone()));
        }
        let (edges, due) = stall::meanwhile(&statuses, &is_unknown);
        if !edges.is_empty() {
            (0..count).for_each(|node| _ = nodes.look(node, |node| node.give_way(&edges)));
            self.following.give_way(&edges);
        }
        for due in &due {
            nodes.look(due.node, |node| node.begin_flush(&due.keep));
            self.begin_flush(due.node);
        }
        let any = !edges.is_empty() || !due.is_empty();
        let is_complete = !is_unknown.iter().zip(&self.stands).any(|(it, stands)| *it && *stands);
        Followed { any, is_complete }
    }
}
