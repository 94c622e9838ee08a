//! The loops of `worker.rs`, `poller.rs` and `nap.rs` in `streamflow/src/schedule/event_based`, without hooks, devices and
//! real time. A worker parks at once.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc as Plain;
use std::sync::atomic::{AtomicU64 as PlainU64, Ordering as PlainOrdering};
use std::time::Duration;

use super::board::Board;
use super::core::{Looked, Next, NodeId, Place, WorkerId};
use crate::driver::Signal;
use crate::sync::{Arc, AtomicBool, Ordering, UnsafeCell};

const LONG: Duration = Duration::from_secs(3600);

pub(crate) const NOTHING: Looked =
    Looked { changed: false, again: false, waits: false, restless: false };
pub(crate) const CHANGED: Looked = Looked { changed: true, ..NOTHING };

/// What a node waits for.
#[derive(Clone)]
pub(crate) enum Wait {
    /// Until another thread sets it, and then raises the run's signal.
    Flag(Plain<AtomicBool>),
    /// A moment of the simulated clock.
    Until(u64),
}

type Look = Box<dyn FnMut(&Team, WorkerId) -> Result<Looked, Wait> + Send>;

/// A node: its place, and what a look at it does. An error is what it waits for.
pub(crate) struct Node {
    place: Place,
    look: UnsafeCell<Look>,
    waits: UnsafeCell<Option<Wait>>,
}

/// A node which this worker alone runs, or any.
pub(crate) fn node(
    home: Option<WorkerId>,
    neighbours: &[NodeId],
    look: impl FnMut(&Team, WorkerId) -> Result<Looked, Wait> + Send + 'static,
) -> Node {
    let place = Place { home, neighbours: neighbours.into() };
    Node { place, look: UnsafeCell::new(Box::new(look)), waits: UnsafeCell::new(None) }
}

/// What the workers share.
pub(crate) struct Team {
    pub(crate) board: Board,
    pub(crate) run: Arc<Signal>,
    nodes: Vec<Node>,
    /// Orders no threads.
    clock: PlainU64,
    stops: AtomicBool,
    /// The list of the worker that polls, and its version. loom reports two workers that poll.
    poller: UnsafeCell<(Option<u64>, Vec<(NodeId, Wait)>)>,
    /// Whether a worker reads its bell after its question: the control.
    reads_late: bool,
}

// SAFETY: loom reports two accesses of a cell that nothing orders.
unsafe impl Send for Team {}
// SAFETY: as above.
unsafe impl Sync for Team {}

/// A team that is leaked when the model has failed: then it is dropped outside of the model.
pub(crate) struct Kept(ManuallyDrop<Team>);

impl Deref for Kept {
    type Target = Team;

    fn deref(&self) -> &Team {
        &self.0
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: it is dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

impl Team {
    pub(crate) fn new(nodes: Vec<Node>, workers: usize, reads_late: bool) -> Plain<Kept> {
        let run = Arc::new(Signal::default());
        let places = nodes.iter().map(|node| node.place.clone()).collect();
        let board = Board::new(places, workers, workers, run.clone());
        let poller = UnsafeCell::new((None, Vec::new()));
        let (clock, stops) = (PlainU64::new(0), AtomicBool::new(false));
        let team = Self { board, run, nodes, clock, stops, poller, reads_late };
        Plain::new(Kept(ManuallyDrop::new(team)))
    }

    /// As `Team::work`.
    pub(crate) fn work(&self, me: WorkerId) {
        let mut looked = None;
        loop {
            if self.stops.load(Ordering::Acquire) {
                self.board.change(|core| core.end());
            }
            let bell = self.board.bell(me);
            let seen = bell.raised();
            let next = self.board.next(me, looked.take(), true);
            let seen = if self.reads_late { bell.raised() } else { seen };
            match next {
                Next::Look(node) => looked = Some((node, self.look(me, node))),
                Next::Poll => self.poll(me),
                Next::Check => self.check(),
                Next::Park => assert!(bell.sleep(seen, LONG)),
                Next::Spin => unreachable!("the worker rests"),
                Next::End => return,
            }
        }
    }

    fn look(&self, me: WorkerId, node: NodeId) -> Looked {
        let look = self.nodes[node].look.to_write();
        // SAFETY: loom reports two workers that hold the node, and no look is nested.
        let found = unsafe { &mut *look }(self, me);
        // After what the hook did meanwhile, too.
        self.nodes[node].look.to_write();
        match found {
            Ok(found) => found,
            Err(wait) => {
                let waits = self.nodes[node].waits.to_write();
                // SAFETY: as above.
                unsafe { *waits = Some(wait) };
                Looked { waits: true, ..NOTHING }
            }
        }
    }

    /// As `Team::poll`.
    fn poll(&self, me: WorkerId) {
        loop {
            let seen = self.run.raised();
            if self.stops.load(Ordering::Acquire) {
                return;
            }
            let (has_news, version, is_still) =
                self.board.change(|core| (core.has_news_for(me), core.version(), core.is_still()));
            if has_news {
                return;
            }
            let waits = self.list(version);
            if self.find(&waits) {
                continue;
            }
            let nap_ends = self.board.change(|core| core.nap_ends());
            let is_still = is_still && self.board.change(|core| core.is_still());
            let moments = waits.iter().filter_map(|(_, wait)| match wait {
                Wait::Until(moment) => Some(*moment),
                Wait::Flag(_) => None,
            });
            if let Some(moment) = moments.chain(nap_ends).min().filter(|_| is_still)
                && self.clock() < moment
            {
                self.clock.store(moment, PlainOrdering::SeqCst);
                self.board.change(|core| core.end_naps(moment));
            } else if self.board.change(|core| core.may_sleep(me, version)) {
                assert!(self.run.sleep(seen, LONG));
                self.board.change(|core| core.awake(me));
            }
        }
    }

    /// As `Team::check`.
    fn check(&self) {
        let version = self.board.change(|core| core.version());
        let waits = self.list(version);
        self.find(&waits);
    }

    /// As `Team::refresh`.
    fn list(&self, version: u64) -> Vec<(NodeId, Wait)> {
        let poller = self.poller.to_write();
        // SAFETY: loom reports two workers that poll, and the reference ends here.
        let (listed, waits) = unsafe { &mut *poller };
        if listed.replace(version) != Some(version) {
            waits.clear();
            self.board.change(|core| {
                // Under the lock of the state: here a node's wait has no lock of its own.
                for node in core.waiting() {
                    // SAFETY: loom reports a worker that has the node at this time.
                    let wait = unsafe { (*self.nodes[node].waits.to_read()).clone() };
                    waits.extend(wait.map(|wait| (node, wait)));
                }
            });
        }
        waits.clone()
    }

    /// As `Team::find`.
    fn find(&self, waits: &[(NodeId, Wait)]) -> bool {
        let is_over = |wait: &Wait| match wait {
            Wait::Flag(flag) => flag.load(Ordering::Acquire),
            Wait::Until(moment) => self.clock() >= *moment,
        };
        let found: Vec<_> = waits.iter().filter(|(_, wait)| is_over(wait)).collect();
        if found.is_empty() {
            return false;
        }
        self.board.change(|core| core.touch_all(found.into_iter().map(|(node, _)| *node)));
        true
    }

    pub(crate) fn clock(&self) -> u64 {
        self.clock.load(PlainOrdering::SeqCst)
    }

    /// As `Naps::sleep`.
    pub(crate) fn nap(&self, me: WorkerId, until: u64) {
        if self.clock() >= until {
            return;
        }
        let bell = self.board.bell(me);
        let mut alone = self.board.change(|core| core.nap(me, until));
        loop {
            let seen = bell.raised();
            if alone {
                self.board.change(|core| {
                    if core.is_still()
                        && let Some(first) = core.nap_ends()
                    {
                        self.clock.fetch_max(first, PlainOrdering::SeqCst);
                        core.end_naps(self.clock());
                    }
                });
            }
            let goes_on = self.board.change(|core| {
                let ends = core.is_over() || self.clock() >= until;
                if ends && core.naps(me) {
                    core.get_up(me);
                }
                !ends && core.naps(me)
            });
            if !goes_on {
                return;
            }
            assert!(bell.sleep(seen, LONG));
            alone = self.board.change(|core| core.naps(me) && core.nap(me, until));
        }
    }

    /// Another thread stops the run.
    pub(crate) fn stop(&self) {
        self.stops.store(true, Ordering::Release);
        self.run.raise();
    }
}
