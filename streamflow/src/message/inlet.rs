//! The receiving end of edges: their queues, and the messages that this tick received.

use std::slice;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{EdgeOptions, Envelope, Message, Payload, Queue, Slot, visit};
use crate::driver::Direction;
use crate::error::{Error, Result};
use crate::memory::{Recycler, Shared};
use crate::platform::Platform;

/// The receiving end: the queues, and the messages that this tick received.
#[derive(Debug)]
pub struct Inlet<T> {
    pub(crate) name: &'static str,
    /// Nearly all inputs have one.
    edges: SmallVec<[IncomingEdge<T>; 1]>,
    /// The messages of so many edges were handed out in this tick.
    handed: usize,
    /// Whether what the edges have is what the next tick will receive, and not what this one did.
    staged: bool,
    recycler: Recycler<T>,
    /// What this tick, or the last one, did with the port.
    pub(crate) handled: Handled,
}

/// An edge that leads here.
#[derive(Debug)]
struct IncomingEdge<T> {
    queue: Arc<Queue<T>>,
    /// What this tick received and did not hand out yet. Or what the next one will.
    message: Slot<T>,
}

/// The messages that were received and not handed out yet, in the order of the edges.
#[derive(Debug)]
pub(crate) struct Batch<'a, T>(slice::Iter<'a, IncomingEdge<T>>);

impl<'a, T> Iterator for Batch<'a, T> {
    type Item = &'a Envelope<T>;

    #[inline]
    fn next(&mut self) -> Option<&'a Envelope<T>> {
        loop {
            if let Some(envelope) = &*self.0.next()?.message {
                return Some(envelope);
            }
        }
    }
}

impl<T> Clone for Batch<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Inlet<T> {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            edges: SmallVec::new(),
            handed: 0,
            staged: false,
            recycler: Recycler::new(),
            handled: Handled::Untouched,
        }
    }

    /// Connects it, and gives the producer its end.
    pub(crate) fn connect(&mut self, options: EdgeOptions) -> Arc<Queue<T>> {
        let queue = Arc::new(Queue::new(options));
        self.edges.push(IncomingEdge { queue: queue.clone(), message: Slot::default() });
        queue
    }

    /// Decides which messages the next tick receives: one of each edge. A condition waits for just these,
    /// and whatever comes meanwhile is for a later tick.
    pub(crate) fn stage(&mut self) {
        if !self.staged {
            for edge in &mut self.edges {
                edge.queue.hold_into(&mut edge.message);
            }
            self.staged = self.has_message();
        }
    }

    /// Takes one message of each edge.
    pub(crate) fn receive(&mut self) {
        let staged = std::mem::take(&mut self.staged);
        self.handled = Handled::Left;
        for edge in &mut self.edges {
            if staged {
                edge.queue.release();
            } else {
                edge.queue.pop_into(&mut edge.message);
            }
            if edge.message.is_some() {
                self.handled = Handled::Taken;
            }
        }
    }

    pub(crate) fn discard(&mut self) {
        self.receive();
        self.drop_batch();
    }

    /// What was received and not handed out yet, in the order of the edges.
    pub(crate) fn batch(&self) -> Batch<'_, T> {
        Batch(self.edges.iter())
    }

    fn drop_batch(&mut self) {
        self.handed = 0;
        for edge in &mut self.edges {
            *edge.message = None;
        }
    }

    /// The message, to read. The scheduler runs an operator only when its required inputs have one.
    pub fn read(&self) -> &T {
        match self.batch().next() {
            Some(envelope) => &envelope.message,
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// Whether a message was received.
    pub fn has_message(&self) -> bool {
        self.batch().next().is_some()
    }

    /// How many messages were received and not handed out yet.
    pub fn len(&self) -> usize {
        self.batch().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        !self.has_message()
    }

    /// Hands out the next message.
    fn next(&mut self) -> Option<Envelope<T>> {
        while let Some(edge) = self.edges.get_mut(self.handed) {
            self.handed += 1;
            if edge.message.is_some() {
                return edge.message.take();
            }
        }
        None
    }

    /// The next message, to keep or to hand on.
    pub fn share(&mut self) -> Shared<T> {
        match self.next() {
            Some(envelope) => envelope.message.into_shared(&self.recycler),
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// The next message itself. Only edges with one reader lead to inputs that take.
    pub fn take(&mut self) -> T {
        match self.next() {
            Some(Envelope { message: Payload::One(message), .. }) => message,
            Some(_) => unreachable!("the message of `{}` may have another owner", self.name),
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }
}

impl<T: Message> Inlet<T> {
    /// Tells whoever watches which memory the batch brings.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_batch(&self, platform: &Platform) {
        for envelope in self.batch() {
            visit::pass(&*envelope.message, platform, self.name, Direction::Inward);
        }
    }
}

/// What waits at an input; at all, the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputState {
    /// Nothing, and the operator may run without.
    Absent,
    /// What the operator may run for: a message, of a required input one on every edge.
    Present,
    /// The operator may not run: an edge has no message.
    Missing,
}

/// What a tick did with an input; with all, the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handled {
    /// Its message was left in the queue, or there was none.
    Left,
    /// Its message was received or discarded.
    Taken,
    /// Nothing: it was neither received, left nor discarded.
    Untouched,
}

impl<T> Inlet<T> {
    pub(crate) fn state(&self, optional: bool) -> InputState {
        let mut state = if optional { InputState::Absent } else { InputState::Missing };
        for edge in &self.edges {
            if edge.queue.has_message() {
                state = InputState::Present;
            } else if !optional {
                return InputState::Missing;
            }
        }
        state
    }

    pub(crate) fn would_lose(&self) -> bool {
        let mut queues = self.edges.iter().map(|edge| &edge.queue);
        queues.any(|queue| !queue.is_feedback() && queue.has_message())
    }

    pub(crate) fn check_start(&self) -> Result<()> {
        let mut queues = self.edges.iter().map(|edge| &edge.queue);
        let lost = queues.find(|queue| queue.is_feedback() && !queue.has_message());
        lost.map_or(Ok(()), |queue| Err(Error::FeedbackLost { edge: queue.name() }))
    }

    pub(crate) fn finish(&mut self) -> Handled {
        if !self.staged {
            self.drop_batch();
        }
        self.handled
    }

    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.staged) {
            for edge in &mut self.edges {
                edge.queue.put_back(&mut edge.message);
            }
        }
        self.drop_batch();
        self.edges.iter().for_each(|edge| edge.queue.clear());
    }

    /// Puts a message on the edge that was connected last.
    pub(crate) fn push_last(&mut self, envelope: Envelope<T>) {
        if let Some(edge) = self.edges.last() {
            edge.queue.push_from(&mut Box::new(Some(envelope)));
        }
    }

    /// Puts a message in front, for a test that stands in for an edge. The `edge`th is made if there
    /// are fewer.
    pub(crate) fn push(&mut self, edge: usize, envelope: Envelope<T>) {
        while self.edges.len() <= edge {
            self.connect(EdgeOptions::default());
        }
        self.edges[edge].queue.push_from(&mut Box::new(Some(envelope)));
    }
}
