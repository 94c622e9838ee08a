//! The producer's end of an edge.

use std::sync::Arc;

use super::locked::Locked;
use super::ring::Writer;
use super::{Edge, EdgeStatus, QueuePolicy};
use crate::message::Envelope;

/// The producer's end of an edge.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    edge: Arc<Edge>,
    messages: Messages<T>,
}

/// The queue of the edge, in one of its two forms.
#[derive(Debug)]
enum Messages<T> {
    Ring(Writer<Envelope<T>>),
    Locked(Arc<Locked<T>>),
}

impl<T> Sender<T> {
    pub(super) fn ring(edge: Arc<Edge>, ring: Writer<Envelope<T>>) -> Self {
        Self { edge, messages: Messages::Ring(ring) }
    }

    pub(super) fn locked(edge: Arc<Edge>, queue: Arc<Locked<T>>) -> Self {
        Self { edge, messages: Messages::Locked(queue) }
    }

    pub(crate) fn status(&self) -> EdgeStatus {
        let passed = match &self.messages {
            Messages::Ring(ring) => {
                let written = ring.written();
                self.edge.of_ring(written, written.wrapping_sub(ring.waiting()))
            }
            Messages::Locked(queue) => queue.passed(),
        };
        self.edge.status(passed)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.edge.options.name
    }

    pub(crate) fn capacity(&self) -> usize {
        self.edge.options.capacity
    }

    /// Whether the edge lets the producer run: it has room, needs none because of its policy, or has given way.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        !self.is_full()
            || self.edge.options.policy != QueuePolicy::BackPressure
            || self.edge.gives_way()
    }

    /// Whether the edge is full and has not given way, whatever its policy.
    pub(crate) fn lacks_room(&self) -> bool {
        self.is_full() && !self.edge.gives_way()
    }

    /// Whether the policy makes a message that finds no room an error.
    pub(crate) fn may_fault(&self) -> bool {
        self.edge.options.policy == QueuePolicy::Fault
    }

    /// Whether one more message would be an error now, by the policy `fault`.
    pub(crate) fn would_fault(&self) -> bool {
        self.may_fault() && self.is_full()
    }

    /// Whether the queue has no room for a message, whatever the policy.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        match &self.messages {
            Messages::Ring(ring) => ring.is_full(),
            Messages::Locked(queue) => queue.count() >= self.edge.options.capacity,
        }
    }

    /// Adds a message by the edge's policy. If a message is dropped, the new one or the oldest, returns that message. The
    /// caller has checked [`has_room`](Self::has_room) and [`would_fault`](Self::would_fault) before.
    #[inline]
    pub(crate) fn push(&mut self, message: Envelope<T>) -> Option<Envelope<T>> {
        match &mut self.messages {
            Messages::Ring(ring) => {
                let Some(slot) = ring.slot() else {
                    self.edge.count_dropped();
                    return Some(message);
                };
                *slot = Some(message);
                ring.send();
                None
            }
            Messages::Locked(_) => self.push_locked(message),
        }
    }

    #[inline(never)]
    fn push_locked(&self, message: Envelope<T>) -> Option<Envelope<T>> {
        let Messages::Locked(queue) = &self.messages else { return Some(message) };
        match self.edge.options.policy {
            QueuePolicy::BackPressure if self.is_full() && self.edge.gives_way() => {
                self.edge.count_dropped();
                return Some(message);
            }
            QueuePolicy::Reject if self.is_full() => {
                self.edge.count_dropped();
                return Some(message);
            }
            QueuePolicy::BackPressure | QueuePolicy::Fault | QueuePolicy::Reject => {
                queue.push(message)
            }
            QueuePolicy::Pop => {
                return queue.push_and_pop(message, self.edge.options.capacity);
            }
        }
        None
    }
}
