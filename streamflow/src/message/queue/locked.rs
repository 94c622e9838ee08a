//! The messages of an edge behind a lock.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Passed;
use crate::lock::Lock;
use crate::message::Envelope;
use crate::time::Timestamp;

/// The messages of one edge, oldest first.
pub(super) struct Locked<T> {
    /// How many messages, the held one included. Schedulers read it without the lock; it is changed under the lock.
    count: AtomicUsize,
    waiting: Lock<Waiting<T>>,
}

struct Waiting<T> {
    /// Whether the consumer has taken out a message that it has not received yet. That message still takes room.
    held: bool,
    /// The messages that have gone through the queue in this run, without those that wait.
    passed: Passed,
    messages: VecDeque<Envelope<T>>,
}

// Without the lock: the messages are the user's, and so is the code that writes.
impl<T> fmt::Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked").field("count", &self.count()).finish_non_exhaustive()
    }
}

impl<T> Locked<T> {
    pub(super) fn new(capacity: usize) -> Self {
        // A queue of large capacity grows to the number of messages that it really holds.
        let messages = VecDeque::with_capacity(capacity.min(64));
        let waiting = Waiting { held: false, passed: Passed::default(), messages };
        Self { count: AtomicUsize::new(0), waiting: Lock::new(waiting) }
    }

    /// A run begins: messages are counted anew. Those that wait are sent in this run.
    pub(super) fn begin_run(&self) {
        let mut waiting = self.waiting.lock();
        waiting.passed = Passed { put: self.count() as u64, ..Passed::default() };
    }

    /// The messages of the queue in this run.
    pub(super) fn passed(&self) -> Passed {
        let waiting = self.waiting.lock();
        Passed { waiting: self.count(), ..waiting.passed }
    }

    /// How many messages wait, the held one included.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// When the oldest message in the queue was acquired; the inner `None` if it does not say. A held message is not in
    /// the queue.
    pub(super) fn first_acquired(&self) -> Option<Option<Timestamp>> {
        self.waiting.lock().messages.front().map(|envelope| envelope.metadata.acquired())
    }

    /// Adds a message at the end.
    pub(super) fn push(&self, message: Envelope<T>) {
        self.add(&mut self.waiting.lock(), message);
    }

    fn add(&self, waiting: &mut Waiting<T>, message: Envelope<T>) {
        waiting.messages.push_back(message);
        waiting.passed.put += 1;
        self.change_count(|count| count + 1);
    }

    /// Called under the lock.
    fn change_count(&self, change: impl FnOnce(usize) -> usize) {
        self.count.store(change(self.count.load(Ordering::Relaxed)), Ordering::Release);
    }

    /// Adds a message at the end. If there was no room for it, returns the oldest one, which the caller drops without the
    /// lock: dropping a message runs code of the user, which may do anything.
    pub(super) fn push_and_pop(
        &self,
        message: Envelope<T>,
        capacity: usize,
    ) -> Option<Envelope<T>> {
        let mut waiting = self.waiting.lock();
        let mut oldest = None;
        // The held message is already the consumer's, and is not dropped.
        if waiting.messages.len() >= capacity {
            oldest = waiting.messages.pop_front();
            waiting.passed.popped += 1;
            self.change_count(|count| count - 1);
        }
        self.add(&mut waiting, message);
        oldest
    }

    /// Takes out the first message.
    pub(super) fn pop(&self) -> Option<Envelope<T>> {
        let mut waiting = self.waiting.lock();
        let message = waiting.messages.pop_front();
        if message.is_some() {
            self.take(&mut waiting);
        }
        message
    }

    /// Called under the lock. A message makes room: it is the consumer's.
    fn take(&self, waiting: &mut Waiting<T>) {
        waiting.passed.taken += 1;
        self.change_count(|count| count - 1);
    }

    /// Takes out the first message, and holds its room until the consumer has [received](Self::release) it. No policy
    /// drops it any more.
    pub(super) fn hold(&self) -> Option<Envelope<T>> {
        let mut waiting = self.waiting.lock();
        let message = waiting.messages.pop_front();
        waiting.held = message.is_some();
        message
    }

    /// Gives the held message's room free: it was received.
    pub(super) fn release(&self) {
        let mut waiting = self.waiting.lock();
        if mem::take(&mut waiting.held) {
            self.take(&mut waiting);
        }
    }

    /// Puts the held message back to the front: it was not received.
    pub(super) fn put_back(&self, message: Option<Envelope<T>>) {
        let mut waiting = self.waiting.lock();
        if mem::take(&mut waiting.held)
            && let Some(message) = message
        {
            waiting.messages.push_front(message);
        }
    }
}
