//! Where messages wait: the queue of one edge, and what it does when it is full.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::message::Envelope;
use crate::stream::Point;

/// What becomes of a message for which an edge has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Its producer does not run before there is room.
    #[default]
    BackPressure,
    /// The oldest message is dropped: the consumer sees the latest ones.
    Pop,
    /// The message itself is dropped.
    Reject,
    /// The producer's tick fails, and sends nothing.
    Fault,
}

/// What `graph!` says about an edge beside its ends.
#[derive(Debug, Clone, Copy)]
pub struct EdgeOptions {
    /// `producer.output >> consumer.input`
    pub(super) name: &'static str,
    pub(super) capacity: usize,
    pub(super) policy: Policy,
    /// Whether it carries messages into the next tick. Its first message is there before its
    /// consumer's first tick, so that it holds one more than its capacity; and what waits at the
    /// end of a run is state, with which the next run begins.
    pub(super) feedback: bool,
}

impl EdgeOptions {
    /// # Errors
    /// [`Error::CapacityZero`].
    pub fn new(name: &'static str, capacity: usize, policy: Policy) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::CapacityZero { edge: name });
        }
        Ok(Self { name, capacity, policy, feedback: false })
    }

    /// For an edge with `#[feedback]`.
    #[must_use]
    pub fn feedback(self) -> Self {
        Self { capacity: self.capacity.saturating_add(1), feedback: true, ..self }
    }
}

impl Default for EdgeOptions {
    fn default() -> Self {
        Self { name: "", capacity: 1, policy: Policy::BackPressure, feedback: false }
    }
}

/// The messages of one edge, oldest first.
#[derive(Debug)]
pub(super) struct Queue<T> {
    messages: Mutex<VecDeque<Envelope<T>>>,
    /// How many, so that schedulers can ask without the lock. Changed under it.
    count: AtomicUsize,
    options: EdgeOptions,
}

impl<T> Queue<T> {
    pub(super) fn new(options: EdgeOptions) -> Self {
        // A large one grows to what is really used.
        let messages = Mutex::new(VecDeque::with_capacity(options.capacity.min(64)));
        Self { messages, count: AtomicUsize::new(0), options }
    }

    pub(super) fn name(&self) -> &'static str {
        self.options.name
    }

    pub(super) fn capacity(&self) -> usize {
        self.options.capacity
    }

    pub(super) fn is_feedback(&self) -> bool {
        self.options.feedback
    }

    /// Whether its producer may run.
    pub(super) fn has_room(&self) -> bool {
        self.options.policy != Policy::BackPressure || !self.is_full()
    }

    /// Whether one more message is an error.
    pub(super) fn would_fault(&self) -> bool {
        self.options.policy == Policy::Fault && self.is_full()
    }

    fn is_full(&self) -> bool {
        self.count.load(Ordering::Acquire) >= self.options.capacity
    }

    pub(super) fn has_message(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Adds a message, by the edge's policy. Whoever runs producers has asked
    /// [`has_room`](Self::has_room) and [`would_fault`](Self::would_fault).
    pub(super) fn push(&self, envelope: Envelope<T>) {
        let mut messages = self.lock();
        let full = messages.len() >= self.options.capacity;
        let dropped = match self.options.policy {
            Policy::Reject if full => Some(envelope),
            policy => {
                let oldest = (full && policy == Policy::Pop).then(|| messages.pop_front());
                messages.push_back(envelope);
                oldest.flatten()
            }
        };
        self.count.store(messages.len(), Ordering::Release);
        drop(messages);
        // Without the lock: a message may do anything when it is dropped.
        drop(dropped);
    }

    pub(super) fn pop(&self) -> Option<Envelope<T>> {
        let mut messages = self.lock();
        let first = messages.pop_front();
        self.count.store(messages.len(), Ordering::Release);
        first
    }

    /// Drops all messages but those of a feedback edge, without the lock.
    pub(super) fn clear(&self) {
        while !self.is_feedback() && self.pop().is_some() {}
    }

    /// When the device data of the first message is ready, if one waits and has some.
    pub(super) fn sent(&self) -> Option<Point> {
        self.lock().front().and_then(|envelope| envelope.sent)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Envelope<T>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
