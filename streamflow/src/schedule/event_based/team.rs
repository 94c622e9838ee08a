//! The state that the workers of a run share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use smallvec::SmallVec;

use super::board::Board;
use super::core::NodeId;
use crate::context::RunControl;
use crate::driver::race::RaceWatch;
use crate::error::{Error, Result, forget};
use crate::graph::{AnyNode, NodeStatus, Waits};
use crate::lock::locked;
use crate::platform::Platform;
use crate::schedule::ends::Ends;
use crate::schedule::following::Following;
use crate::schedule::idle::Idle;
use crate::schedule::limit::Limit;
use crate::schedule::outcome::Outcome;
use crate::schedule::shared::Shared;
use crate::stream::Point;
use crate::sync::Arc;
use crate::time::Timestamp;

/// The state that the workers of a run share.
pub(super) struct Team<'r, 'g> {
    pub(super) board: Arc<Board>,
    /// Locked by the worker that holds the node, so that the lock is always free.
    pub(super) nodes: Box<[Mutex<&'r mut (dyn AnyNode + 'g)>]>,
    pub(super) control: &'r RunControl,
    pub(super) platform: &'r Platform,
    pub(super) limit: Limit,
    /// Whether there are more workers than cores: one that spins lets others run.
    pub(super) is_crowded: bool,
    pub(super) poller: Mutex<Poller<'r>>,
    /// The events for which each node waits, from its last look.
    pub(super) waiting: Mutex<Box<[Waiting]>>,
    /// If the driver is watched.
    pub(super) races: Option<Mutex<&'r mut RaceWatch>>,
    pub(super) shared: Option<&'r Shared>,
    pub(super) attends: Attends,
    /// Whether a report is being made.
    pub(super) collects: AtomicBool,
    pub(super) collection: Mutex<Collection>,
    pub(super) ended: Mutex<Ended>,
}

/// The events for which a node waits.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) waits: Waits,
    /// How often the run's signal was raised before the look that found this.
    pub(super) raises: u64,
}

/// How the run has ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) first: Option<Result<Outcome>>,
    /// Whether the first is an error of a call that was refused, since the device is unusable.
    is_refusal: bool,
    /// Errors of other workers after the first.
    pub(super) followed: Vec<Error>,
}

impl Ended {
    /// Adds an error. Returns one that nobody needs: a sticky error is reported once, by the call that met it.
    fn fail(&mut self, error: Error, is_refusal: bool) -> Option<Error> {
        match &mut self.first {
            Some(Err(_)) if is_refusal => return Some(error),
            Some(Err(first)) if self.is_refusal => {
                self.is_refusal = false;
                return Some(std::mem::replace(first, error));
            }
            Some(Err(_)) => self.followed.push(error),
            first => {
                *first = Some(Err(error));
                self.is_refusal = is_refusal;
            }
        }
        None
    }
}

/// The statuses for a report, as far as they are there. Empty if no report is being made.
#[derive(Debug, Default)]
pub(super) struct Collection {
    /// How many reports had been asked for when it was begun.
    pub(super) asked: u64,
    pub(super) statuses: Vec<Option<NodeStatus>>,
}

/// The ends of nodes and the attendants of a run, for its workers.
pub(super) struct Attends {
    /// `None` for a graph in which nothing follows from the end of a node while others run.
    pub(super) following: Option<Arc<Following>>,
    /// In how many looks attendants have run.
    pub(super) looks: AtomicU32,
    /// Whether it is to be found out whether the run is over.
    pub(super) is_due: AtomicBool,
    /// By node, whether an attendant was looked at while the answer is due.
    pub(super) looked: Box<[AtomicBool]>,
    /// Whether a worker would have asked while another one did.
    pub(super) asks_again: AtomicBool,
    /// Taken out by the worker that asks.
    pub(super) asked: Mutex<Option<Asked>>,
}

pub(super) struct Asked {
    pub(super) ends: Box<Ends>,
    /// The nodes that this worker has claimed.
    pub(super) claimed: Box<[bool]>,
}

impl Attends {
    pub(super) fn new(ends: Option<Box<Ends>>, nodes: usize) -> Self {
        let following = ends.as_ref().map(|ends| ends.following().clone());
        let count = if ends.is_some() { nodes } else { 0 };
        let none = || (0..count).map(|_| AtomicBool::new(false)).collect();
        let claimed = vec![false; count].into();
        let asked = ends.map(|ends| Asked { ends, claimed });
        Self {
            following,
            looks: AtomicU32::new(0),
            is_due: AtomicBool::new(false),
            looked: none(),
            asks_again: AtomicBool::new(false),
            asked: Mutex::new(asked),
        }
    }

    /// No answer is due any more.
    pub(super) fn answered(&self) {
        self.looked.iter().for_each(|looked| looked.store(false, Ordering::Relaxed));
        self.is_due.store(false, Ordering::Relaxed);
    }

    pub(super) fn into_inner(self) -> Option<Box<Ends>> {
        locked(&self.asked).take().map(|asked| asked.ends)
    }
}

/// The state of the worker that polls. A worker that polls later goes on with it.
pub(super) struct Poller<'r> {
    pub(super) idle: Idle<'r>,
    /// The version of the board at which the lists were made.
    pub(super) version: Option<u64>,
    /// Empty, with room for all nodes.
    pub(super) nodes: Vec<NodeId>,
    pub(super) points: Vec<(NodeId, Point)>,
    pub(super) moments: Vec<(NodeId, Timestamp)>,
    /// With the number of raises that the look had seen.
    pub(super) others: Vec<(NodeId, u64)>,
    /// The events for which all nodes wait.
    pub(super) all: Waits,
    pub(super) found: SmallVec<[NodeId; 8]>,
}

impl<'r> Poller<'r> {
    pub(super) fn new(platform: &'r Platform, control: &RunControl, nodes: usize) -> Self {
        Self {
            idle: Idle::new(platform, control),
            version: None,
            nodes: Vec::with_capacity(nodes),
            points: Vec::with_capacity(nodes),
            moments: Vec::with_capacity(nodes),
            others: Vec::with_capacity(nodes),
            all: Waits::with_room(nodes),
            found: SmallVec::with_capacity(nodes),
        }
    }
}

impl Team<'_, '_> {
    /// Ends the run well, unless it has ended.
    pub(super) fn end(&self, outcome: Outcome) {
        locked(&self.ended).first.get_or_insert(Ok(outcome));
        self.wake_all();
    }

    /// Ends the run with an error. An error that comes after the end, of a hook that ran then, counts as well.
    pub(super) fn fail(&self, error: Error) {
        // Without the lock: an error of the user's names its causes by itself, and is dropped by its own code.
        let is_refusal = error.is_refusal();
        let unneeded = locked(&self.ended).fail(error, is_refusal);
        if let Some(error) = unneeded {
            forget(error);
        }
        self.wake_all();
    }

    /// Ends the loops of all workers, also of those that sleep in a pause.
    fn wake_all(&self) {
        self.board.change(|core| core.end());
        self.control.signal().nudge();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn error(message: &str) -> Error {
        Error::Panicked { message: message.into() }
    }

    /// The errors of a run in their order, and those that nobody needs.
    fn errors(failures: &[(&str, bool)]) -> (Vec<String>, Vec<String>) {
        let mut ended = Ended::default();
        let fail = |(text, is_refusal): &(&str, bool)| ended.fail(error(text), *is_refusal);
        let unneeded: Vec<_> = failures.iter().filter_map(fail).collect();
        let text = |error: &Error| match error {
            Error::Panicked { message } => message.to_string(),
            other => other.to_string(),
        };
        let first = ended.first.unwrap().unwrap_err();
        let all = [&first].into_iter().chain(&ended.followed).map(text).collect();
        (all, unneeded.iter().map(text).collect())
    }

    /// A call that was refused fails because of another error, whichever worker is first.
    #[test]
    fn each_error_of_a_worker_is_kept_but_for_calls_that_were_refused() {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            errors(&[("a", false), ("b", false), ("c", false)]),
            (list(&["a", "b", "c"]), list(&[]))
        );
        assert_eq!(
            errors(&[("a", false), ("r", true), ("b", false)]),
            (list(&["a", "b"]), list(&["r"]))
        );
        assert_eq!(
            errors(&[("r", true), ("a", false), ("b", false)]),
            (list(&["a", "b"]), list(&["r"]))
        );
        assert_eq!(errors(&[("r", true), ("q", true)]), (list(&["r"]), list(&["q"])));
    }

    #[test]
    fn an_error_after_a_good_end_is_the_end() {
        let mut ended = Ended { first: Some(Ok(Outcome::Over)), ..Ended::default() };
        assert!(ended.fail(error("a"), false).is_none());
        assert!(ended.first.unwrap().is_err() && ended.followed.is_empty());
    }
}
