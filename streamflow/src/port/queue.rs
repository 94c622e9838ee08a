//! Where messages wait, and the two ends of a queue.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::copy::EdgeCopy;
use crate::context::ExecutionContext;
use crate::driver::Direction;
use crate::error::Result;
use crate::memory::{Recycler, Shared};
use crate::message::{self, Envelope, Message, Payload};
use crate::stream::{CudaStream, Point};

/// How many messages wait on an edge before its producer must.
const CAPACITY: usize = 1;

/// The messages of one edge, oldest first.
#[derive(Debug)]
pub(super) struct Queue<T> {
    messages: Mutex<VecDeque<Envelope<T>>>,
    /// How many, so that schedulers can ask without the lock. Changed under it.
    count: AtomicUsize,
}

impl<T> Queue<T> {
    fn new() -> Self {
        let messages = Mutex::new(VecDeque::with_capacity(CAPACITY));
        Self { messages, count: AtomicUsize::new(0) }
    }

    fn has_room(&self) -> bool {
        self.count.load(Ordering::Acquire) < CAPACITY
    }

    fn has_message(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    fn push(&self, envelope: Envelope<T>) {
        let mut messages = self.lock();
        messages.push_back(envelope);
        self.count.store(messages.len(), Ordering::Release);
    }

    fn pop(&self) -> Option<Envelope<T>> {
        let mut messages = self.lock();
        let first = messages.pop_front();
        self.count.store(messages.len(), Ordering::Release);
        first
    }

    /// Drops all messages, without the lock: a message may do anything when it is dropped.
    fn clear(&self) {
        while self.pop().is_some() {}
    }

    /// When the device data of the first message is ready, if one waits and has some.
    fn sent(&self) -> Option<Point> {
        self.lock().front().and_then(|envelope| envelope.sent)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Envelope<T>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The receiving end: the queue, and the message that this tick received.
#[derive(Debug)]
pub struct Inlet<T> {
    pub(super) name: &'static str,
    queue: Option<Arc<Queue<T>>>,
    current: Option<Envelope<T>>,
    recycler: Recycler<T>,
    /// What this tick did with the port.
    pub(super) handled: Handled,
}

impl<T> Inlet<T> {
    pub(super) fn new(name: &'static str) -> Self {
        let handled = Handled::Untouched;
        Self { name, queue: None, current: None, recycler: Recycler::new(), handled }
    }

    /// Connects it, and gives the producer its end.
    pub(super) fn connect(&mut self) -> Arc<Queue<T>> {
        self.queue.get_or_insert_with(|| Arc::new(Queue::new())).clone()
    }

    pub(super) fn receive(&mut self) {
        self.current = self.queue.as_ref().and_then(|queue| queue.pop());
        self.handled = match self.current {
            Some(_) => Handled::Taken,
            None => Handled::Left,
        };
    }

    pub(super) fn discard(&mut self) {
        self.receive();
        self.current = None;
    }

    pub(super) fn current(&self) -> Option<&Envelope<T>> {
        self.current.as_ref()
    }

    /// The message, to read. The scheduler runs an operator only when its required inputs have one.
    pub fn read(&self) -> &T {
        match &self.current {
            Some(envelope) => &envelope.message,
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// Whether a message was received.
    pub fn has_message(&self) -> bool {
        self.current.is_some()
    }

    /// The message, to keep or to hand on.
    pub fn share(&mut self) -> Shared<T> {
        match self.current.take() {
            Some(envelope) => envelope.message.into_shared(&self.recycler),
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// The message itself. Only edges with one reader lead to inputs that take.
    pub fn take(&mut self) -> T {
        match self.current.take() {
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
    /// When the waiting message's device data is ready, if it has some.
    fn sent(&self) -> Option<Point>;
    /// Ends a tick: drops what it received. What the tick did with the port.
    fn finish(&mut self) -> Handled;
    /// Drops all messages.
    fn clear(&mut self);
}

impl<T> Inlet<T> {
    pub(super) fn waits(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.has_message())
    }

    pub(super) fn sent(&self) -> Option<Point> {
        self.queue.as_ref().and_then(|queue| queue.sent())
    }

    pub(super) fn finish(&mut self) -> Handled {
        self.current = None;
        std::mem::replace(&mut self.handled, Handled::Untouched)
    }

    pub(super) fn clear(&mut self) {
        self.current = None;
        if let Some(queue) = &self.queue {
            queue.clear();
        }
    }
}

/// Copies a message for an edge whose input gets one of its own, on the device of the stream.
pub(super) type CopyMessage<T> = fn(&T, &CudaStream, &ExecutionContext) -> Result<T>;

/// The sending end: the queues it feeds, and the message that this tick emitted.
pub struct Outlet<T: Message> {
    pub(super) name: &'static str,
    edges: Vec<OutEdge<T::Item>>,
    /// How many edges get the message itself, and no copy.
    readers: usize,
    pending: Option<Envelope<T::Item>>,
    recycler: Recycler<T::Item>,
}

struct OutEdge<T> {
    queue: Arc<Queue<T>>,
    copy: Option<EdgeCopy<T>>,
    /// The copy for this edge, made when the message was emitted.
    copied: Option<Envelope<T>>,
}

impl<T: Message> Outlet<T> {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, edges: Vec::new(), readers: 0, pending: None, recycler: Recycler::new() }
    }

    pub(super) fn connect(&mut self, queue: Arc<Queue<T::Item>>, copy: Option<EdgeCopy<T::Item>>) {
        self.readers += usize::from(copy.is_none());
        self.edges.push(OutEdge { queue, copy, copied: None });
    }

    /// Keeps a message until the tick has succeeded. `stream` is the one that it is sent on.
    pub(super) fn emit(
        &mut self,
        message: T,
        metadata: crate::message::Metadata,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<()> {
        if let Some(stream) = stream {
            message::order(&message, stream)?;
            message::pass(&message, cx.platform(), self.name, Direction::Outgoing);
        }
        let mut message = message.into_payload();
        if self.readers > 1 {
            message = Payload::Many(message.into_shared(&self.recycler));
        }
        for edge in &mut self.edges {
            let Some(copy) = &mut edge.copy else { continue };
            // Edges that copy have device data: their bounds see to it.
            let Some(stream) = stream else { continue };
            let (copied, ready) = copy.make(&message, stream, cx)?;
            let (message, sent) = (Payload::One(copied), Some(ready));
            edge.copied = Some(Envelope { message, metadata: metadata.clone(), sent });
        }
        let sent = stream.map(|stream| stream.timeline().open_point());
        self.pending = Some(Envelope { message, metadata, sent });
        Ok(())
    }

    pub(super) fn has_room(&self) -> bool {
        self.edges.iter().all(|edge| edge.queue.has_room())
    }

    /// Hands the emitted message to all edges.
    pub(super) fn publish(&mut self) {
        let Some(envelope) = self.pending.take() else {
            // Of an `emit` that failed, and whose error the operator kept to itself.
            return self.cancel();
        };
        let (mut envelope, mut readers) = (Some(envelope), self.readers);
        for edge in &mut self.edges {
            if edge.copy.is_some() {
                if let Some(copied) = edge.copied.take() {
                    edge.queue.push(copied);
                }
                continue;
            }
            // A message with several readers is shared; the last of them gets the handle itself.
            readers -= 1;
            let other = envelope.as_ref().filter(|_| readers > 0).and_then(Envelope::another);
            if let Some(envelope) = std::mem::replace(&mut envelope, other) {
                edge.queue.push(envelope);
            }
        }
    }

    pub(super) fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    pub(super) fn cancel(&mut self) {
        self.pending = None;
        self.edges.iter_mut().for_each(|edge| edge.copied = None);
    }

    /// What a tick emitted, for a test that stands in for the edges.
    pub(crate) fn take_pending(&mut self) -> Option<Envelope<T::Item>> {
        self.pending.take()
    }
}

impl<T: Message> fmt::Debug for Outlet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet")
            .field("name", &self.name)
            .field("edges", &self.edges.len())
            .finish()
    }
}

impl<T> Inlet<T> {
    /// Puts a message in front, for a test that stands in for the edge.
    pub(crate) fn push(&mut self, envelope: Envelope<T>) {
        self.connect().push(envelope);
    }
}

/// What the scheduler sees of an output.
pub trait AnyOutput {
    /// The port's name.
    fn name(&self) -> &'static str;
    /// Whether all edges have room for one message.
    fn has_room(&self) -> bool;
    /// Whether the tick emitted something.
    fn has_pending(&self) -> bool;
    /// Hands what the tick emitted to the edges.
    fn publish(&mut self);
    /// Forgets what the tick emitted.
    fn cancel(&mut self);
}

/// All ports of an operator. Made by `#[operator]`.
pub trait Ports: Send + 'static {
    /// Visits the inputs in order of declaration.
    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn AnyInput));
    /// Visits the outputs in order of declaration.
    fn outputs(&mut self, visit: &mut dyn FnMut(&mut dyn AnyOutput));
}
