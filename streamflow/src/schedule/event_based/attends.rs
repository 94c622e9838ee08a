//! Attendants of a run with workers: rule 3 of `schedule/stall/timing.rs`.
//!
//! An attendant that never waits is always queued or held, so that the run is never still. After some of its ticks a worker
//! asks whether the other nodes are quiet: none of them is held or queued, beside the one that this worker has looked at. Then
//! it claims them, so that they stay quiet, and asks whether the run goes on. Other workers may run attendants meanwhile: what
//! these send changes no answer that the run is over.
//!
//! Each tick of an attendant has its consumers looked at, in vain if they have ended: a worker could find one held whenever it
//! asks. So attendants stand still while an answer is due, unless a hook of another node runs: then the answer is that the run
//! goes on, and an attendant goes on meanwhile, as its policy promises.
//!
//! Each attendant has one look before it stands still. Threads may come to it only while answers are due, and an attendant that
//! stood still in all of these looks would never run.
//!
//! An attendant that another worker holds may run, as far as the asking worker knows. Unless a hook of it runs, its worker gives
//! it back soon, and the answer waits for that: the worker could hold it, in vain, whenever somebody asks.

use std::sync::atomic::Ordering;

use super::core::{Looked, NodeId};
use super::team::{Asked, Attends, Team};
use crate::graph::AnyNode;
use crate::lock::locked;
use crate::schedule::outcome::Outcome;
use crate::schedule::work::{self, Look, TICKS_BETWEEN};

/// The nodes of a team, of which the asking worker has all, or those that it has claimed.
struct Seen<'s, 't, 'r, 'g> {
    team: &'t Team<'r, 'g>,
    /// The node that it holds, and by node whether it has claimed it. `None`: no node is held.
    of: Option<(NodeId, &'s [bool])>,
}

impl Look for Seen<'_, '_, '_, '_> {
    fn look<R>(&mut self, node: NodeId, call: impl FnOnce(&mut dyn AnyNode) -> R) -> Option<R> {
        let has = self.of.is_none_or(|(held, claimed)| node == held || claimed[node]);
        has.then(|| call(&mut **locked(&self.team.nodes[node])))
    }
}

impl Team<'_, '_> {
    /// Whether a node has something to do, now or later. No node is held.
    pub(super) fn has_work(&self) -> bool {
        let mut asked = locked(&self.attends.asked).take();
        let attendants = asked.as_mut().map(|asked| &mut *asked.attendants);
        let mut seen = Seen { team: self, of: None };
        let goes_on = work::goes_on(self.nodes.len(), &mut seen, attendants);
        *locked(&self.attends.asked) = asked;
        goes_on
    }

    /// Begins a look at a node, which the calling worker holds. Returns whether the node is an attendant that does not run now,
    /// since an answer is due.
    pub(super) fn stands_still(&self, node: NodeId) -> bool {
        let Attends { all, is_due, looked, .. } = &self.attends;
        let stands_still = is_due.load(Ordering::Relaxed)
            && all.get(node) == Some(&true)
            && looked[node].swap(true, Ordering::Relaxed);
        if stands_still {
            self.ask(node);
        }
        stands_still
    }

    /// Ends a look at a node, which the calling worker holds.
    pub(super) fn stood(&self, node: NodeId, found: Looked) {
        let Attends { all, looks, is_due, .. } = &self.attends;
        let Some(attends) = all.get(node) else { return };
        if !attends {
            if found == Looked::default() && is_due.load(Ordering::Relaxed) {
                self.ask(node);
            }
        } else if found.changed {
            let looks = looks.fetch_add(1, Ordering::Relaxed) + 1;
            is_due.fetch_or(looks.is_multiple_of(TICKS_BETWEEN), Ordering::Relaxed);
        }
    }

    /// Ends the run if nobody is left for whom an attendant runs. There is no answer yet if a node beside `held` is to be
    /// looked at, or another worker looks at an attendant; a node whose hook runs aside.
    fn ask(&self, held: NodeId) {
        let Attends { all, asked, .. } = &self.attends;
        let Some(mut question) = locked(asked).take() else { return };
        let Asked { attendants, claimed } = &mut question;
        let mut goes_on = true;
        if self.board.change(|core| core.claim_beside(held, all, claimed)) {
            let is_unknown = |node: NodeId| {
                let is_held = node != held && !claimed[node];
                is_held && self.control.nodes()[node].word().activity().hook().is_none()
            };
            if !(0..all.len()).any(is_unknown) {
                let mut seen = Seen { team: self, of: Some((held, claimed)) };
                goes_on = work::goes_on(self.nodes.len(), &mut seen, Some(attendants));
                self.attends.answered();
            }
            self.board.change(|core| core.release_beside(claimed));
        } else {
            let mut others = self.control.nodes().iter().zip(all).filter(|(_, attends)| !**attends);
            if others.any(|(cell, _)| cell.word().activity().hook().is_some()) {
                self.attends.answered();
            }
        }
        *locked(asked) = Some(question);
        if !goes_on {
            self.end(Outcome::Over);
        }
    }
}
