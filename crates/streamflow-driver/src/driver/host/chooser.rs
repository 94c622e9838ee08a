//! The chooser, which decides the order of execution instead of a policy, and the hashes from which the keys of its states
//! are computed. See [`chosen`](super::chosen).

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use super::point::Point;
use crate::turns;

/// Makes a choice wherever more than one thing can happen next: a stream executes an operation, or the host continues.
#[doc(hidden)]
pub trait Chooser: fmt::Debug + Send {
    /// Chooses one of `options` numbers from 0; `options` is at least 1. `state` is the key of the current state. The last
    /// option lets the host make its call, where that is possible. Each other option executes the next operation of a
    /// stream.
    fn choose(&mut self, state: u64, options: usize) -> usize;

    /// Tells that the program has ended in the state with this key.
    fn end(&mut self, state: u64);
}

/// The answer that is noted for a call which submits work: such a call has no answer of its own.
pub(super) const SUBMITTED: u64 = 0;
/// The answer that is noted for a query that was answered "complete".
pub(super) const QUERY_COMPLETE: u64 = 1;
/// The answer that is noted for a call that blocked until a point was reached.
pub(super) const WAIT_ENDED: u64 = 2;

/// The chooser, that decides what the simulator does next, with hashes of all that the host has seen. Two moments with equal
/// hashes look the same to the program.
#[derive(Debug)]
pub(super) struct ChosenOrder {
    pub(super) chooser: Box<dyn Chooser>,
    /// A hash of all answers that the host has got, in order.
    pub(super) history: u64,
    /// The queries that were answered "not yet" since the host's last answer of another kind, each with the thread that made
    /// it.
    pub(super) not_yet: Vec<(usize, Point)>,
    /// The queries that were answered "not yet" since an operation was last executed, each with the thread that made it.
    pub(super) not_yet_since_step: Vec<(usize, Point)>,
    /// A hash of the data that was copied to ordinary host memory. The hashes of the copies are added, since no two of these
    /// copies overlap.
    pub(super) copied: u64,
    /// For each device and page-locked block: a hash of the data that was copied there, in order. The memory itself is not
    /// read, because the host may hold references into it.
    pub(super) pinned: BTreeMap<(usize, usize), u64>,
    /// A hash of the host functions that were called so far, in order.
    pub(super) called: u64,
    /// A hash of the content of device memory; `None` if the content may have changed since the hash was computed.
    pub(super) memory: Option<u64>,
}

impl ChosenOrder {
    pub(super) fn new(chooser: Box<dyn Chooser>) -> Self {
        Self {
            chooser,
            history: 0,
            not_yet: Vec::new(),
            not_yet_since_step: Vec::new(),
            copied: 0,
            pinned: BTreeMap::new(),
            called: 0,
            memory: None,
        }
    }

    /// Adds an answer to the history. A submission adds the answer [`SUBMITTED`].
    pub(super) fn answer(&mut self, answer: u64) {
        self.history = hash(&[self.history, answer, self.called, turns::thread_index() as u64]);
        self.not_yet.clear();
        self.not_yet_since_step.clear();
    }

    /// Adds a query that was answered "not yet". The history changes only at the first of equal queries in a row.
    pub(super) fn answer_not_yet(&mut self, query: Point) {
        let thread = turns::thread_index();
        if !self.not_yet.contains(&(thread, query)) {
            self.history = hash(&[self.history, u64::MAX, self.called, thread as u64]);
            self.not_yet.push((thread, query));
        }
        self.not_yet_since_step.push((thread, query));
    }
}

/// Returns a hash of numbers.
pub(super) fn hash(words: &[u64]) -> u64 {
    let mut hash = DefaultHasher::new();
    words.iter().for_each(|word| hash.write_u64(*word));
    hash.finish()
}
