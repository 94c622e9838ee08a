//! The consequences of the end of nodes while others run: a node's inputs have ended and its `flush` is due, an edge
//! gives way to a node that stands still, or the run is over although attendants go on (rule 3 of `stall/timing.rs`).
//!
//! `stall` decides from the statuses of all nodes, and collecting these allocates memory. So after each pass or look a
//! scheduler calls [`Ends::asks`] first: from the nodes' cells (`NodeCell`) it tells whether the answer may differ from
//! the last one. Until a node has ended, that is one load. Afterwards it visits the nodes concerned until it finds one
//! that runs (`following.rs`); workers do so without a lock. An answer is due only when each of these nodes has ended,
//! or has found that it can't run and has a neighbour in one of these two states.
//!
//! A run that has stalled in all nodes but attendants may have no node that has ended. So one of [`LOOKS_BETWEEN`]
//! passes, or looks at attendants, asks without an ended node, if no other node has run since the last such pass.

use std::sync::Arc;

use super::following::{Asks, Following};
use super::nodes::Look;
use super::stall;
use crate::context::RunControl;
use crate::graph::NodeStatus;
use crate::operator::Flushing;

/// The number of passes, or of looks at attendants, after which a scheduler checks whether any other node has run.
pub(super) const LOOKS_BETWEEN: u32 = 256;

/// A run's records about its nodes: they serve to find the consequences when nodes have ended. A graph without such
/// consequences has no `Ends`.
pub(super) struct Ends {
    control: Arc<RunControl>,
    following: Arc<Following>,
    /// The statuses at the beginning, for the nodes that another worker holds.
    begin: Vec<NodeStatus>,
    /// By node, whether it seems to run no more.
    stands: Box<[bool]>,
    /// The [state](Self::save_state) at the last question. `answered` is the state at the last question with the answer
    /// that nothing follows.
    asked: Box<[u64]>,
    answered: Box<[u64]>,
    looks: u32,
    /// The ticks that all nodes but attendants had done when this was last checked.
    ticks: u64,
}

/// The outcome of a question.
pub(super) struct Followed {
    /// Whether nodes may run that could not before.
    pub(super) any: bool,
    /// Whether each node that seems to run no more was seen. The worker of a node that was not seen asks once more when
    /// it gives the node back.
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

    /// The possible consequences, for all workers.
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

    /// By node, whether it seemed to run no more at the last question that might have had an answer.
    pub(super) fn stands(&self) -> &[bool] {
        &self.stands
    }

    /// The assumed status of a node that another worker holds: the node waits for nothing.
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

    /// The consequences that may follow now. The answer needs no allocation and comes from the nodes' cells alone;
    /// `stall` may find afterwards that nothing follows.
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

    /// Records which nodes seem to run no more, how many ticks each of these has done, how many nodes have ended, and
    /// how many turns have dropped messages without a tick. The answer stays the same until one of these has changed.
    fn save_state(&mut self) {
        let Self { control, stands, asked, .. } = self;
        let nodes = control.nodes().iter().zip(stands.iter());
        let ticks = nodes.map(|(node, stands)| if *stands { node.word().ticks() + 1 } else { 0 });
        let counts = [control.ended().into(), control.dropped().into()];
        asked.iter_mut().zip(ticks.chain(counts)).for_each(|(place, it)| *place = it);
    }

    /// Records that nothing followed at the last question. `stall` found that from the nodes' statuses, which were
    /// collected after the state was recorded.
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
