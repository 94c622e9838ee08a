//! The chooser, which decides the order of execution instead of a policy, and the state that its keys are made of. See
//! [`chosen`](super::chosen).

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use super::point::Point;
use crate::turns;

/// Makes the choice wherever the host and the device can continue in more than one way.
#[doc(hidden)]
pub trait Chooser: fmt::Debug + Send {
    /// Chooses one of `options`, at least one, in the state with this key. Option 0 executes
    /// an operation if any can execute. The last option makes the call, where that is possible.
    fn choose(&mut self, state: u64, options: usize) -> usize;

    /// Tells that the program has ended in this state.
    fn end(&mut self, state: u64);
}

/// The answer that stands for a call that submits work and has no answer of its own.
pub(super) const SUBMITTED: u64 = 0;
/// The answer "complete" of a query.
pub(super) const QUERY_COMPLETE: u64 = 1;
/// The answer of a call that blocked until a point was reached.
pub(super) const WAIT_ENDED: u64 = 2;

/// A chooser, and hashes of the state that the host has seen.
#[derive(Debug)]
pub(super) struct ChosenOrder {
    pub(super) chooser: Box<dyn Chooser>,
    /// A hash of all answers that the host got.
    pub(super) history: u64,
    /// The queries that were answered "not yet" since the host's last call of another kind, each with its thread.
    pub(super) not_yet: Vec<(usize, Point)>,
    /// The queries in `not_yet` that were made since an operation was last executed.
    pub(super) not_yet_since_step: Vec<(usize, Point)>,
    /// A hash of the data that was copied to ordinary host memory: a sum, since no two of these copies overlap.
    pub(super) copied: u64,
    /// A hash for each device and block of the data that was copied to page-locked memory, in order. The memory
    /// itself is not read, because the host may hold references into it.
    pub(super) pinned: BTreeMap<(usize, usize), u64>,
    /// A hash of the host functions that were called, in order.
    pub(super) called: u64,
    /// A hash of the content of device memory; `None` when the content may have changed.
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

    /// Adds an answer to the history. A submission has no answer, but is counted, too.
    pub(super) fn answer(&mut self, answer: u64) {
        self.history = hash(&[self.history, answer, self.called, turns::thread_index() as u64]);
        self.not_yet.clear();
        self.not_yet_since_step.clear();
    }

    /// Adds a query that is answered "not yet". Repeating the query does not change the history.
    pub(super) fn answer_not_yet(&mut self, query: Point) {
        let thread = turns::thread_index();
        if !self.not_yet.contains(&(thread, query)) {
            self.history = hash(&[self.history, u64::MAX, self.called, thread as u64]);
            self.not_yet.push((thread, query));
        }
        self.not_yet_since_step.push((thread, query));
    }
}

/// A hash of numbers.
pub(super) fn hash(words: &[u64]) -> u64 {
    let mut hash = DefaultHasher::new();
    words.iter().for_each(|word| hash.write_u64(*word));
    hash.finish()
}
