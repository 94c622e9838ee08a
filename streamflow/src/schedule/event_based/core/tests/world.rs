//! The state machine with model workers, and the events that may happen to them.

use super::*;

/// The nodes and workers of an exploration, and which events may happen.
#[derive(Debug, Clone)]
pub(super) struct Scenario {
    pub(super) places: Vec<NodeLinks>,
    pub(super) shared: usize,
    pub(super) workers: usize,
    /// For each node, the possible results of a look at it.
    pub(super) outcomes: Vec<Vec<Looked>>,
    /// How many times hooks may sleep in simulated time, all hooks together.
    pub(super) naps: usize,
    /// Whether workers may claim nodes for a report, without a tick.
    pub(super) claims: bool,
    /// Whether an event may end the run at any time.
    pub(super) ends: bool,
}

/// One pass of the poller over the nodes that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Pass {
    pub(super) version: u64,
    pub(super) is_still: bool,
    pub(super) nap_ends: Option<u64>,
    /// Whether this is a check: the worker polls once, and does not sleep.
    pub(super) once: bool,
}

/// What a worker does between two changes of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// The worker is about to call `Core::next`.
    Asks,
    /// The worker is in `Team::ask`.
    Questions,
    Has(NodeId),
    Claims(NodeId),
    BeginsPass,
    ListsWaiting(Pass),
    Finds(Pass),
    AsksWhetherStill(Pass),
    Rests(Pass),
    SleepsAsPoller {
        was_still: bool,
    },
    BeginsNap {
        node: NodeId,
        until: u64,
        is_again: bool,
    },
    MayMoveClock {
        node: NodeId,
        until: u64,
        alone: bool,
    },
    MayGetUp {
        node: NodeId,
        until: u64,
    },
    Naps {
        node: NodeId,
        until: u64,
    },
    Parked,
    Ended,
}

impl Phase {
    /// Returns the node that the worker holds in this phase.
    pub(super) fn node(self) -> Option<NodeId> {
        match self {
            Self::Has(node)
            | Self::Claims(node)
            | Self::BeginsNap { node, .. }
            | Self::MayMoveClock { node, .. }
            | Self::MayGetUp { node, .. }
            | Self::Naps { node, .. } => Some(node),
            _ => None,
        }
    }

    pub(super) fn polls(self) -> bool {
        use Phase::{AsksWhetherStill, BeginsPass, Finds, ListsWaiting, Rests, SleepsAsPoller};
        matches!(
            self,
            BeginsPass
                | ListsWaiting(_)
                | Finds(_)
                | AsksWhetherStill(_)
                | Rests(_)
                | SleepsAsPoller { .. }
        )
    }

    fn pass(&mut self) -> Option<&mut Pass> {
        match self {
            Self::ListsWaiting(pass)
            | Self::Finds(pass)
            | Self::AsksWhetherStill(pass)
            | Self::Rests(pass) => Some(pass),
            _ => None,
        }
    }
}

/// An event that leads from one state to the next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// A worker does its next step. The choice is the worker's, or that of a hook, a device or another thread.
    Step(WorkerId, Choice),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Only,
    /// The worker calls `Core::next`, and says that it has spun long enough to park.
    Rests,
    /// The worker gives its node back with this result of the look.
    Finds(Looked),
    /// The worker gives its node back with this result, and does something else before it calls `Core::next`.
    FindsAndIsBusy(Looked),
    Claims(NodeId),
    Naps(u64),
    /// The poller finds that the event has happened for which this node waits.
    Touches(NodeId),
    /// The poller spins instead of sleeping.
    Again,
    /// A device or another thread wakes the poller.
    IsRaised,
    /// The poller wakes although nothing has woken it.
    IsAwake,
}

/// A state of the exploration: the state machine, the workers, and the nodes that must be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) core: Core,
    pub(super) phases: Vec<Phase>,
    /// For each worker, whether its own signal was raised since the worker last read the signal's count.
    pub(super) bells: Vec<bool>,
    /// Whether the run's signal was nudged since the poller fell asleep.
    pub(super) is_nudged: bool,
    /// The nodes whose waits the poller checks, and the version for which it has made this list.
    pub(super) list: (Option<u64>, Vec<NodeId>),
    /// For each node, whether a look at it must follow.
    pub(super) owed: Vec<bool>,
    pub(super) restless: Vec<bool>,
    /// For each node, whether another node has changed something since the last look at this one began.
    pub(super) missed: Vec<bool>,
    /// For each worker, whether it must call `Team::ask`.
    pub(super) questions: Vec<bool>,
    pub(super) clock: u64,
    pub(super) naps: usize,
    pub(super) was_ended: bool,
}

impl World {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let (nodes, workers) = (scenario.places.len(), scenario.workers);
        let mut world = Self {
            core: Core::new(scenario.places.clone(), scenario.shared, workers),
            phases: vec![Phase::Asks; workers],
            bells: vec![false; workers],
            is_nudged: false,
            list: (None, Vec::new()),
            owed: vec![true; nodes],
            restless: vec![false; nodes],
            missed: vec![false; nodes],
            questions: vec![false; workers],
            clock: 0,
            naps: scenario.naps,
            was_ended: false,
        };
        world.core.take_wakes();
        world
    }

    /// Returns a form of the state. Two states with equal forms behave in the same way from now on.
    pub(super) fn normalized(&self) -> Self {
        let mut world = self.clone();
        let mut versions = vec![world.core.version];
        versions.extend(world.list.0);
        versions.extend(world.phases.iter_mut().filter_map(|it| it.pass().map(|it| it.version)));
        versions.sort_unstable();
        versions.dedup();
        let rank =
            |version: u64| versions.iter().position(|it| *it == version).map_or(0, |it| it as u64);
        for (node, missed) in world.missed.iter_mut().enumerate() {
            // `missed` has a meaning only during a look at the node, since the next look resets it.
            *missed &= world.phases.iter().any(|phase| phase.node() == Some(node));
        }
        world.core.version = rank(world.core.version);
        world.list.0 = world.list.0.map(rank);
        for pass in world.phases.iter_mut().filter_map(Phase::pass) {
            pass.version = rank(pass.version);
        }
        let queues = || world.core.own.iter().chain([&world.core.queue]).flatten();
        let mut numbers: Vec<u64> = queues().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        world.core.queued = numbers.len() as u64;
        for (number, _) in world.core.own.iter_mut().chain([&mut world.core.queue]).flatten() {
            *number = numbers.iter().position(|it| it == number).map_or(0, |it| it as u64);
        }
        world.core.since_poll = world.core.since_poll.min(world.core.nodes.len() + 1);
        let changes = std::mem::replace(&mut world.core.changes, 1);
        for node in &mut world.core.nodes {
            let is_held = matches!(node.state, State::Held { .. });
            node.began = u64::from(is_held && node.began == changes);
        }
        world
    }

    /// The model of `Board::change`: makes the change, and wakes the workers that the change names.
    pub(super) fn change<R>(&mut self, change: impl FnOnce(&mut Core) -> R) -> R {
        let poller = self.core.poller();
        let result = change(&mut self.core);
        for worker in self.core.take_wakes() {
            self.is_nudged |= poller == Some(worker);
            self.bells[worker] = true;
        }
        result
    }

    /// Returns the events that may happen in this state.
    pub(super) fn events(&self, scenario: &Scenario) -> Vec<Event> {
        let mut events = Vec::new();
        if scenario.ends && !self.core.is_over {
            events.push(Event::End);
        }
        for worker in 0..scenario.workers {
            let mut add = |choice| events.push(Event::Step(worker, choice));
            match self.phases[worker] {
                Phase::Asks => {
                    add(Choice::Only);
                    add(Choice::Rests);
                    if scenario.claims {
                        (0..scenario.places.len()).for_each(|node| add(Choice::Claims(node)));
                    }
                }
                Phase::Has(node) => {
                    for found in &scenario.outcomes[node] {
                        add(Choice::Finds(*found));
                        if scenario.claims {
                            add(Choice::FindsAndIsBusy(*found));
                        }
                    }
                    if self.naps > 0 {
                        add(Choice::Naps(self.clock + 1));
                        add(Choice::Naps(self.clock + 2));
                    }
                }
                Phase::Finds(_) => {
                    self.list.1.iter().for_each(|node| add(Choice::Touches(*node)));
                    add(Choice::Only);
                }
                Phase::Rests(_) => {
                    add(Choice::Again);
                    add(Choice::Only);
                }
                Phase::SleepsAsPoller { .. } => {
                    if self.is_nudged {
                        add(Choice::Only);
                    }
                    add(Choice::IsRaised);
                }
                Phase::Parked => {
                    if self.bells[worker] {
                        add(Choice::Only);
                    }
                    add(Choice::IsAwake);
                }
                Phase::Naps { .. } => {
                    if self.bells[worker] {
                        add(Choice::Only);
                    }
                }
                Phase::Ended => {}
                _ => add(Choice::Only),
            }
        }
        events
    }

    /// Applies an event to this state.
    pub(super) fn happens(&mut self, event: Event) {
        match event {
            Event::End => {
                self.was_ended = true;
                self.change(Core::end);
            }
            Event::Step(worker, choice) => self.phases[worker] = self.step(worker, choice),
        }
    }
}
