//! The receiving end of edges: their queues, and the messages that this tick received.

use std::collections::VecDeque;
use std::collections::vec_deque;
use std::sync::Arc;

use super::queue::{EdgeOptions, Queue};
use crate::error::{Error, Result};
use crate::memory::{Recycler, Shared};
use crate::message::{Envelope, Payload};
use crate::stream::Point;

/// How many edges lead to an input; it receives one message from each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortSize {
    /// One.
    One,
    /// Any number: `#[input(many)]`.
    Many,
    /// As many as it says: `#[input(size = n)]`.
    Exactly(usize),
}

/// The receiving end: the queues, and the messages that this tick received.
#[derive(Debug)]
pub struct Inlet<T> {
    pub(super) name: &'static str,
    /// In the order of the edges.
    queues: Vec<Arc<Queue<T>>>,
    /// What this tick received and did not hand out yet, likewise. Or what the next one will.
    batch: VecDeque<Envelope<T>>,
    /// Whether it is the latter.
    staged: bool,
    recycler: Recycler<T>,
    /// What this tick did with the port.
    pub(super) handled: Handled,
}

impl<T> Inlet<T> {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            queues: Vec::new(),
            batch: VecDeque::with_capacity(1),
            staged: false,
            recycler: Recycler::new(),
            handled: Handled::Untouched,
        }
    }

    /// Connects it, and gives the producer its end.
    pub(super) fn connect(&mut self, options: EdgeOptions) -> Arc<Queue<T>> {
        let queue = Arc::new(Queue::new(options));
        self.queues.push(queue.clone());
        self.batch.reserve(self.queues.len());
        queue
    }

    /// Decides which messages the next tick receives: one of each edge. A condition waits for just these,
    /// and whatever comes meanwhile is for a later tick.
    pub(super) fn stage(&mut self) {
        if !self.staged {
            self.batch.extend(self.queues.iter().filter_map(|queue| queue.hold()));
            self.staged = !self.batch.is_empty();
        }
    }

    /// Takes one message of each edge.
    pub(super) fn receive(&mut self) {
        if std::mem::take(&mut self.staged) {
            self.queues.iter().for_each(|queue| queue.release());
        } else {
            self.queues.iter().for_each(|queue| queue.pop_into(&mut self.batch));
        }
        self.handled = if self.batch.is_empty() { Handled::Left } else { Handled::Taken };
    }

    pub(super) fn discard(&mut self) {
        self.receive();
        self.batch.clear();
    }

    /// What was received and not handed out yet, in the order of the edges.
    pub(super) fn batch(&self) -> vec_deque::Iter<'_, Envelope<T>> {
        self.batch.iter()
    }

    /// The message, to read. The scheduler runs an operator only when its required inputs have one.
    pub fn read(&self) -> &T {
        match self.batch.front() {
            Some(envelope) => &envelope.message,
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// Whether a message was received.
    pub fn has_message(&self) -> bool {
        !self.batch.is_empty()
    }

    /// How many messages were received and not handed out yet.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// The next message, to keep or to hand on.
    pub fn share(&mut self) -> Shared<T> {
        match self.batch.pop_front() {
            Some(envelope) => envelope.message.into_shared(&self.recycler),
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// The next message itself. Only edges with one reader lead to inputs that take.
    pub fn take(&mut self) -> T {
        match self.batch.pop_front() {
            Some(Envelope { message: Payload::One(message), .. }) => message,
            Some(_) => unreachable!("the message of `{}` may have another owner", self.name),
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }
}

/// What a tick did with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    /// Nothing: it was neither received, left nor discarded.
    Untouched,
    /// Its message was left in the queue, or there was none.
    Left,
    /// Its message was received or discarded.
    Taken,
}

/// What the scheduler sees of an input.
pub trait AnyInput {
    /// The port's name.
    fn name(&self) -> &'static str;
    /// Whether the operator may run without a message here.
    fn is_optional(&self) -> bool;
    /// Whether a message waits.
    fn has_message(&self) -> bool;
    /// Whether one waits on every edge.
    fn has_all(&self) -> bool;
    /// Whether a message waits that is lost when the run ends.
    fn would_lose(&self) -> bool;
    /// Whether a run can begin: each feedback edge carries a message into it.
    ///
    /// # Errors
    /// [`Error::FeedbackLost`].
    fn check_start(&self) -> Result<()>;
    /// Decides which messages the next tick receives, and shows when the device data of each is ready.
    fn stage(&mut self, visit: &mut dyn FnMut(Point));
    /// Ends a tick: drops what it received. What the tick did with the port.
    fn finish(&mut self) -> Handled;
    /// Drops all messages, but those that a feedback edge carries into the next run.
    fn clear(&mut self);
}

impl<T> Inlet<T> {
    pub(super) fn waits(&self) -> bool {
        self.queues.iter().any(|queue| queue.has_message())
    }

    pub(super) fn has_all(&self) -> bool {
        !self.queues.is_empty() && self.queues.iter().all(|queue| queue.has_message())
    }

    pub(super) fn would_lose(&self) -> bool {
        self.queues.iter().any(|queue| !queue.is_feedback() && queue.has_message())
    }

    pub(super) fn check_start(&self) -> Result<()> {
        let lost = self.queues.iter().find(|queue| queue.is_feedback() && !queue.has_message());
        lost.map_or(Ok(()), |queue| Err(Error::FeedbackLost { edge: queue.name() }))
    }

    pub(super) fn finish(&mut self) -> Handled {
        if !self.staged {
            // One by one, since there is nearly always one: that is faster.
            while self.batch.pop_front().is_some() {}
        }
        std::mem::replace(&mut self.handled, Handled::Untouched)
    }

    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.staged) {
            for queue in &self.queues {
                queue.put_back(|| self.batch.pop_front());
            }
        }
        self.batch.clear();
        self.queues.iter().for_each(|queue| queue.clear());
    }

    /// Puts a message on the edge that was connected last.
    pub(super) fn push_last(&mut self, envelope: Envelope<T>) {
        if let Some(queue) = self.queues.last() {
            queue.push(envelope);
        }
    }

    /// Puts a message in front, for a test that stands in for an edge. The `edge`th is made if there
    /// are fewer.
    pub(crate) fn push(&mut self, edge: usize, envelope: Envelope<T>) {
        while self.queues.len() <= edge {
            self.connect(EdgeOptions::default());
        }
        self.queues[edge].push(envelope);
    }
}
