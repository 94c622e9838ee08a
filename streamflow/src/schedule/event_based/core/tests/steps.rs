//! Model workers that follow the protocol of `worker.rs`, `poller.rs` and `nap.rs`. Each step makes one change of the state.

use super::world::{Choice, Pass, Phase, World};
use super::*;

impl World {
    pub(super) fn step(&mut self, me: WorkerId, choice: Choice) -> Phase {
        match (self.phases[me], choice) {
            (Phase::Asks, Choice::Claims(node)) => {
                self.change(|core| core.ask(me));
                if self.change(|core| core.claim(node)) {
                    Phase::Claims(node)
                } else {
                    Phase::Questions
                }
            }
            (Phase::Questions, _) => {
                self.questions[me] = false;
                self.change(|core| core.asked(me));
                Phase::Asks
            }
            (Phase::Asks, choice) => self.asks(me, None, choice == Choice::Rests),
            (Phase::Has(node), Choice::Finds(found)) => self.asks(me, Some((node, found)), false),
            (Phase::Has(node), Choice::FindsAndIsBusy(found)) => {
                self.owe(me, node, found);
                self.change(|core| core.looked(me, node, found));
                Phase::Asks
            }
            (Phase::Has(node), Choice::Naps(until)) => {
                self.naps -= 1;
                Phase::BeginsNap { node, until, is_again: false }
            }
            (Phase::Claims(node), _) => {
                self.change(|core| core.release(node));
                Phase::Questions
            }
            (Phase::SleepsAsPoller { .. }, _) => {
                self.is_nudged = false;
                self.change(|core| core.awake(me));
                Phase::BeginsPass
            }
            (Phase::Parked, _) => Phase::Asks,
            (Phase::BeginsPass | Phase::ListsWaiting(_), _) => self.lists(me),
            (Phase::Finds(_) | Phase::AsksWhetherStill(_) | Phase::Rests(_), _) => {
                self.polls(me, choice)
            }
            _ => self.naps(me),
        }
    }

    /// The model of `Worker::run`.
    fn asks(&mut self, me: WorkerId, looked: Option<(NodeId, Looked)>, rests: bool) -> Phase {
        self.bells[me] = false;
        let was_over = self.core.is_over;
        if let Some((node, found)) = looked {
            self.owe(me, node, found);
        }
        let next = self.change(|core| {
            if let Some((node, found)) = looked {
                core.looked(me, node, found);
            }
            core.next(me, rests)
        });
        assert!(self.core.is_over || self.questions[me] == (next == Next::Ask), "no question");
        match next {
            Next::Ask => Phase::Questions,
            Next::Look(node) => {
                let holds = |phase: &Phase| phase.node() == Some(node);
                let others = (0..self.phases.len()).filter(|other| *other != me);
                assert!(!others.into_iter().any(|it| holds(&self.phases[it])), "two hold one node");
                let home = self.core.nodes[node].place.home;
                assert!(home.map_or(me < self.core.shared, |home| home == me), "not its worker");
                self.owed[node] = false;
                self.missed[node] = false;
                Phase::Has(node)
            }
            Next::Poll => Phase::BeginsPass,
            Next::Check => {
                let (is_still, nap_ends) = (false, None);
                Phase::ListsWaiting(Pass {
                    version: self.core.version,
                    is_still,
                    nap_ends,
                    once: true,
                })
            }
            Next::Spin => Phase::Asks,
            Next::Park => {
                assert!(!self.core.is_over, "a worker parks after the end");
                Phase::Parked
            }
            Next::End => {
                let nodes = self.core.nodes.iter();
                let is_quiet = nodes.clone().all(|it| it.state == State::Quiet && !it.waits);
                assert!(was_over || is_quiet, "the run ends too early");
                assert!(was_over || !self.questions.contains(&true), "a question is missing");
                assert!(
                    self.was_ended || !self.owed.contains(&true),
                    "a look is missing at the end"
                );
                Phase::Ended
            }
        }
    }

    /// Records which nodes must be looked at, after a look with the result `found`.
    fn owe(&mut self, me: WorkerId, node: NodeId, found: Looked) {
        self.questions[me] |= found.asks;
        self.restless[node] = found.restless;
        self.owed[node] |= found.restless && self.missed[node];
        if found.changed {
            self.missed.fill(true);
            let neighbours = self.core.nodes[node].place.neighbours.iter();
            neighbours.for_each(|other| self.owed[*other] = true);
            self.owed.iter_mut().zip(&self.restless).for_each(|(owed, it)| *owed |= *it);
        }
        self.owed[node] |= found.changed || found.again;
    }

    /// The model of `Team::check`, and of `Team::poll` up to the point where its lists are made.
    fn lists(&mut self, me: WorkerId) -> Phase {
        let Phase::ListsWaiting(pass) = self.phases[me] else {
            let (has_news, version, is_still) =
                self.change(|core| (core.has_news_for(me), core.version(), core.is_still()));
            let pass = Pass { version, is_still, nap_ends: None, once: false };
            return if has_news { Phase::Asks } else { Phase::ListsWaiting(pass) };
        };
        if self.list.0.replace(pass.version) != Some(pass.version) {
            self.list.1 = self.core.waiting().collect();
        }
        Phase::Finds(pass)
    }

    /// The model of `Team::poll` from the point where its lists are made.
    fn polls(&mut self, me: WorkerId, choice: Choice) -> Phase {
        match (self.phases[me], choice) {
            (Phase::Finds(pass), Choice::Touches(node)) => {
                self.owed[node] |= !self.core.is_over;
                self.change(|core| core.touch_all([node].into_iter()));
                if pass.once { Phase::Asks } else { Phase::BeginsPass }
            }
            (Phase::Finds(pass), _) if pass.once => Phase::Asks,
            (Phase::Finds(pass), _) => {
                Phase::AsksWhetherStill(Pass { nap_ends: self.core.nap_ends(), ..pass })
            }
            (Phase::AsksWhetherStill(pass), _) => {
                Phase::Rests(Pass { is_still: pass.is_still && self.core.is_still(), ..pass })
            }
            (Phase::Rests(pass), Choice::Only) => match pass.nap_ends.filter(|_| pass.is_still) {
                Some(until) if until > self.clock => {
                    self.move_clock(until);
                    self.change(|core| core.end_naps(until));
                    Phase::BeginsPass
                }
                Some(_) => Phase::BeginsPass,
                None if self.change(|core| core.may_sleep(me, pass.version)) => {
                    self.is_nudged = false;
                    Phase::SleepsAsPoller { was_still: pass.is_still }
                }
                None => Phase::BeginsPass,
            },
            _ => Phase::BeginsPass,
        }
    }

    fn move_clock(&mut self, until: u64) {
        for (worker, phase) in self.phases.iter().enumerate() {
            let may_run = match phase {
                Phase::Claims(node) => self.core.nodes[*node].state == State::Held { again: true },
                phase => phase.node().is_some() && !self.core.naps(worker),
            };
            assert!(self.core.is_over || !may_run, "the clock moves while a hook runs, or may run");
        }
        let is_due = self.questions.contains(&true);
        assert!(self.core.is_over || !is_due, "the clock moves before a question is asked");
        self.clock = self.clock.max(until);
    }

    /// The model of `Naps::sleep`.
    fn naps(&mut self, me: WorkerId) -> Phase {
        match self.phases[me] {
            Phase::BeginsNap { node, until, is_again } => {
                let alone = self.change(|core| (!is_again || core.naps(me)) && core.nap(me, until));
                Phase::MayMoveClock { node, until, alone }
            }
            Phase::MayMoveClock { node, until, alone } => {
                self.bells[me] = false;
                let first = self.core.nap_ends();
                if alone
                    && self.core.is_still()
                    && let Some(first) = first
                {
                    self.move_clock(first);
                    let clock = self.clock;
                    self.change(|core| core.end_naps(clock));
                }
                Phase::MayGetUp { node, until }
            }
            Phase::MayGetUp { node, until } => {
                let ends = self.core.is_over || self.clock >= until;
                let naps = self.core.naps(me);
                if ends && naps {
                    self.change(|core| core.get_up(me));
                }
                if !ends && naps { Phase::Naps { node, until } } else { Phase::Has(node) }
            }
            Phase::Naps { node, until } => Phase::BeginsNap { node, until, is_again: true },
            phase => phase,
        }
    }
}
