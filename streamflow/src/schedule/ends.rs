//! Finds out what follows when some nodes have ended and others still run: the `flush` of a node whose inputs have ended is due,
//! an edge to a node that can't run any more gives way, or the run is over although attendants could go on (rule 3 of
//! `stall/timing.rs`).
//!
//! The functions of `stall` decide this from the statuses of all nodes, and collecting the statuses allocates memory. So a
//! scheduler first calls [`Ends::asks`] after each pass, or after each look of a worker at a node. `asks` reads the nodes' cells
//! (`NodeCell`), and returns whether `stall` may decide differently than the last time. Until a node has ended, this is one load.
//! Afterwards `asks` visits the nodes concerned until it finds a node that runs (`following.rs`); workers do so without a lock.
//! So the scheduler calls `stall` only if each of these nodes has ended, or has found that it can't run and has a neighbour of
//! which the same is true.
//!
//! If a run has stalled in all nodes except attendants, perhaps no node has ended. So one of [`LOOKS_BETWEEN`] passes, or of as
//! many looks at attendants, calls `stall` anyway, if no node but attendants has run since the last such call.

use std::sync::Arc;

use super::following::{Asks, Following};
use super::nodes::Look;
use super::stall;
use crate::context::RunControl;
use crate::graph::NodeStatus;
use crate::operator::Flushing;

/// After this many passes, or looks at attendants, a scheduler checks whether any other node has run.
pub(super) const LOOKS_BETWEEN: u32 = 256;

/// The state by which a run finds out what follows when nodes have ended. A graph in which nothing can follow while other nodes
/// run has no `Ends`.
pub(super) struct Ends {
    control: Arc<RunControl>,
    following: Arc<Following>,
    /// The statuses from the beginning of the run, used for nodes that another worker holds.
    begin: Vec<NodeStatus>,
    /// For each node, whether it seems unable to run any more.
    stands: Box<[bool]>,
    /// The [state](Self::save_state) at the last call of [`asks`](Self::asks) that found something that may follow. `answered` is
    /// the state at the last such call after which `stall` found nothing to follow.
    asked: Box<[u64]>,
    answered: Box<[u64]>,
    looks: u32,
    /// How many ticks all nodes except attendants had done together at the last call of [`have_stood`](Self::have_stood).
    ticks: u64,
}

/// The result of [`Ends::follow`].
pub(super) struct Followed {
    /// Whether a `flush` has begun or an edge has given way. Nodes may then run that could not run before.
    pub(super) any: bool,
    /// Whether the status of each node was read that seems unable to run any more. If another worker holds such a node, that
    /// worker calls `Team::ask` after it has given the node back.
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

    /// What may follow in this run when nodes end, in a form that workers read without a lock.
    pub(super) fn following(&self) -> &Arc<Following> {
        &self.following
    }

    /// Records that the `flush` of a node begins.
    pub(super) fn begin_flush(&mut self, node: usize) {
        self.following.begin_flush(node);
        self.begin[node].flush = Flushing::GoesOn;
    }

    /// Whether the node is an attendant, in a run in which an attendant may run for ever.
    pub(super) fn attends(&self, node: usize) -> bool {
        self.following.attends(node)
    }

    /// For each node, whether it seemed unable to run any more at the last call of [`asks`](Self::asks) after a node had ended.
    pub(super) fn stands(&self) -> &[bool] {
        &self.stands
    }

    /// Returns a status for a node that another worker holds. It lists no waits, so the caller assumes that the node may run.
    pub(super) fn unseen(&self, node: usize) -> Option<NodeStatus> {
        let status = self.begin.get(node)?.clone();
        Some(NodeStatus { inputs: Vec::new(), unmet: Vec::new(), ..status })
    }

    /// Whether the run may be over because only attendants can run. The call counts as a pass for [`LOOKS_BETWEEN`].
    pub(super) fn may_be_over(&mut self) -> bool {
        !self.following.may_run_for_ever() || self.asks().is_over || self.has_stalled()
    }

    /// Counts a pass. Returns whether the run may have stalled: only one of [`LOOKS_BETWEEN`] passes checks this, and the result
    /// is `true` if no node but attendants has run since the last check.
    pub(super) fn has_stalled(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        self.looks.is_multiple_of(LOOKS_BETWEEN) && self.have_stood()
    }

    /// Whether no node except attendants has run since the last call of this function.
    pub(super) fn have_stood(&mut self) -> bool {
        let others = (0..self.stands.len()).filter(|node| !self.attends(*node));
        let ticks = others.map(|node| self.control.nodes()[node].word().ticks()).sum();
        std::mem::replace(&mut self.ticks, ticks) == ticks
    }

    /// Returns what may follow now, from the nodes' cells alone and without an allocation. `stall` decides afterwards whether it
    /// does.
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

    /// Stores in `asked` which nodes seem unable to run any more, how many ticks each of these has done, how many nodes have
    /// ended, and how many turns of nodes have dropped messages without a tick. `stall` decides the same as before until one of
    /// these changes.
    fn save_state(&mut self) {
        let Self { control, stands, asked, .. } = self;
        let nodes = control.nodes().iter().zip(stands.iter());
        let ticks = nodes.map(|(node, stands)| if *stands { node.word().ticks() + 1 } else { 0 });
        let counts = [control.ended().into(), control.dropped().into()];
        asked.iter_mut().zip(ticks.chain(counts)).for_each(|(place, it)| *place = it);
    }

    /// Records that `stall` has found nothing to follow in the state that the last call of [`asks`](Self::asks) has stored. The
    /// statuses given to `stall` were collected after that call.
    pub(super) fn answered(&mut self) {
        self.answered.copy_from_slice(&self.asked);
    }

    /// Begins each `flush` that is due, and makes each edge give way that must.
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
