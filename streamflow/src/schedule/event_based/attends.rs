//! The consequences of the end of nodes in a run with workers, while other nodes run: `schedule/ends.rs`.
//!
//! `Team::ask` finds out whether a `flush` is due, an edge gives way or the run is over, since nodes have ended. A worker
//! calls `ask` after it has looked at a node that can't run and has given the node back. `ask` claims all nodes that no
//! worker holds, so that these do not change, and assumes that each held node may run. If another worker calls `ask`
//! meanwhile, the first worker repeats its check. If a held node seems to run no more, the worker of that node calls
//! `ask` once more when it has given the node back. So the last call finds all nodes free that run no more. Simulated
//! time stands still from the moment a worker gives such a node back until its call has returned, or another worker's
//! call has answered for it.
//!
//! The run is over if no node but attendants can run (rule 3 of `schedule/stall/timing.rs`). At that moment no other
//! node is held or queued, except the node that the worker in `ask` has looked at. Other workers may be in ticks of
//! attendants: the messages sent by these ticks never change the answer that the run is over. No tick begins between
//! the claim of the nodes and that answer.
//!
//! Each tick of an attendant queues looks at its consumers, even if these have ended: then each `ask` could find a
//! consumer held. So no attendant runs while `Attends::is_due` is set, unless a hook of another node runs: then the run
//! goes on, and so do the attendants, as the policies of their edges promise.
//!
//! When `is_due` is set, each attendant runs in one more look. Otherwise an attendant at which workers happen to look
//! only while `is_due` is set would never run.
//!
//! The worker in `ask` can't see whether a node that another worker holds may run. If no hook of that node runs, its
//! worker gives the node back soon, and `ask` has no answer before: otherwise each `ask` could find the node held.

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

/// The nodes of a team that a worker may read: all of them, or those that it holds or has claimed.
struct Seen<'s, 't, 'r, 'g> {
    team: &'t Team<'r, 'g>,
    /// The node that the worker holds, if any, and by node whether the worker has claimed it. `None`: the worker has
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
    /// Ends the run if no node has something to do, now or later. Returns whether the run ends; `None` if another
    /// worker holds a node, or if a node is to be looked at now.
    pub(super) fn ends_without_work(&self) -> Option<bool> {
        if !self.board.change(Core::claim_all) {
            return None;
        }
        let mut asked = locked(&self.attends.asked).take();
        let ends = asked.as_mut().map(|asked| &mut *asked.ends);
        let mut seen = Seen { team: self, of: None };
        let has_work = work::has_work(self.nodes.len(), &mut seen, ends);
        // `asked` is `None` while another worker is in `ask`: that worker has taken the data out, and puts it back.
        if asked.is_some() {
            *locked(&self.attends.asked) = asked;
        }
        self.end_unless(has_work);
        self.board.change(Core::release_all);
        if has_work || self.attends.asks_again.load(Ordering::Relaxed) {
            self.ask(None);
        }
        // A `flush` that is due begins, and edges give way, before simulated time passes.
        let is_still = !has_work || self.board.change(|core| core.is_still());
        is_still.then_some(!has_work)
    }

    /// Ends the run unless it goes on. The caller gives its claimed nodes back afterwards: no worker begins a `flush` then.
    fn end_unless(&self, goes_on: bool) {
        if !goes_on {
            self.end(Outcome::Over);
        }
    }

    /// Begins a look at a node that the calling worker holds. Returns whether the node is an attendant that must not run
    /// now, since [`Attends::is_due`] is set.
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

    /// Ends a look at a node that the calling worker holds. Returns whether the worker is to call [`ask`](Self::ask) when
    /// it has given the node back.
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
        // Of two workers that get here after their looks, at least one sees what the other one's node has stored in its cell.
        fence(Ordering::SeqCst);
        found == Looked::default() && (is_due.load(Ordering::Relaxed) || following.may_follow())
    }

    /// Finds out whether a `flush` is due, an edge gives way or the run is over, since nodes have ended, and acts on it. The
    /// calling worker holds the node `held`, or none.
    pub(super) fn ask(&self, held: Option<NodeId>) {
        turns::point("a worker asks what follows from the end of nodes");
        let Attends { asked, is_due, asks_again, .. } = &self.attends;
        let mut is_over = false;
        let mut place = locked(asked);
        while !is_over {
            let Some(question) = &mut *place else {
                // Another worker is in this function, and may have missed the latest changes: it repeats its check.
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
            // Without an answer, some node is still to be looked at, and its worker calls `ask` when it has given the node
            // back. This worker does not repeat its check: each claim moves queued nodes to the end of the queue, so no
            // worker would get to the last of them.
            let is_left = may_be_over && over.is_none();
            if is_left || !asks_again.load(Ordering::Relaxed) {
                break;
            }
        }
    }

    /// Begins each `flush` that is due, and has edges give way. `answers`: whether the run is over is known, or need
    /// not be found out.
    fn follow(&self, held: Option<NodeId>, question: &mut Asked, answers: bool) {
        let Asked { ends, claimed } = question;
        let misses = |node: NodeId| ends.stands()[node] && held != Some(node);
        // All nodes are given back when the run is over.
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

    /// Ends the run if no node is left for which an attendant runs, and returns whether the run ends. `None`: there is
    /// no answer yet, since a node other than `held` is to be looked at, or another worker looks at an attendant. An
    /// attendant with a running hook does not delay the answer.
    fn is_over(&self, held: Option<NodeId>, asks: Asks, question: &mut Asked) -> Option<bool> {
        let Asked { ends, claimed } = question;
        let mut is_over = None;
        let attends = |node: NodeId| ends.attends(node);
        // A tick that has begun goes on, and no other tick of an attendant begins before the answer.
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
