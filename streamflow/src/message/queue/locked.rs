//! The queue of an edge behind a lock, for edges that are no rings.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Passed;
use crate::lock::Lock;
use crate::message::Envelope;
use crate::time::Timestamp;

/// The messages of one edge behind a lock, oldest first.
pub(super) struct Locked<T> {
    /// The number of messages, including the staged message. The count is changed under the lock, and schedulers read it without
    /// the lock.
    count: AtomicUsize,
    waiting: Lock<Waiting<T>>,
}

struct Waiting<T> {
    /// Whether there is a staged message: a message that the consumer has taken out of `messages` for its next tick, and has not
    /// received yet. The staged message takes room of the edge.
    held: bool,
    /// The counts of messages that were put in, taken out and popped in this run. The count `waiting` is not used here.
    passed: Passed,
    messages: VecDeque<Envelope<T>>,
}

// `fmt` takes no lock, because the messages and the formatter are the user's code.
impl<T> fmt::Debug for Locked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked").field("count", &self.count()).finish_non_exhaustive()
    }
}

impl<T> Locked<T> {
    pub(super) fn new(capacity: usize) -> Self {
        // A queue of large capacity has room for few messages at first, and grows with the number of messages.
        let messages = VecDeque::with_capacity(capacity.min(64));
        let waiting = Waiting { held: false, passed: Passed::default(), messages };
        Self { count: AtomicUsize::new(0), waiting: Lock::new(waiting) }
    }

    /// Prepares for a run: sets the counts to 0. The messages that wait now count as put in in this run.
    pub(super) fn begin_run(&self) {
        let mut waiting = self.waiting.lock();
        waiting.passed = Passed { put: self.count() as u64, ..Passed::default() };
    }

    /// The numbers of messages of the queue in this run.
    pub(super) fn passed(&self) -> Passed {
        let waiting = self.waiting.lock();
        Passed { waiting: self.count(), ..waiting.passed }
    }

    /// The number of waiting messages, including the staged message.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// The acquisition time of the oldest message in `messages`; the inner `None` if that message has no time. The staged
    /// message is not in `messages`.
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

    /// Changes the count of messages. The caller holds the lock.
    fn change_count(&self, change: impl FnOnce(usize) -> usize) {
        self.count.store(change(self.count.load(Ordering::Relaxed)), Ordering::Release);
    }

    /// Adds a message at the end. If the queue was full, takes out the oldest message and returns it. The caller drops the
    /// returned message without the lock, because the drop of a message runs the user's code, which may do anything.
    pub(super) fn push_and_pop(
        &self,
        message: Envelope<T>,
        capacity: usize,
    ) -> Option<Envelope<T>> {
        let mut waiting = self.waiting.lock();
        let mut oldest = None;
        // The staged message is not in `messages`, so it neither counts here nor is dropped: it belongs to the consumer.
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

    /// Counts a message as taken: the message belongs to the consumer and takes no room any more. The caller holds the lock.
    fn take(&self, waiting: &mut Waiting<T>) {
        waiting.passed.taken += 1;
        self.change_count(|count| count - 1);
    }

    /// Takes out the first message as the staged message. The message takes room until the consumer has
    /// [received](Self::release) it, and the policy can't drop it any more.
    pub(super) fn hold(&self) -> Option<Envelope<T>> {
        let mut waiting = self.waiting.lock();
        let message = waiting.messages.pop_front();
        waiting.held = message.is_some();
        message
    }

    /// Frees the room of the staged message, because the consumer has received it.
    pub(super) fn release(&self) {
        let mut waiting = self.waiting.lock();
        if mem::take(&mut waiting.held) {
            self.take(&mut waiting);
        }
    }

    /// Puts the staged message back to the front of the queue, because the consumer has not received it.
    pub(super) fn put_back(&self, message: Option<Envelope<T>>) {
        let mut waiting = self.waiting.lock();
        if mem::take(&mut waiting.held)
            && let Some(message) = message
        {
            waiting.messages.push_front(message);
        }
    }
}
