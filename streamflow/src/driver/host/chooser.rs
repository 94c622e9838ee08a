//! Who chooses the order of execution instead of a policy, and what is kept for it. See [`chosen`](super::chosen).

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use super::point::Point;
use crate::turns;

/// Decides wherever host and device could go on in more than one way.
pub(crate) trait Chooser: fmt::Debug + Send {
    /// Which of `options`, at least one, to take in the state with this key. Option 0 executes
    /// something if anything can be executed; the last is the call itself, where that is possible.
    fn choose(&mut self, state: u64, options: usize) -> usize;

    /// The program is at its end, in this state.
    fn end(&mut self, state: u64);
}

/// What a simulator with a chooser keeps beside.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) chooser: Box<dyn Chooser>,
    /// All that the host was answered, as a hash.
    pub(super) history: u64,
    /// What was asked in vain since the host last did anything else, and by which thread.
    pub(super) in_vain: Vec<(usize, Point)>,
    /// Those of them that were asked since something was executed.
    pub(super) just_now: Vec<(usize, Point)>,
    /// What was copied to ordinary host memory: a sum, since no two of these copies overlap.
    pub(super) copied: u64,
    /// By device and block: what was copied to page-locked memory, in order. It is not looked at
    /// itself, because the host may hold references into it.
    pub(super) pinned: BTreeMap<(usize, usize), u64>,
    /// The host functions that were called, in order.
    pub(super) called: u64,
    /// The content of device memory; `None` when something has changed it.
    pub(super) memory: Option<u64>,
}

impl Chosen {
    pub(super) fn new(chooser: Box<dyn Chooser>) -> Self {
        Self {
            chooser,
            history: 0,
            in_vain: Vec::new(),
            just_now: Vec::new(),
            copied: 0,
            pinned: BTreeMap::new(),
            called: 0,
            memory: None,
        }
    }

    /// The host learns something by an answer. Submissions answer nothing, but are counted.
    pub(super) fn answer(&mut self, answer: u64) {
        self.history = hash(&[self.history, answer, self.called, turns::me() as u64]);
        self.in_vain.clear();
        self.just_now.clear();
    }

    pub(super) fn refuse(&mut self, question: Point) {
        let me = turns::me();
        if !self.in_vain.contains(&(me, question)) {
            self.history = hash(&[self.history, u64::MAX, self.called, me as u64]);
            self.in_vain.push((me, question));
        }
        self.just_now.push((me, question));
    }
}

/// A hash of numbers.
pub(super) fn hash(words: &[u64]) -> u64 {
    let mut hash = DefaultHasher::new();
    words.iter().for_each(|word| hash.write_u64(*word));
    hash.finish()
}
