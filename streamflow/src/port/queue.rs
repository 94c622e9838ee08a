//! Where messages wait: the queue of one edge, and what it does when it is full.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::lock::{Held, Lock};
use crate::message::Envelope;

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
    waiting: Lock<Waiting<T>>,
    /// How many, with the held one, so that schedulers can ask without the lock. Changed under it.
    count: AtomicUsize,
    options: EdgeOptions,
}

#[derive(Debug)]
struct Waiting<T> {
    messages: VecDeque<Envelope<T>>,
    /// Whether the consumer has taken one out that it has not received yet: it still takes room.
    held: bool,
}

impl<T> Waiting<T> {
    fn len(&self) -> usize {
        self.messages.len() + usize::from(self.held)
    }
}

impl<T> Queue<T> {
    pub(super) fn new(options: EdgeOptions) -> Self {
        // A large one grows to what is really used.
        let messages = VecDeque::with_capacity(options.capacity.min(64));
        let waiting = Lock::new(Waiting { messages, held: false });
        Self { waiting, count: AtomicUsize::new(0), options }
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
        let EdgeOptions { capacity, policy, .. } = self.options;
        let mut waiting = self.lock();
        // What is held was taken: it is not there to be dropped.
        let oldest = match policy {
            Policy::Reject if waiting.len() >= capacity => return,
            Policy::Pop if waiting.messages.len() >= capacity => waiting.messages.pop_front(),
            _ => None,
        };
        waiting.messages.push_back(envelope);
        self.count.store(waiting.len(), Ordering::Release);
        drop(waiting);
        // Without the lock, as everywhere: a message may do anything when it is dropped.
        drop(oldest);
    }

    /// Takes the first message, and puts it behind what `batch` has.
    pub(super) fn pop_into(&self, batch: &mut VecDeque<Envelope<T>>) {
        let mut waiting = self.lock();
        if let Some(first) = waiting.messages.pop_front() {
            batch.push_back(first);
        }
        self.count.store(waiting.len(), Ordering::Release);
    }

    /// Takes the first message, of which the consumer will say later that it
    /// [received](Self::release) it: no policy drops it any more, and it still takes room.
    pub(super) fn hold(&self) -> Option<Envelope<T>> {
        self.change(|waiting| {
            let first = waiting.messages.pop_front();
            waiting.held |= first.is_some();
            first
        })
    }

    /// The message that is held was received.
    pub(super) fn release(&self) {
        self.change(|waiting| waiting.held = false);
    }

    /// The message that is held, if one is, was not received, and is the first again.
    pub(super) fn put_back(&self, held: impl FnOnce() -> Option<Envelope<T>>) {
        self.change(|waiting| {
            if std::mem::take(&mut waiting.held)
                && let Some(first) = held()
            {
                waiting.messages.push_front(first);
            }
        });
    }

    /// Drops all messages but those of a feedback edge, without the lock.
    pub(super) fn clear(&self) {
        while !self.is_feedback() {
            match self.change(|waiting| waiting.messages.pop_front()) {
                Some(dropped) => drop(dropped),
                None => return,
            }
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut Waiting<T>) -> R) -> R {
        let mut waiting = self.lock();
        let changed = change(&mut waiting);
        self.count.store(waiting.len(), Ordering::Release);
        changed
    }

    fn lock(&self) -> Held<'_, Waiting<T>> {
        self.waiting.lock()
    }
}
