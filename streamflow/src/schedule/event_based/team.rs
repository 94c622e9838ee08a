//! The state that the workers of a run share, with the board and the nodes.

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
    /// The nodes. A worker locks a node only while it holds the node, so no worker waits for such a lock.
    pub(super) nodes: Box<[Mutex<&'r mut (dyn AnyNode + 'g)>]>,
    pub(super) control: &'r RunControl,
    pub(super) platform: &'r Platform,
    pub(super) limit: Limit,
    /// Whether there are more workers than cores. If so, a worker that spins yields its core to other threads.
    pub(super) is_crowded: bool,
    pub(super) poller: Mutex<Poller<'r>>,
    /// For each node, the events for which it waits, as the last look at the node has found.
    pub(super) waiting: Mutex<Box<[Waiting]>>,
    /// The watch for new races; `None` if the driver has no race checker.
    pub(super) races: Option<Mutex<&'r mut RaceWatch>>,
    pub(super) shared: Option<&'r Shared>,
    pub(super) attends: Attends,
    /// Whether a report is being collected.
    pub(super) collects: AtomicBool,
    pub(super) collection: Mutex<Collection>,
    pub(super) ended: Mutex<Ended>,
}

/// The events for which a node waits.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) waits: Waits,
    /// The count of the run's signal that was read before the look that found these waits.
    pub(super) raises: u64,
}

/// The outcome of a run with workers, and its errors.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) first: Option<Result<Outcome>>,
    /// Whether `first` is the error of a call that was refused because the device is unusable.
    is_refusal: bool,
    /// The errors of other workers that came after the first one.
    pub(super) followed: Vec<Error>,
}

impl Ended {
    /// Adds an error. Returns an error that is not kept: if calls are refused after a sticky error, only the sticky error is
    /// reported.
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

/// The statuses that were collected so far for a report. Empty if no report is being collected.
#[derive(Debug, Default)]
pub(super) struct Collection {
    /// How many reports had been requested when the collection of this report began.
    pub(super) asked: u64,
    pub(super) statuses: Vec<Option<NodeStatus>>,
}

/// The state of `Team::ask`, which the workers share.
pub(super) struct Attends {
    /// `None` if nothing can follow from the end of a node while other nodes run.
    pub(super) following: Option<Arc<Following>>,
    /// How many looks have run a tick of an attendant.
    pub(super) looks: AtomicU32,
    /// Whether a worker is to find out if the run is over.
    pub(super) is_due: AtomicBool,
    /// For each node, whether it is an attendant that was looked at since `is_due` was set.
    pub(super) looked: Box<[AtomicBool]>,
    /// Whether a worker has called `Team::ask` while another worker was in that function.
    pub(super) asks_again: AtomicBool,
    /// The data of `Team::ask`. The worker that is in the function takes the data out, and puts it back at the end.
    pub(super) asked: Mutex<Option<Asked>>,
}

pub(super) struct Asked {
    pub(super) ends: Box<Ends>,
    /// For each node, whether the worker in `Team::ask` has claimed it.
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

    /// Clears `is_due`, since the run goes on.
    pub(super) fn answered(&self) {
        self.looked.iter().for_each(|looked| looked.store(false, Ordering::Relaxed));
        self.is_due.store(false, Ordering::Relaxed);
    }

    pub(super) fn into_inner(self) -> Option<Box<Ends>> {
        locked(&self.asked).take().map(|asked| asked.ends)
    }
}

/// The state of the poller. The worker that polls next continues with it.
pub(super) struct Poller<'r> {
    pub(super) idle: Idle<'r>,
    /// The version of the board for which the lists were made.
    pub(super) version: Option<u64>,
    /// A list that is empty between two uses. It has memory for all nodes, so that using it does not allocate.
    pub(super) nodes: Vec<NodeId>,
    pub(super) points: Vec<(NodeId, Point)>,
    pub(super) moments: Vec<(NodeId, Timestamp)>,
    /// The nodes that wait for another thread, each with the count of the run's signal that was read before the last look at it.
    pub(super) others: Vec<(NodeId, u64)>,
    /// The events for which at least one node waits.
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
    /// Ends the run without an error, unless it has ended already.
    pub(super) fn end(&self, outcome: Outcome) {
        locked(&self.ended).first.get_or_insert(Ok(outcome));
        self.wake_all();
    }

    /// Ends the run with an error. An error is also kept if it comes after the end, from a hook that was still running.
    pub(super) fn fail(&self, error: Error) {
        // `is_refusal` and `forget` may call the user's code, if the error is the user's. So both are called without the lock.
        let is_refusal = error.is_refusal();
        let unneeded = locked(&self.ended).fail(error, is_refusal);
        if let Some(error) = unneeded {
            forget(error);
        }
        self.wake_all();
    }

    /// Ends the loops of all workers, also of workers that sleep because the run is paused.
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

    /// Returns the texts of a run's errors in order, and the texts of the errors that were not kept.
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

    /// A call that an unusable device has refused fails because of another error, even if the worker of the refused call reports
    /// its error first.
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
