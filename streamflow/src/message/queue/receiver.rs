//! The consumer's end of an edge.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::locked::Locked;
use super::ring::Reader;
use super::{Edge, EdgeStatus, Passed};
use crate::message::Envelope;
use crate::time::Timestamp;

/// The consumer's end of an edge. It also has the *consumer's message*: the message that the current tick has received and
/// not handed out yet, or the staged message, which is chosen for the next tick.
#[derive(Debug)]
pub(crate) struct Receiver<T> {
    edge: Arc<Edge>,
    messages: Messages<T>,
}

/// The form of the edge's queue, with the consumer's message.
#[derive(Debug)]
enum Messages<T> {
    /// A ring. If there is a consumer's message (`has_first`), it stays in the ring as the first message, and is read there.
    Ring { ring: Reader<Envelope<T>>, has_first: bool },
    /// A queue behind a lock. The consumer's message is in a box, because a message in place would make the enum larger,
    /// and most edges are rings.
    Locked { queue: Arc<Locked<T>>, message: Box<Option<Envelope<T>>> },
    /// A slot for one more received message of an edge that has a receiver of its own. A batch fills the slot. No queue
    /// belongs to it.
    BatchSlot(Box<Option<Envelope<T>>>),
}

impl<T> Receiver<T> {
    pub(super) fn ring(edge: Arc<Edge>, ring: Reader<Envelope<T>>) -> Self {
        Self { edge, messages: Messages::Ring { ring, has_first: false } }
    }

    pub(super) fn locked(edge: Arc<Edge>, queue: Arc<Locked<T>>) -> Self {
        Self { edge, messages: Messages::Locked { queue, message: Box::default() } }
    }

    /// Creates a slot for one more received message of this edge.
    pub(crate) fn place(&self) -> Self {
        Self { edge: self.edge.clone(), messages: Messages::BatchSlot(Box::default()) }
    }

    /// Whether this is a slot that [`place`](Self::place) has created.
    pub(crate) fn is_place(&self) -> bool {
        matches!(self.messages, Messages::BatchSlot(_))
    }

    /// Puts a received message into this slot.
    pub(crate) fn put(&mut self, message: Envelope<T>) {
        if let Messages::BatchSlot(place) = &mut self.messages {
            **place = Some(message);
        }
    }

    /// Prepares for a run: sets the edge's counts of messages to 0.
    pub(crate) fn begin_run(&self) {
        match &self.messages {
            Messages::Ring { ring, .. } => self.edge.begin_run(ring.read()),
            Messages::Locked { queue, .. } => {
                self.edge.begin_run(0);
                queue.begin_run();
            }
            Messages::BatchSlot(_) => {}
        }
    }

    /// Makes the edge drop messages that find no room, from now on until the end of the run, so that the producer does not
    /// wait for room. The caller has exclusive access to the consumer. The producer may be running at this time, and reads
    /// the new value when it sends a later message.
    pub(crate) fn give_way(&self) {
        self.edge.gives_way.store(true, Ordering::Relaxed);
    }

    /// Makes `flush` leave the edge's messages in the queue, from now on until the end of the run. The caller has exclusive
    /// access to the consumer.
    pub(crate) fn keep(&self) {
        self.edge.keeps.store(true, Ordering::Relaxed);
    }

    /// Whether `flush` leaves the edge's messages in the queue.
    pub(crate) fn keeps(&self) -> bool {
        self.edge.keeps.load(Ordering::Relaxed)
    }

    pub(crate) fn status(&self) -> EdgeStatus {
        let passed = match &self.messages {
            Messages::Ring { ring, .. } => {
                let read = ring.read();
                self.edge.of_ring(read.wrapping_add(ring.waiting()), read)
            }
            Messages::Locked { queue, .. } => queue.passed(),
            Messages::BatchSlot(_) => Passed::default(),
        };
        self.edge.status(passed)
    }

    /// Whether the number of this edge is in the list.
    pub(crate) fn is_one_of(&self, edges: &[usize]) -> bool {
        edges.contains(&self.edge.id())
    }

    pub(crate) fn name(&self) -> &'static str {
        self.edge.options.name
    }

    pub(crate) fn capacity(&self) -> usize {
        self.edge.options.capacity
    }

    /// Whether this is a feedback edge, which carries messages into the next tick. The queue of a feedback edge is no ring.
    #[inline]
    pub(crate) fn is_feedback(&self) -> bool {
        !matches!(self.messages, Messages::Ring { .. }) && self.edge.options.feedback
    }

    /// Whether a message waits, including the staged message, which the next tick will receive.
    #[inline]
    pub(crate) fn has_message(&self) -> bool {
        match &self.messages {
            Messages::Ring { ring, .. } => !ring.is_empty(),
            Messages::Locked { queue, .. } => queue.count() > 0,
            Messages::BatchSlot(_) => false,
        }
    }

    /// The number of waiting messages, including the staged message, which the next tick will receive.
    pub(crate) fn waiting(&self) -> usize {
        match &self.messages {
            Messages::Ring { ring, .. } => ring.waiting(),
            Messages::Locked { queue, .. } => queue.count(),
            Messages::BatchSlot(_) => 0,
        }
    }

    /// The acquisition time of the oldest waiting message; the inner `None` if that message has no time. `staged` says that
    /// the consumer's message is the staged message, and so the oldest waiting one.
    pub(crate) fn first_acquired(&self, staged: bool) -> Option<Option<Timestamp>> {
        match &self.messages {
            Messages::Ring { ring, .. } => ring.first().map(|first| first.metadata.acquired()),
            Messages::Locked { queue, message } => match &**message {
                Some(first) if staged => Some(first.metadata.acquired()),
                _ => queue.first_acquired(),
            },
            Messages::BatchSlot(_) => None,
        }
    }

    /// Makes the first waiting message the staged message: the consumer's message, which still takes room of the edge. Before,
    /// drops a consumer's message that a failed tick has left.
    pub(crate) fn hold(&mut self) {
        self.drop_message();
        match &mut self.messages {
            Messages::Ring { ring, has_first } => *has_first = !ring.is_empty(),
            Messages::Locked { queue, message } => **message = queue.hold(),
            Messages::BatchSlot(_) => {}
        }
    }

    /// Notes that the tick has received the staged message, and returns that message.
    pub(crate) fn release(&mut self) -> Option<&Envelope<T>> {
        // In a ring, the room of the message gets free when this tick hands the message out or drops it.
        if let Messages::Locked { queue, .. } = &self.messages {
            queue.release();
        }
        self.message()
    }

    /// Drops the staged message, because it has no partner. Counts the message before the drop, because the drop may panic.
    pub(crate) fn drop_held(&mut self) {
        self.release();
        self.edge.dropped_alone.fetch_add(1, Ordering::Relaxed);
        drop(self.take());
    }

    /// Counts the consumer's message, if there is one, as a message that a failed tick has not taken and drops.
    pub(crate) fn mark_failed(&self) {
        if self.message().is_some() {
            self.edge.dropped_by_failure.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Puts the staged message back to the front of the queue. It is then a waiting message like all others.
    pub(crate) fn put_back(&mut self) {
        match &mut self.messages {
            Messages::Ring { has_first, .. } => *has_first = false,
            Messages::Locked { queue, message } => queue.put_back(message.take()),
            Messages::BatchSlot(_) => {}
        }
    }

    /// Makes the first waiting message the consumer's message, and returns it. Before, drops a consumer's message that a
    /// failed tick has left.
    #[inline]
    pub(crate) fn receive(&mut self) -> Option<&Envelope<T>> {
        match self.messages {
            Messages::Ring { ref ring, has_first: ref mut has_first @ false } => {
                let first = ring.first()?;
                *has_first = true;
                Some(first)
            }
            _ => self.receive_other(),
        }
    }

    /// The part of [`receive`](Self::receive) for a ring without a consumer's message. For an empty ring, a ring that has one,
    /// and any other queue, returns `None` and receives nothing.
    #[inline(always)]
    pub(crate) fn receive_first(&mut self) -> Option<&Envelope<T>> {
        match &mut self.messages {
            Messages::Ring { ring, has_first: has_first @ false } => {
                let first = ring.first()?;
                *has_first = true;
                Some(first)
            }
            _ => None,
        }
    }

    #[inline(never)]
    fn receive_other(&mut self) -> Option<&Envelope<T>> {
        self.drop_message();
        match &mut self.messages {
            Messages::Ring { ring, has_first } => *has_first = !ring.is_empty(),
            Messages::Locked { queue, message } => **message = queue.pop(),
            Messages::BatchSlot(_) => {}
        }
        self.message()
    }

    /// The consumer's message; `None` if the tick has received none, or has handed it out.
    #[inline]
    pub(crate) fn message(&self) -> Option<&Envelope<T>> {
        match &self.messages {
            Messages::Ring { has_first: false, .. } => None,
            Messages::Ring { ring, has_first: true } => ring.first(),
            Messages::Locked { message, .. } | Messages::BatchSlot(message) => (**message).as_ref(),
        }
    }

    /// Takes out the consumer's message.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Envelope<T>> {
        self.take_with(|envelope| envelope)
    }

    /// Takes out the consumer's message, and passes it directly from its slot to `use_it`, which saves a copy of the message.
    #[inline]
    pub(crate) fn take_with<R>(&mut self, use_it: impl FnOnce(Envelope<T>) -> R) -> Option<R> {
        match &mut self.messages {
            Messages::Ring { has_first: false, .. } => None,
            Messages::Ring { ring, has_first } => {
                *has_first = false;
                ring.take().map(use_it)
            }
            Messages::Locked { message, .. } | Messages::BatchSlot(message) => {
                take_apart(message).map(use_it)
            }
        }
    }

    /// Drops the consumer's message. Even if the message's `Drop` panics, there is no consumer's message afterwards.
    #[inline(always)]
    pub(crate) fn drop_message(&mut self) {
        match &mut self.messages {
            Messages::Ring { has_first: false, .. } => {}
            Messages::Ring { ring, has_first } => {
                *has_first = false;
                ring.discard();
            }
            Messages::Locked { .. } | Messages::BatchSlot(_) => self.drop_other(),
        }
    }

    #[inline(never)]
    fn drop_other(&mut self) {
        match &mut self.messages {
            Messages::Ring { .. } => {}
            Messages::Locked { message, .. } | Messages::BatchSlot(message) => **message = None,
        }
    }

    /// Drops all waiting messages, and counts them. A feedback edge keeps its messages.
    pub(crate) fn clear(&mut self) {
        while !self.is_feedback() && self.has_message() {
            let dropped = match &mut self.messages {
                Messages::Ring { ring, has_first } => {
                    *has_first = false;
                    ring.take()
                }
                Messages::Locked { queue, .. } => queue.pop(),
                Messages::BatchSlot(_) => None,
            };
            // The message is counted before its drop, because the drop may panic. After a panic, `clear` is called again.
            self.edge.dropped_at_end.fetch_add(1, Ordering::Relaxed);
            drop(dropped);
        }
    }

    /// Puts a message into the queue of a feedback edge, or of an edge without a producer. Such a queue is no ring.
    pub(crate) fn push(&self, message: Envelope<T>) {
        match &self.messages {
            Messages::Ring { .. } | Messages::BatchSlot(_) => {
                unreachable!("the producer's end puts messages into a ring")
            }
            Messages::Locked { queue, .. } => queue.push(message),
        }
    }
}

/// Takes a message out of its slot. A function of its own, so that the stack frames of the code for rings reserve no room
/// for this message.
#[inline(never)]
fn take_apart<T>(message: &mut Option<Envelope<T>>) -> Option<Envelope<T>> {
    message.take()
}
