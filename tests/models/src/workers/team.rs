//! Workers for the models. They run the protocol in `streamflow/src/schedule/event_based/protocol.rs`, without hooks,
//! devices and real time. A worker parks at once, without spinning.

use std::convert::Infallible;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc as Plain;
use std::sync::atomic::{AtomicU64 as PlainU64, Ordering as PlainOrdering};
use std::time::Duration;

use super::board::Board;
use super::core::{Looked, NodeId, NodeLinks, WorkerId};
use super::protocol::{self, Pause};
use crate::driver::Signal;
use crate::sync::{Arc, AtomicBool, Ordering, UnsafeCell};

const LONG: Duration = Duration::from_secs(3600);

pub(crate) const NOTHING: Looked =
    Looked { changed: false, again: false, waits: false, restless: false, asks: false };
pub(crate) const CHANGED: Looked = Looked { changed: true, ..NOTHING };
pub(crate) const ASKS: Looked = Looked { asks: true, ..NOTHING };

/// The event that a node waits for.
#[derive(Clone)]
pub(crate) enum Wait {
    /// A flag that another thread sets before it raises the run's signal.
    Flag(Plain<AtomicBool>),
    /// A moment of the simulated clock.
    Until(u64),
}

type Look = Box<dyn FnMut(&Team, WorkerId) -> Result<Looked, Wait> + Send>;

/// A node of a model: its state on the board, and the function that runs it. The function's error is the event for which
/// the node then waits.
pub(crate) struct Node {
    place: NodeLinks,
    look: UnsafeCell<Look>,
    waits: UnsafeCell<Option<Wait>>,
}

/// Makes a node that only the worker `home` runs. With `None`, any worker runs it.
pub(crate) fn node(
    home: Option<WorkerId>,
    neighbours: &[NodeId],
    look: impl FnMut(&Team, WorkerId) -> Result<Looked, Wait> + Send + 'static,
) -> Node {
    let place = NodeLinks { home, neighbours: neighbours.into() };
    Node { place, look: UnsafeCell::new(Box::new(look)), waits: UnsafeCell::new(None) }
}

/// The state that the workers share.
pub(crate) struct Team {
    pub(crate) board: Board,
    pub(crate) run: Arc<Signal>,
    nodes: Vec<Node>,
    /// The simulated clock. Access to it synchronises no threads of the model.
    clock: PlainU64,
    stops: AtomicBool,
    /// The waits that the polling worker has listed, and the version of the board that the list shows. loom reports two
    /// workers that poll at once.
    poller: UnsafeCell<(Option<u64>, Vec<(NodeId, Wait)>)>,
}

// SAFETY: loom reports two accesses of a cell that nothing orders.
unsafe impl Send for Team {}
// SAFETY: loom reports two accesses of a cell that nothing orders.
unsafe impl Sync for Team {}

/// A team that is leaked if the model has failed: loom's values must not be dropped outside of a running model.
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
            // SAFETY: the team is dropped only here, and only once.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

impl Team {
    pub(crate) fn new(nodes: Vec<Node>, workers: usize) -> Plain<Kept> {
        let run = Arc::new(Signal::default());
        let places = nodes.iter().map(|node| node.place.clone()).collect();
        let board = Board::new(places, workers, workers, run.clone());
        let poller = UnsafeCell::new((None, Vec::new()));
        let (clock, stops) = (PlainU64::new(0), AtomicBool::new(false));
        let team = Self { board, run, nodes, clock, stops, poller };
        Plain::new(Kept(ManuallyDrop::new(team)))
    }

    pub(crate) fn work(&self, me: WorkerId) {
        let Ok(()) = protocol::work(&self.board, me, &mut None, &mut Worker { team: self, me });
    }

    fn look(&self, me: WorkerId, node: NodeId) -> Looked {
        let look = self.nodes[node].look.to_write();
        // SAFETY: loom reports two workers that run the node at one time, and a node's function does not call itself.
        let found = unsafe { &mut *look }(self, me);
        // This second access lets loom check that no other worker held the node during the call.
        self.nodes[node].look.to_write();
        match found {
            Ok(found) => found,
            Err(wait) => {
                let waits = self.nodes[node].waits.to_write();
                // SAFETY: loom reports two workers that run the node at one time.
                unsafe { *waits = Some(wait) };
                Looked { waits: true, ..NOTHING }
            }
        }
    }

    /// Returns the list of all waits, as the library's `Team::refresh` does. Makes the list anew only if the board's
    /// version has changed.
    fn list(&self, version: u64) -> Vec<(NodeId, Wait)> {
        let poller = self.poller.to_write();
        // SAFETY: loom reports two workers that poll at one time, and the reference ends with this function.
        let (listed, waits) = unsafe { &mut *poller };
        if listed.replace(version) != Some(version) {
            waits.clear();
            self.board.change(|core| {
                // The board's lock protects the waits here: a node's wait has no lock of its own in the models.
                for node in core.waiting() {
                    // SAFETY: loom reports a worker that runs the node at this time, since such a worker may write the
                    // node's wait.
                    let wait = unsafe { (*self.nodes[node].waits.to_read()).clone() };
                    waits.extend(wait.map(|wait| (node, wait)));
                }
            });
        }
        waits.clone()
    }

    /// Finds the waits whose event has happened, as the library's `Team::find` does.
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

    pub(crate) fn nap(&self, me: WorkerId, until: u64) {
        protocol::nap(&self.board, me, until, self, |bell, seen| bell.sleep(seen, LONG));
    }

    /// Stops the run, from another thread.
    pub(crate) fn stop(&self) {
        self.stops.store(true, Ordering::Release);
        self.run.raise();
    }
}

impl protocol::Moves for Team {
    fn now(&self) -> u64 {
        self.clock()
    }

    fn advance_to(&self, moment: u64) {
        self.clock.fetch_max(moment, PlainOrdering::SeqCst);
    }
}

struct Worker<'t> {
    team: &'t Team,
    me: WorkerId,
}

impl protocol::Thread for Worker<'_> {
    type Error = Infallible;

    fn obeys(&self, _: &mut Option<(NodeId, Looked)>) -> Result<bool, Infallible> {
        if self.team.stops.load(Ordering::Acquire) {
            self.team.board.change(|core| core.end());
        }
        Ok(true)
    }

    fn has_spun(&self) -> bool {
        true
    }

    fn look(&mut self, node: NodeId) -> Result<Looked, Infallible> {
        Ok(self.team.look(self.me, node))
    }

    /// Claims nodes to find out which have ended, as the library's `Team::ask` does. The models have no node to claim.
    fn ask(&mut self) {
        let claimed = self.team.board.change(|core| core.claim_free(&mut [], |_| false));
        assert!(!claimed, "there is no node to claim");
        assert_eq!(self.team.clock(), 0, "time passes before a question is asked");
    }

    fn poll(&mut self) -> Result<(), Infallible> {
        let polling = &mut Polling { team: self.team, waits: Vec::new(), seen: 0 };
        protocol::poll(&self.team.board, self.me, polling)
    }

    fn check(&mut self) -> Result<(), Infallible> {
        let version = self.team.board.change(|core| core.version());
        let waits = self.team.list(version);
        self.team.find(&waits);
        Ok(())
    }

    fn spin(&mut self, _: u64) {
        unreachable!("the worker has spun")
    }

    fn park(&mut self, bell: &Signal, seen: u64) -> Result<(), Infallible> {
        assert!(bell.sleep(seen, LONG));
        Ok(())
    }
}

struct Polling<'t> {
    team: &'t Team,
    waits: Vec<(NodeId, Wait)>,
    seen: u64,
}

impl protocol::Polls for Polling<'_> {
    type Error = Infallible;
    type Sleep = ();

    fn begin_pass(&mut self) -> bool {
        self.seen = self.team.run.raised();
        !self.team.stops.load(Ordering::Acquire)
    }

    fn find(&mut self, version: u64) -> Result<bool, Infallible> {
        self.waits = self.team.list(version);
        Ok(self.team.find(&self.waits))
    }

    fn rest(&mut self, naps_end: Option<u64>, is_still: bool) -> Pause<()> {
        let moments = self.waits.iter().filter_map(|(_, wait)| match wait {
            Wait::Until(moment) => Some(*moment),
            Wait::Flag(_) => None,
        });
        match moments.chain(naps_end).min().filter(|_| is_still) {
            Some(moment) if self.team.clock() < moment => {
                self.team.clock.store(moment, PlainOrdering::SeqCst);
                Pause::Advanced(moment)
            }
            _ => Pause::Sleep(()),
        }
    }

    fn sleep(&mut self, (): ()) -> Result<(), Infallible> {
        assert!(self.team.run.sleep(self.seen, LONG));
        Ok(())
    }
}
