//! The queue of one edge, and what it does when it is full. The producer's `Outlet` pushes to it, and the consumer's
//! `Inlet` pops from it.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::Envelope;
use crate::error::{Error, Result};
use crate::lock::Lock;
use crate::time::Timestamp;

/// What happens to a message when its edge is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The producer does not run before there is room.
    #[default]
    BackPressure,
    /// The oldest message is dropped: the consumer sees the latest ones.
    Pop,
    /// The new message is dropped.
    Reject,
    /// The producer's tick fails, and sends nothing.
    Fault,
}

/// The options of an edge in `graph!`.
#[derive(Debug, Clone, Copy)]
pub struct EdgeOptions {
    /// `producer.output >> consumer.input`
    pub(crate) name: &'static str,
    pub(crate) capacity: usize,
    pub(crate) policy: Policy,
    /// Whether it carries messages into the next tick. Its first message is there before the consumer's first tick,
    /// so it holds one more than its capacity. A message that waits at the end of a run is state, with which the
    /// next run begins.
    pub(crate) feedback: bool,
}

impl EdgeOptions {
    /// The options of an edge that is no feedback.
    ///
    /// # Errors
    /// [`Error::CapacityZero`].
    pub fn new(name: &'static str, capacity: usize, policy: Policy) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::CapacityZero { edge: name });
        }
        Ok(Self { name, capacity, policy, feedback: false })
    }

    /// The options with `#[feedback]`.
    #[must_use]
    pub fn feedback(self) -> Self {
        Self { capacity: self.capacity.saturating_add(1), feedback: true, ..self }
    }
}

impl EdgeOptions {
    /// An edge without attributes.
    pub fn plain(name: &'static str) -> Self {
        Self { name, capacity: 1, policy: Policy::BackPressure, feedback: false }
    }
}

/// An edge at one moment, for reports.
#[derive(Debug, Clone, Copy)]
pub struct EdgeStatus {
    /// `producer.output >> consumer.input`
    pub name: &'static str,
    /// The same number at both ends of the edge, and at no other edge.
    pub(crate) id: usize,
    /// How many messages wait.
    pub waiting: usize,
    /// How many it holds.
    pub capacity: usize,
    /// What happens to one more.
    pub policy: Policy,
    /// Whether it carries messages into the next tick.
    pub feedback: bool,
    /// How many messages its policy dropped in this run.
    pub dropped_by_policy: u64,
    /// How many messages waited when the run ended, and were dropped.
    pub dropped_at_end: u64,
}

impl EdgeStatus {
    /// Whether it has no room, and its producer must wait for some.
    pub(crate) fn blocks(&self) -> bool {
        self.policy == Policy::BackPressure && self.waiting >= self.capacity
    }

    /// Whether its messages may be dropped: its policy says so.
    pub(crate) fn is_lossy(&self) -> bool {
        matches!(self.policy, Policy::Pop | Policy::Reject)
    }
}

/// Room for one message. Messages are large, so none is moved: the producer and the queue, and then the queue and the
/// consumer, exchange their slots.
pub(crate) type Slot<T> = Box<Option<Envelope<T>>>;

/// The messages of one edge, oldest first.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    options: EdgeOptions,
    /// How many messages, the held one included. Schedulers read it without the lock; it is changed under the lock.
    count: AtomicUsize,
    waiting: Lock<Waiting<T>>,
    /// How many messages the policy dropped in this run.
    dropped_by_policy: AtomicU64,
    /// How many messages were dropped since the run ended before they were received.
    dropped_at_end: AtomicU64,
}

#[derive(Debug)]
struct Waiting<T> {
    /// Whether the consumer has taken out a message that it has not received yet. That message still takes room.
    held: bool,
    /// The oldest message. Most edges have room for one only. Without it `others` is empty.
    first: Slot<T>,
    others: VecDeque<Envelope<T>>,
}

impl<T> Waiting<T> {
    /// Moves the first message into `slot`, which is empty. Returns whether there was one.
    #[inline]
    fn pop_into(&mut self, slot: &mut Slot<T>) -> bool {
        mem::swap(&mut self.first, slot);
        if !self.others.is_empty() {
            self.move_up();
        }
        slot.is_some()
    }

    /// Makes the second message the first.
    #[inline(never)]
    fn move_up(&mut self) {
        *self.first = self.others.pop_front();
    }

    /// Moves the message from `slot` to the end of the queue.
    #[inline]
    fn push_from(&mut self, slot: &mut Slot<T>) {
        if self.first.is_none() {
            mem::swap(&mut self.first, slot);
        } else {
            self.push_other(slot);
        }
    }

    #[inline(never)]
    fn push_other(&mut self, slot: &mut Slot<T>) {
        self.others.extend(slot.take());
    }
}

impl<T> Queue<T> {
    pub(crate) fn new(options: EdgeOptions) -> Self {
        // A queue of large capacity grows to the number of messages that it really holds.
        let others = VecDeque::with_capacity(options.capacity.min(64) - 1);
        let waiting = Lock::new(Waiting { held: false, first: Slot::default(), others });
        Self {
            options,
            count: AtomicUsize::new(0),
            waiting,
            dropped_by_policy: AtomicU64::new(0),
            dropped_at_end: AtomicU64::new(0),
        }
    }

    /// A run begins: what was dropped is counted anew.
    pub(crate) fn begin_run(&self) {
        self.dropped_by_policy.store(0, Ordering::Relaxed);
        self.dropped_at_end.store(0, Ordering::Relaxed);
    }

    pub(crate) fn status(&self) -> EdgeStatus {
        let EdgeOptions { name, capacity, policy, feedback } = self.options;
        EdgeStatus {
            name,
            id: std::ptr::from_ref(self).addr(),
            waiting: self.count.load(Ordering::Acquire),
            capacity,
            policy,
            feedback,
            dropped_by_policy: self.dropped_by_policy.load(Ordering::Relaxed),
            dropped_at_end: self.dropped_at_end.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.options.name
    }

    pub(crate) fn capacity(&self) -> usize {
        self.options.capacity
    }

    pub(crate) fn is_feedback(&self) -> bool {
        self.options.feedback
    }

    /// Whether the producer may run.
    pub(crate) fn has_room(&self) -> bool {
        self.options.policy != Policy::BackPressure || !self.is_full()
    }

    /// Whether a message for which there is no room is an error.
    pub(crate) fn may_fault(&self) -> bool {
        self.options.policy == Policy::Fault
    }

    /// Whether one more message is an error.
    pub(crate) fn would_fault(&self) -> bool {
        self.may_fault() && self.is_full()
    }

    /// Whether there is no room for a message, whatever the policy.
    pub(crate) fn is_full(&self) -> bool {
        self.count.load(Ordering::Acquire) >= self.options.capacity
    }

    pub(crate) fn has_message(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// How many messages wait, the held one included.
    pub(crate) fn waiting(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// When the oldest message in the queue was acquired; the inner `None` if it does not say. A held message is not in
    /// the queue.
    pub(crate) fn first_acquired(&self) -> Option<Option<Timestamp>> {
        (*self.waiting.lock().first).as_ref().map(|envelope| envelope.metadata.acquired())
    }

    /// Adds the message in `slot`, if there is one, by the edge's policy. The policy may leave it in `slot`. Before,
    /// the node has checked [`has_room`](Self::has_room) and [`would_fault`](Self::would_fault).
    pub(crate) fn push_from(&self, slot: &mut Slot<T>) {
        if slot.is_none() {
            return;
        }
        match self.options.policy {
            Policy::BackPressure | Policy::Fault => self.add(&mut self.waiting.lock(), slot),
            Policy::Pop | Policy::Reject => self.push_or_drop(slot),
        }
    }

    #[inline]
    fn add(&self, waiting: &mut Waiting<T>, slot: &mut Slot<T>) {
        waiting.push_from(slot);
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    #[inline(never)]
    fn push_or_drop(&self, slot: &mut Slot<T>) {
        let EdgeOptions { capacity, policy, .. } = self.options;
        let mut oldest = None;
        let mut waiting = self.waiting.lock();
        let count = self.count.load(Ordering::Relaxed);
        if policy == Policy::Reject && count >= capacity {
            self.dropped_by_policy.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // The held message is already the consumer's, and is not dropped.
        if policy == Policy::Pop && count - usize::from(waiting.held) >= capacity {
            oldest = waiting.first.take();
            self.dropped_by_policy.fetch_add(1, Ordering::Relaxed);
            waiting.move_up();
            self.count.store(count - 1, Ordering::Relaxed);
        }
        self.add(&mut waiting, slot);
        // Without the lock: dropping a message runs code of the user, which may do anything.
        drop(waiting);
        drop(oldest);
    }

    /// Moves the first message into `slot`. A message that a failed tick has left there is dropped.
    pub(crate) fn pop_into(&self, slot: &mut Slot<T>) {
        **slot = None;
        let mut waiting = self.waiting.lock();
        if waiting.pop_into(slot) {
            self.count.store(self.count.load(Ordering::Relaxed) - 1, Ordering::Release);
        }
    }

    /// Moves the first message into `slot`, and holds its room until the consumer has [received](Self::release) it. No
    /// policy drops it any more.
    pub(crate) fn hold_into(&self, slot: &mut Slot<T>) {
        **slot = None;
        let mut waiting = self.waiting.lock();
        waiting.held = waiting.pop_into(slot);
    }

    /// Gives the held message's room free: it was received.
    pub(crate) fn release(&self) {
        let mut waiting = self.waiting.lock();
        if mem::take(&mut waiting.held) {
            self.count.store(self.count.load(Ordering::Relaxed) - 1, Ordering::Release);
        }
    }

    /// Puts the held message in `slot`, if there is one, back to the front: it was not received.
    pub(crate) fn put_back(&self, slot: &mut Slot<T>) {
        let mut waiting = self.waiting.lock();
        if mem::take(&mut waiting.held) {
            mem::swap(&mut waiting.first, slot);
            if let Some(second) = slot.take() {
                waiting.others.push_front(second);
            }
        }
    }

    /// Drops all messages, each without the lock. A feedback edge keeps its messages.
    pub(crate) fn clear(&self) {
        let mut dropped = Slot::default();
        while !self.is_feedback() && self.has_message() {
            self.pop_into(&mut dropped);
            // Counted before the drop, which may panic: then this is called again.
            self.dropped_at_end.fetch_add(1, Ordering::Relaxed);
            *dropped = None;
        }
    }
}
