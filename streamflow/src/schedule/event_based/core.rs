//! The state machine of the event-based scheduler. It chooses which node runs next, on which worker, and which sleeping worker to
//! wake. It has no threads, clocks and atomics: [`Board`](super::board::Board) keeps it behind a lock.
//!
//! A worker *looks at* a node when something that the node waits for may have changed. To look at a node is to call
//! `AnyNode::step`, which runs a tick if the node is ready for one. So a look that was not needed does no harm; the rules below
//! only ensure that no needed look is left out.
//!
//! # Invariants
//!
//! 1. A node is held by at most one worker at a time: the worker that looks at it.
//! 2. After a change of a node, a look at each of its neighbours begins. If another worker holds a neighbour at that moment, the
//!    neighbour is looked at once more when that worker gives it back.
//! 3. While a node is queued, a worker that may run it is awake, or has been woken. A worker parks only when no node is queued
//!    that it may run, and queueing a node wakes a worker if all workers that may run the node are parked.
//! 4. At most one worker is the poller, which asks the device and the clock whether nodes' waits have ended. While a node
//!    waits and a worker has nothing to run, there is a poller.
//! 5. The poller sleeps only if its lists have all events for which nodes wait. The poller is woken when a node begins to wait
//!    for another event, and when the last running hook has returned.
//! 6. The run is over when no node is queued, held or waiting. After that, no worker parks any more.
//! 7. `Team::ask` (`attends.rs`) finds out whether a `flush` is due, an edge gives way or the run is over, since nodes have
//!    ended. A worker that gives back a node calls `Team::ask` next if the look's result has [`Looked::asks`], or if another
//!    worker's `Team::ask` has found the node held. Simulated time does not advance until the call has returned.

#[cfg(all(test, not(loom)))]
#[path = "core/tests/mod.rs"]
mod tests;
#[path = "core/wakes.rs"]
mod wakes;

use std::collections::VecDeque;

use smallvec::SmallVec;

/// The index of a node, in the static order of the graph's nodes.
pub(super) type NodeId = usize;

/// The index of a worker. Workers with lower indices than [`Core`]'s `shared` may run every node without a home.
pub(super) type WorkerId = usize;

/// A list of workers to wake after the lock is released. It has at most [`MOST_WAKES`] workers, so it needs no heap memory.
pub(super) type Wakes = SmallVec<[WorkerId; MOST_WAKES]>;

/// The largest number of workers that one call of [`Core::take_wakes`] returns.
pub(super) const MOST_WAKES: usize = 8;

/// A node's connections: the worker that may run the node, and the nodes at the other ends of its edges.
#[derive(Debug, Clone, Default)]
#[cfg_attr(test, derive(PartialEq, Eq, Hash))]
pub(super) struct NodeLinks {
    /// The only worker that may run the node. `None` if each shared worker may run it.
    pub(super) home: Option<WorkerId>,
    /// The nodes at the other ends of the node's edges. A tick of the node may make them ready.
    pub(super) neighbours: Box<[NodeId]>,
}

/// The result of a look at a node, that is, of a call of `AnyNode::step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Looked {
    /// Whether the call ran a tick that changed something, for example a queue, or dropped messages.
    pub(super) changed: bool,
    /// Whether a worker is to look at the node again at once.
    pub(super) again: bool,
    /// Whether the node waits for a point of a stream, for a moment, or for another thread.
    pub(super) waits: bool,
    /// Whether the node did a tick that changed nothing. Such a node is looked at after every change of any other node.
    pub(super) restless: bool,
    /// Whether the worker is to call `Team::ask`, since a `flush` may be due, an edge may give way, or the run may be over.
    pub(super) asks: bool,
}

/// The action that a worker is to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The worker looks at this node: it calls `AnyNode::step`.
    Look(NodeId),
    /// The worker polls: it checks whether the waits of nodes have ended, and sleeps until one may have ended.
    Poll,
    /// The worker checks once whether the waits of nodes have ended, since all other workers are busy. It does not sleep, and
    /// then calls [`Core::next`] again.
    Check,
    /// The worker calls `Team::ask`, and then [`Core::asked`].
    Ask,
    /// The worker spins for a moment, and then calls [`Core::next`] again.
    Spin,
    /// The worker sleeps until another worker wakes it.
    Park,
    /// The worker returns, since the run is over.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(Hash))]
enum State {
    /// The node is not in a queue, and no worker holds it.
    Quiet,
    Queued,
    Held {
        /// Whether a worker is to look at the node again when the node is given back.
        again: bool,
    },
}

#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq, Eq, Hash))]
struct Node {
    place: NodeLinks,
    state: State,
    waits: bool,
    restless: bool,
    /// Whether a call of `Team::ask` could not check the node, since a worker held the node.
    missed: bool,
    /// The value of `Core::changes` when a worker last began to look at the node.
    began: u64,
}

/// What a worker does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(Hash))]
enum Doing {
    /// The worker is awake, and holds no node.
    Looks,
    /// The worker holds a node.
    Works,
    /// The worker holds no node. It is in a call of `Team::ask`, or is about to call it.
    Asks,
    /// The worker's hook sleeps in simulated time, until this moment.
    Naps(u64),
    Polls {
        sleeps: bool,
    },
    Parked,
}

/// The scheduler's state of a run: its nodes, its workers and their queues.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq, Eq, Hash))]
pub(super) struct Core {
    nodes: Box<[Node]>,
    workers: Box<[Doing]>,
    shared: usize,
    /// The queued nodes that every shared worker may run, each with the value of `queued` when it was queued.
    queue: VecDeque<(u64, NodeId)>,
    /// For each worker, the queued nodes that only this worker may run.
    own: Box<[VecDeque<(u64, NodeId)>]>,
    /// How many times a node was queued, plus one at the end of the run. A spinning worker reads only this number to find out
    /// whether to call `next` again.
    queued: u64,
    waiting: usize,
    held: usize,
    restless: usize,
    /// How many calls of `AnyNode::step`, of all nodes, have changed something.
    changes: u64,
    poller: Option<WorkerId>,
    /// A number that rises with each change that the poller must notice before it sleeps.
    version: u64,
    /// How many nodes workers have looked at since one of them last polled.
    since_poll: usize,
    /// Whether a worker has looked at a node, or called `Team::ask`, since the poller was last woken because no hook was running.
    has_looked: bool,
    is_over: bool,
    /// The workers to wake that [`take_wakes`](Self::take_wakes) has not returned yet.
    wakes: Vec<WorkerId>,
}

impl Core {
    /// Creates the state of a run of these nodes, with every node queued. The first `shared` workers may run the nodes without a
    /// home.
    pub(super) fn new(places: Vec<NodeLinks>, shared: usize, workers: usize) -> Self {
        let state = State::Quiet;
        let node =
            |place| Node { place, state, waits: false, restless: false, missed: false, began: 0 };
        let nodes: Box<[Node]> = places.into_iter().map(node).collect();
        let count = nodes.len();
        let mut core = Self {
            nodes,
            workers: vec![Doing::Looks; workers].into(),
            shared,
            queue: VecDeque::with_capacity(count),
            own: (0..workers).map(|_| VecDeque::with_capacity(count)).collect(),
            queued: 0,
            waiting: 0,
            held: 0,
            restless: 0,
            changes: 0,
            poller: None,
            version: 0,
            since_poll: 0,
            has_looked: false,
            is_over: false,
            // Room for all wakes, so that no push allocates: a worker is woken at most once until it has slept again, and the end
            // of a run wakes each worker once more.
            wakes: Vec::with_capacity(2 * workers),
        };
        (0..count).for_each(|node| core.touch(node));
        core
    }

    /// Returns the workers to wake since the last call. If the list has [`MOST_WAKES`] workers, more workers may be left.
    pub(super) fn take_wakes(&mut self) -> Wakes {
        let count = self.wakes.len().min(MOST_WAKES);
        self.wakes.drain(..count).collect()
    }

    /// A number that changes when a node is queued that a spinning worker may run, and when the run is over.
    pub(super) fn epoch(&self) -> u64 {
        self.queued
    }

    /// The number that the poller passes to [`may_sleep`](Self::may_sleep).
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Returns the worker that is the poller, if any.
    pub(super) fn poller(&self) -> Option<WorkerId> {
        self.poller
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the next action of a worker that holds no node. `rests` says that the worker has spun long enough, and may park.
    pub(super) fn next(&mut self, worker: WorkerId, rests: bool) -> Next {
        if self.workers[worker] == Doing::Asks && !self.is_over {
            self.wake_for_queue();
            return Next::Ask;
        }
        let polled = self.poller == Some(worker);
        self.workers[worker] = Doing::Looks;
        if polled {
            self.poller = None;
            self.since_poll = 0;
        }
        let next = self.choose(worker, rests);
        match next {
            Next::Park => self.workers[worker] = Doing::Parked,
            Next::Poll | Next::Check => {
                self.workers[worker] = Doing::Polls { sleeps: false };
                self.poller = Some(worker);
                self.since_poll = 0;
            }
            Next::Look(node) => {
                self.workers[worker] = Doing::Works;
                self.nodes[node].state = State::Held { again: false };
                self.nodes[node].began = self.changes;
                self.held += 1;
                self.since_poll += 1;
                if self.poller.is_none() {
                    self.hand_over_poll();
                }
            }
            Next::Ask | Next::Spin | Next::End => {}
        }
        if self.has_looked && matches!(next, Next::Spin | Next::Park) && self.is_still() {
            // No hook runs, except hooks that sleep in simulated time, and no worker is left that may run a queued node. The
            // poller is woken: it may now advance a simulated clock, or find that the run is over.
            self.has_looked = false;
            self.version += 1;
            self.wake_poller();
        }
        self.wake_for_queue();
        next
    }

    fn choose(&mut self, worker: WorkerId, rests: bool) -> Next {
        if self.is_over {
            return Next::End;
        }
        if self.waiting > 0 && self.poller.is_none() && self.since_poll > self.nodes.len() {
            return Next::Check;
        }
        if let Some(node) = self.pop(worker) {
            return Next::Look(node);
        }
        let is_quiet = self.held == 0 && self.waiting == 0 && !self.has_queued();
        // While another worker is in `Team::ask`, the run is not over: the call may find a node that can run.
        if is_quiet && !self.workers.contains(&Doing::Asks) {
            self.end();
            return Next::End;
        }
        match self.poller {
            None => Next::Poll,
            Some(_) if rests => Next::Park,
            Some(_) => Next::Spin,
        }
    }

    /// Takes the node that was queued first, among the nodes that the worker may run.
    fn pop(&mut self, worker: WorkerId) -> Option<NodeId> {
        let own = self.own[worker].front().map(|(number, _)| *number);
        let shared = self.queue.front().filter(|_| worker < self.shared).map(|(number, _)| *number);
        let queue = match (own, shared) {
            (None, None) => return None,
            (Some(own), Some(shared)) if shared < own => &mut self.queue,
            (Some(_), _) => &mut self.own[worker],
            (None, Some(_)) => &mut self.queue,
        };
        queue.pop_front().map(|(_, node)| node)
    }

    /// Whether a node is queued that this worker may run, or the run is over.
    pub(super) fn has_news_for(&self, worker: WorkerId) -> bool {
        let shared = worker < self.shared && !self.queue.is_empty();
        self.is_over || shared || !self.own[worker].is_empty()
    }

    fn has_queued(&self) -> bool {
        !self.queue.is_empty() || self.own.iter().any(|own| !own.is_empty())
    }

    /// Returns the nodes that wait for a point of a stream, a moment or another thread, and that are neither queued nor held.
    pub(super) fn waiting(&self) -> impl Iterator<Item = NodeId> {
        let waits = |node: &Node| node.waits && node.state == State::Quiet;
        self.nodes.iter().enumerate().filter(move |(_, node)| waits(node)).map(|(node, _)| node)
    }

    /// Gives back a node after the worker has looked at it. `found` is the result of the look.
    pub(super) fn looked(&mut self, worker: WorkerId, node: NodeId, found: Looked) {
        self.has_looked = true;
        self.held -= 1;
        let Node { state, waits, restless, missed, began, .. } = &mut self.nodes[node];
        let asks = std::mem::take(missed) || found.asks;
        self.workers[worker] = if asks { Doing::Asks } else { Doing::Looks };
        // A restless node is looked at again if another node has changed since this look began.
        let again = matches!(state, State::Held { again: true })
            || found.restless && *began != self.changes;
        *state = State::Quiet;
        self.waiting = self.waiting + usize::from(found.waits) - usize::from(*waits);
        *waits = found.waits;
        self.restless = self.restless + usize::from(found.restless) - usize::from(*restless);
        *restless = found.restless;
        if found.waits {
            self.version += 1;
            self.wake_poller();
        }
        if found.changed {
            self.changes += 1;
            for index in 0..self.nodes[node].place.neighbours.len() {
                self.touch(self.nodes[node].place.neighbours[index]);
            }
            if self.restless > 0 {
                self.touch_restless();
            }
        }
        if again || found.again || found.changed {
            self.touch(node);
        }
    }

    #[cold]
    fn touch_restless(&mut self) {
        for node in 0..self.nodes.len() {
            if self.nodes[node].restless {
                self.touch(node);
            }
        }
    }

    /// Queues a node for a look, since something that the node waits for may have changed.
    pub(super) fn touch(&mut self, node: NodeId) {
        let Node { place, state, waits, .. } = &mut self.nodes[node];
        match state {
            State::Held { again } => *again = true,
            State::Queued => {}
            State::Quiet => {
                *state = State::Queued;
                self.queued += 1;
                // The poller's lists leave queued nodes out. The new version makes the poller build its lists again.
                self.version += u64::from(*waits);
                match place.home {
                    None => self.queue.push_back((self.queued, node)),
                    Some(home) => {
                        self.own[home].push_back((self.queued, node));
                        self.wake(home);
                    }
                }
            }
        }
    }

    /// Queues each of these nodes for a look. The poller calls this, and wakes other workers since it may not run all nodes
    /// itself.
    pub(super) fn touch_all(&mut self, nodes: impl Iterator<Item = NodeId>) {
        nodes.for_each(|node| self.touch(node));
        self.wake_for_queue();
    }

    /// Claims a node that no worker holds, so that the caller may read the node without running a tick. Returns `false` if a
    /// worker holds the node. That worker looks at the node again after it has given the node back.
    pub(super) fn claim(&mut self, node: NodeId) -> bool {
        if let State::Held { again } = &mut self.nodes[node].state {
            *again = true;
            return false;
        }
        self.held += 1;
        let was_queued = self.nodes[node].state == State::Queued;
        if was_queued {
            let queues = self.own.iter_mut().chain([&mut self.queue]);
            queues.for_each(|queue| queue.retain(|(_, queued)| *queued != node));
        }
        self.nodes[node].state = State::Held { again: was_queued };
        true
    }

    /// [Claims](Self::claim) all nodes, if no worker holds any of them. Returns whether the nodes are claimed.
    pub(super) fn claim_all(&mut self) -> bool {
        let is_held = |node: &Node| matches!(node.state, State::Held { .. });
        !self.nodes.iter().any(is_held) && (0..self.nodes.len()).all(|node| self.claim(node))
    }

    /// Records that the worker is about to call `Team::ask`. The worker holds no node.
    pub(super) fn ask(&mut self, worker: WorkerId) {
        self.workers[worker] = Doing::Asks;
    }

    /// Records that the worker's call of `Team::ask` has returned.
    pub(super) fn asked(&mut self, worker: WorkerId) {
        self.has_looked = true;
        self.workers[worker] = Doing::Looks;
    }

    /// [Claims](Self::claim) each node that no worker holds, and sets the node's flag in `claimed`. Returns whether any node was
    /// claimed. For a held node, `misses` returns whether the worker that holds it must call `Team::ask` after giving it back.
    pub(super) fn claim_free(
        &mut self,
        claimed: &mut [bool],
        misses: impl Fn(NodeId) -> bool,
    ) -> bool {
        for (node, claimed) in claimed.iter_mut().enumerate() {
            let is_held = matches!(self.nodes[node].state, State::Held { .. });
            self.nodes[node].missed |= is_held && misses(node);
            *claimed = !is_held && self.claim(node);
        }
        claimed.contains(&true)
    }

    /// Does the same as [`claim_free`](Self::claim_free), if each node is quiet, is an attendant, or is the node `held` by the
    /// caller. Returns `false`, and claims no node, if any other node is held or queued. Calls `runs_on` with each held node.
    pub(super) fn claim_beside(
        &mut self,
        held: Option<NodeId>,
        attends: impl Fn(NodeId) -> bool,
        claimed: &mut [bool],
        runs_on: impl Fn(NodeId),
    ) -> bool {
        let mut nodes = self.nodes.iter().enumerate();
        let is_quiet = nodes.all(|(index, node)| {
            attends(index) || held == Some(index) || node.state == State::Quiet
        });
        if is_quiet {
            self.claim_free(claimed, |node| {
                runs_on(node);
                false
            });
        }
        is_quiet
    }

    /// Gives back the nodes that [`claim_free`](Self::claim_free) or [`claim_beside`](Self::claim_beside) has claimed.
    pub(super) fn release_beside(&mut self, claimed: &[bool]) {
        let claimed = claimed.iter().enumerate().filter(|(_, claimed)| **claimed);
        claimed.for_each(|(node, _)| self.release(node));
    }

    /// Gives back all nodes, after [`claim_all`](Self::claim_all).
    pub(super) fn release_all(&mut self) {
        (0..self.nodes.len()).for_each(|node| self.release(node));
    }

    /// Gives back one node that [`claim`](Self::claim) has claimed.
    pub(super) fn release(&mut self, node: NodeId) {
        self.held -= 1;
        let again = matches!(self.nodes[node].state, State::Held { again: true });
        // A worker that claims nodes calls `Team::ask` afterwards, so the node's missed check is made up for.
        self.nodes[node].missed = false;
        self.nodes[node].state = State::Quiet;
        if again {
            self.touch(node);
        }
        self.wake_for_queue();
        // The run may be over. The poller is woken so that it finds that out.
        self.version += 1;
        self.wake_poller();
    }

    /// Ends the run: wakes all workers, which return.
    pub(super) fn end(&mut self) {
        self.is_over = true;
        self.queued += 1;
        (0..self.workers.len()).for_each(|worker| self.wake(worker));
    }
}
