//! Finds out what follows in a run with workers when some nodes have ended and others still run: see `schedule/ends.rs`.
//!
//! `Team::ask` finds out whether a `flush` is due, an edge gives way or the run is over, since nodes have ended. A worker calls
//! `ask` after it has looked at a node that can't run and has given the node back. `ask` claims all nodes that no worker holds,
//! so that they do not change, and assumes that each node held by another worker may run. If a second worker calls `ask`
//! meanwhile, the first worker repeats its check. If a held node seems unable to run any more, its worker calls `ask` after it
//! has given the node back. So the last call can read all nodes that can't run any more. Simulated time does not advance from the
//! moment a worker gives such a node back until that worker's call has returned, or another worker has repeated its check for it.
//!
//! The run is over if only attendants can run (rule 3 of `schedule/stall/timing.rs`). When this is decided, no other node is held
//! or queued, except the node that the worker in `ask` has looked at. Other workers may be in ticks of attendants, but the
//! messages of these ticks never change the decision. No tick begins between the claim of the nodes and the decision.
//!
//! Each tick of an attendant queues its consumers for looks, even if they have ended, and so each call of `ask` could find a
//! consumer held. So while `Attends::is_due` is set, no attendant runs. If a hook of another node runs, the run goes on, and so
//! do the attendants, as the policies of their edges promise.
//!
//! After `is_due` is set, each attendant may run in one more look. Without this, an attendant that workers happen to look at only
//! while `is_due` is set would never run.
//!
//! The worker in `ask` can't read a node that another worker holds. If no hook of that node runs, its worker gives it back soon,
//! and `ask` decides nothing before that: if it decided that the run goes on, each later call could again find the node held.

#[cfg(all(test, not(loom)))]
#[path = "attends/tests.rs"]
mod tests;

use std::sync::atomic::{Ordering, fence};

use super::core::{Core, Looked, NodeId};
use super::team::{Asked, Attends, Team};
use crate::graph::AnyNode;
use crate::lock::locked;
use crate::schedule::ends::LOOKS_BETWEEN;
use crate::schedule::following::Asks;
use crate::schedule::nodes::Look;
use crate::schedule::outcome::Outcome;
use crate::schedule::work;
use crate::turns;

/// The nodes of a team that a worker may read: all nodes, or the nodes that it holds or has claimed.
struct Seen<'s, 't, 'r, 'g> {
    team: &'t Team<'r, 'g>,
    /// The node that the worker holds, if any, and for each node whether the worker has claimed it. `None` if the worker has
    /// claimed all nodes.
    of: Option<(Option<NodeId>, &'s [bool])>,
}

impl Look for Seen<'_, '_, '_, '_> {
    fn look<R>(&mut self, node: NodeId, call: impl FnOnce(&mut dyn AnyNode) -> R) -> Option<R> {
        let has = self.of.is_none_or(|(held, claimed)| held == Some(node) || claimed[node]);
        has.then(|| call(&mut **locked(&self.team.nodes[node])))
    }
}

impl Team<'_, '_> {
    /// Ends the run if no node has anything to do, now or later. Returns whether the run ends; `None` if another worker holds a
    /// node, or if a worker is to look at a node now.
    pub(super) fn ends_without_work(&self) -> Option<bool> {
        if !self.board.change(Core::claim_all) {
            return None;
        }
        let mut asked = locked(&self.attends.asked).take();
        let ends = asked.as_mut().map(|asked| &mut *asked.ends);
        let mut seen = Seen { team: self, of: None };
        let has_work = work::has_work(self.nodes.len(), &mut seen, ends);
        // `asked` is `None` while another worker is in `ask`, which takes the data out and puts it back at its end.
        if asked.is_some() {
            *locked(&self.attends.asked) = asked;
        }
        self.end_unless(has_work);
        self.board.change(Core::release_all);
        if has_work || self.attends.asks_again.load(Ordering::Relaxed) {
            self.ask(None);
        }
        // Before simulated time passes, a `flush` that is due begins, and edges give way.
        let is_still = !has_work || self.board.change(|core| core.is_still());
        is_still.then_some(!has_work)
    }

    /// Ends the run if `goes_on` is `false`. The caller gives its claimed nodes back only afterwards, so no worker begins a
    /// `flush`.
    fn end_unless(&self, goes_on: bool) {
        if !goes_on {
            self.end(Outcome::Over);
        }
    }

    /// Called when a worker begins to look at a node that it holds. Returns whether the node is an attendant that must not run
    /// now, because [`Attends::is_due`] is set.
    pub(super) fn stands_still(&self, node: NodeId) -> bool {
        let Attends { following, is_due, looked, .. } = &self.attends;
        let stands_still = is_due.load(Ordering::Relaxed)
            && following.as_ref().is_some_and(|following| following.attends(node))
            && looked[node].swap(true, Ordering::Relaxed);
        if stands_still {
            self.ask(Some(node));
        }
        stands_still
    }

    /// Called when a worker has looked at a node that it holds. Returns whether the worker is to call [`ask`](Self::ask) after it
    /// has given the node back.
    pub(super) fn stood(&self, node: NodeId, found: Looked) -> bool {
        let Attends { following, looks, is_due, .. } = &self.attends;
        let Some(following) = following else { return false };
        if found.changed {
            if following.attends(node) {
                let looks = looks.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
                is_due.fetch_or(looks.is_multiple_of(LOOKS_BETWEEN), Ordering::Relaxed);
            }
            return false;
        }
        // If two workers get here at once, the fence makes at least one of them see what the other node's worker has stored in
        // its cell.
        fence(Ordering::SeqCst);
        found == Looked::default() && (is_due.load(Ordering::Relaxed) || following.may_follow())
    }

    /// Finds out whether a `flush` is due, an edge gives way or the run is over, since nodes have ended, and acts on it. `held`
    /// is the node that the calling worker holds, if any.
    pub(super) fn ask(&self, held: Option<NodeId>) {
        turns::point("a worker asks what follows from the end of nodes");
        let Attends { asked, is_due, asks_again, .. } = &self.attends;
        let mut is_over = false;
        let mut place = locked(asked);
        while !is_over {
            let Some(question) = &mut *place else {
                // Another worker is in this function, and may have missed the latest changes. The flag makes that worker repeat
                // its check.
                asks_again.store(true, Ordering::Relaxed);
                return;
            };
            asks_again.store(false, Ordering::Relaxed);
            let asks = question.ends.asks();
            is_due.fetch_or(asks.is_over, Ordering::Relaxed);
            let may_be_over = is_due.load(Ordering::Relaxed);
            if !may_be_over && !asks.goes_on {
                return;
            }
            let Some(mut question) = place.take() else { return };
            drop(place);
            turns::point("a worker has a question");
            let over = if may_be_over { self.is_over(held, asks, &mut question) } else { None };
            is_over = over == Some(true);
            if !is_over && asks.goes_on {
                self.follow(held, &mut question, !asks.is_over || over.is_some());
            }
            place = locked(asked);
            *place = Some(question);
            // If nothing was decided, a worker is still to look at some node, and calls `ask` after that. This worker does not
            // repeat its check: each claim moves queued nodes to the end of the queue, so no worker would get to the last of
            // them.
            let is_left = may_be_over && over.is_none();
            if is_left || !asks_again.load(Ordering::Relaxed) {
                break;
            }
        }
    }

    /// Begins each `flush` that is due, and makes edges give way. `answers` is whether it is known, or need not be known, if the
    /// run is over.
    fn follow(&self, held: Option<NodeId>, question: &mut Asked, answers: bool) {
        let Asked { ends, claimed } = question;
        let misses = |node: NodeId| ends.stands()[node] && held != Some(node);
        // When the run is over, no node is claimed, since all nodes are given back then.
        if !self.board.change(|core| !core.is_over() && core.claim_free(claimed, misses)) {
            return;
        }
        let followed = ends.follow(&mut Seen { team: self, of: Some((held, claimed)) });
        self.board.change(|core| {
            if followed.any {
                (0..claimed.len()).for_each(|node| core.touch(node));
            }
            core.release_beside(claimed);
        });
        if answers && followed.is_complete && !followed.any {
            ends.answered();
        }
    }

    /// Ends the run if only attendants can run, and returns whether it has ended. Returns `None` if this can't be decided yet,
    /// since a worker is to look at a node other than `held`, or another worker looks at an attendant. An attendant whose hook
    /// runs does not delay the decision.
    fn is_over(&self, held: Option<NodeId>, asks: Asks, question: &mut Asked) -> Option<bool> {
        let Asked { ends, claimed } = question;
        let mut is_over = None;
        let attends = |node: NodeId| ends.attends(node);
        // An attendant's tick that has begun goes on. The flag keeps other ticks of the attendant from beginning before the
        // decision.
        let stands_still = |node: NodeId| self.attends.looked[node].store(true, Ordering::Relaxed);
        if self.board.change(|core| core.claim_beside(held, attends, claimed, stands_still)) {
            let is_unknown = |node: NodeId| {
                let is_held = held != Some(node) && !claimed[node];
                is_held && self.control.nodes()[node].word().activity().hook().is_none()
            };
            if !(0..self.nodes.len()).any(is_unknown) {
                let mut seen = Seen { team: self, of: Some((held, claimed)) };
                let is_asked = asks.is_over || ends.have_stood();
                let goes_on = !is_asked || work::goes_on(self.nodes.len(), &mut seen, Some(ends));
                is_over = Some(!goes_on);
                if goes_on && asks.is_over && !asks.goes_on {
                    ends.answered();
                }
                if goes_on {
                    self.attends.answered();
                } else {
                    turns::point("a worker knows that the run is over");
                }
            }
            self.end_unless(is_over != Some(true));
            self.board.change(|core| core.release_beside(claimed));
        } else {
            let runs = |node: NodeId| self.control.nodes()[node].word().activity().hook().is_some();
            if (0..self.nodes.len()).any(|node| !attends(node) && runs(node)) {
                self.attends.answered();
            }
        }
        is_over
    }
}
