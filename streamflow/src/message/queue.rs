//! Where messages wait: the queue of one edge, and what it does when it is full.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Envelope;
use crate::error::{Error, Result};
use crate::lock::Lock;

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
    pub(crate) name: &'static str,
    pub(crate) capacity: usize,
    pub(crate) policy: Policy,
    /// Whether it carries messages into the next tick. Its first message is there before its
    /// consumer's first tick, so that it holds one more than its capacity; and what waits at the
    /// end of a run is state, with which the next run begins.
    pub(crate) feedback: bool,
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

/// A place for a message. Messages are large: one goes from the producer to the queue and on to the consumer
/// while these exchange their slots.
pub(crate) type Slot<T> = Box<Option<Envelope<T>>>;

/// The messages of one edge, oldest first.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    options: EdgeOptions,
    /// How many, with the held one, so that schedulers can ask without the lock. Changed under it.
    count: AtomicUsize,
    waiting: Lock<Waiting<T>>,
}

#[derive(Debug)]
struct Waiting<T> {
    /// Whether the consumer has taken one out that it has not received yet: it still takes room.
    held: bool,
    /// Most edges have room for one message. If there is none, there are no others.
    first: Slot<T>,
    others: VecDeque<Envelope<T>>,
}

impl<T> Waiting<T> {
    /// Takes the first message, and puts it into `slot`, which is empty. Whether there was one.
    #[inline]
    fn pop_into(&mut self, slot: &mut Slot<T>) -> bool {
        mem::swap(&mut self.first, slot);
        if !self.others.is_empty() {
            self.move_up();
        }
        slot.is_some()
    }

    /// The second message is the first now.
    #[inline(never)]
    fn move_up(&mut self) {
        *self.first = self.others.pop_front();
    }

    /// Takes the message out of `slot` and puts it behind all others.
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
        // A large one grows to what is really used.
        let others = VecDeque::with_capacity(options.capacity.min(64) - 1);
        let waiting = Lock::new(Waiting { held: false, first: Slot::default(), others });
        Self { options, count: AtomicUsize::new(0), waiting }
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

    /// Whether its producer may run.
    pub(crate) fn has_room(&self) -> bool {
        self.options.policy != Policy::BackPressure || !self.is_full()
    }

    /// Whether it is an error when there is no room.
    pub(crate) fn may_fault(&self) -> bool {
        self.options.policy == Policy::Fault
    }

    /// Whether one more message is an error.
    pub(crate) fn would_fault(&self) -> bool {
        self.may_fault() && self.is_full()
    }

    fn is_full(&self) -> bool {
        self.count.load(Ordering::Acquire) >= self.options.capacity
    }

    pub(crate) fn has_message(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Takes the message out of `slot`, if there is one, and adds it, by the edge's policy, which may leave it
    /// there. Whoever runs producers has asked [`has_room`](Self::has_room) and
    /// [`would_fault`](Self::would_fault).
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
            return;
        }
        // What is held was taken: it is not there to be dropped.
        if policy == Policy::Pop && count - usize::from(waiting.held) >= capacity {
            oldest = waiting.first.take();
            waiting.move_up();
            self.count.store(count - 1, Ordering::Relaxed);
        }
        self.add(&mut waiting, slot);
        // Without the lock, as everywhere: a message may do anything when it is dropped.
        drop(waiting);
        drop(oldest);
    }

    /// Takes the first message, and puts it into `slot`. What a tick that failed has left there is dropped.
    pub(crate) fn pop_into(&self, slot: &mut Slot<T>) {
        **slot = None;
        let mut waiting = self.waiting.lock();
        if waiting.pop_into(slot) {
            self.count.store(self.count.load(Ordering::Relaxed) - 1, Ordering::Release);
        }
    }

    /// Takes the first message, of which the consumer will say later that it
    /// [received](Self::release) it: no policy drops it any more, and it still takes room.
    pub(crate) fn hold_into(&self, slot: &mut Slot<T>) {
        **slot = None;
        let mut waiting = self.waiting.lock();
        waiting.held = waiting.pop_into(slot);
    }

    /// The message that is held, if one is, was received.
    pub(crate) fn release(&self) {
        let mut waiting = self.waiting.lock();
        if mem::take(&mut waiting.held) {
            self.count.store(self.count.load(Ordering::Relaxed) - 1, Ordering::Release);
        }
    }

    /// The message in `slot`, if one is held, was not received, and is the first again.
    pub(crate) fn put_back(&self, slot: &mut Slot<T>) {
        let mut waiting = self.waiting.lock();
        if mem::take(&mut waiting.held) {
            mem::swap(&mut waiting.first, slot);
            if let Some(second) = slot.take() {
                waiting.others.push_front(second);
            }
        }
    }

    /// Drops all messages but those of a feedback edge, without the lock.
    pub(crate) fn clear(&self) {
        let mut dropped = Slot::default();
        while !self.is_feedback() && self.has_message() {
            self.pop_into(&mut dropped);
        }
    }
}
