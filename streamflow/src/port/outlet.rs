//! The sending end of edges: their queues, and the message that this tick emitted.
//!
//! [`Outlet::emit`] keeps a message until `operator/runner/tick.rs` calls [`Outlet::publish`], which pushes it to the
//! queues.
//!
//! An output with one edge has code without loops, and an output without copies cancels none; `message::carried` and
//! `message::stamp` have the numbers.

use std::fmt;

use super::edge_copy::EdgeCopy;
use crate::context::ExecutionContext;
use crate::driver::Direction;
use crate::error::{Error, Failure, Result};
use crate::memory::Recycler;
use crate::message::{self, EdgeStatus, Edges, Envelope, Message, Metadata, Payload, Sender};
use crate::stream::CudaStream;

/// The queues and the message behind an output, by the message's type alone.
///
/// An outlet is one part of an [`Output`](super::Output), which adds the port.
// The fields are in this order because a tick of most nodes uses only the first ones.
#[repr(C)]
pub struct Outlet<T: Message> {
    /// The edges. Most outputs have one.
    edges: Edges<OutgoingEdge<T::Item>>,
    /// Whether a tick of this run has emitted here.
    pub(super) has_emitted: bool,
    /// Whether at most one edge begins here, and it does not copy.
    is_unshared: bool,
    pub(super) name: &'static str,
    /// The number of edges that get the message itself, and not a copy.
    readers: usize,
    recycler: Recycler<T::Item>,
    /// The message that this tick emitted, until the tick ends.
    pending: Option<Envelope<T::Item>>,
    /// The messages that edges have dropped, kept until all edges have got theirs.
    evicted: Vec<Envelope<T::Item>>,
}

struct OutgoingEdge<T> {
    queue: Sender<T>,
    /// The copying, for an edge that gets a copy of its own.
    copy: Option<Box<OwnCopy<T>>>,
}

/// A copy of the message for one edge.
struct OwnCopy<T> {
    how: EdgeCopy<T>,
    /// The copy, made when the message was emitted.
    made: Option<Envelope<T>>,
}

impl<T: Message> Outlet<T> {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            edges: Edges::new(),
            readers: 0,
            is_unshared: true,
            pending: None,
            recycler: Recycler::new(),
            has_emitted: false,
            evicted: Vec::new(),
        }
    }

    pub(super) fn connect(&mut self, queue: Sender<T::Item>, copy: Option<EdgeCopy<T::Item>>) {
        self.readers += usize::from(copy.is_none());
        let copy = copy.map(|how| Box::new(OwnCopy { how, made: None }));
        self.edges.push(OutgoingEdge { queue, copy });
        // Room for a dropped message of each edge, reserved here since the first drop may come late in a run.
        self.evicted.reserve(self.edges.len() + 1);
        self.is_unshared = self.readers == 1 && self.edges.len() == 1;
    }

    /// Keeps a message until the tick has succeeded. The message is sent on `stream`: the stream comes after all work
    /// that wrote the message, and the point for consumers is on that stream.
    #[inline(always)]
    pub(super) fn emit(
        &mut self,
        message: T,
        metadata: Metadata,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<(), Failure> {
        self.has_emitted = true;
        if let Some(stream) = stream {
            message::order(&message, stream)?;
            message::report_port(&message, cx.platform(), self.name, Direction::Outward);
        }
        // If all edges copy, no consumer waits for the message itself, and it needs no point.
        let sent = stream.filter(|_| self.is_unshared).map(|stream| stream.timeline().open_point());
        self.pending = Some(Envelope { message: message.into_payload(), metadata, sent });
        if self.is_unshared { Ok(()) } else { self.share_and_copy(stream, cx) }
    }

    /// Shares or copies the emitted message, as the edges need it.
    fn share_and_copy(
        &mut self,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<(), Failure> {
        let Some(Envelope { mut message, metadata, .. }) = self.pending.take() else {
            return Ok(());
        };
        if self.readers > 1 {
            message = Payload::Many(message.into_shared(&self.recycler));
        }
        if self.readers < self.edges.len() {
            self.copy(&message, &metadata, stream, cx)?;
        }
        let sent = stream.filter(|_| self.readers > 0);
        let sent = sent.map(|stream| stream.timeline().open_point());
        self.pending = Some(Envelope { message, metadata, sent });
        Ok(())
    }

    /// Copies a message for the edges that get a copy of their own.
    fn copy(
        &mut self,
        message: &T::Item,
        metadata: &Metadata,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<()> {
        for edge in &mut *self.edges {
            let Some(copy) = &mut edge.copy else { continue };
            let (copied, sent) = copy.how.make(message, stream, cx)?;
            let message = Payload::One(copied);
            copy.made = Some(Envelope { message, metadata: metadata.clone(), sent });
        }
        Ok(())
    }

    /// The output's edges, in the order in which they were connected.
    pub(super) fn edges(&self) -> Vec<EdgeStatus> {
        self.edges.iter().map(|edge| edge.queue.status()).collect()
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        match &self.edges {
            Edges::One([edge]) => edge.queue.has_room(),
            Edges::Several(edges) => edges.iter().all(|edge| edge.queue.has_room()),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.edges.iter().any(|edge| edge.queue.lacks_room())
    }

    /// Pushes the emitted message to the queues of all edges. Returns whether there was a message. The consumer's
    /// `Inlet` takes it out.
    #[inline]
    pub(super) fn publish(&mut self) -> bool {
        let Some(message) = self.pending.take() else {
            self.drop_evicted();
            return false;
        };
        match &mut self.edges {
            // The drop of a message that the edge refuses or evicts, after it was counted.
            Edges::One([OutgoingEdge { queue, copy: None }]) => drop(queue.push(message)),
            _ => self.publish_to_each(message),
        }
        true
    }

    /// Pushes a message to each of several edges. A message that an edge drops is kept until all edges have got theirs:
    /// its `Drop` is the user's code, and may panic.
    fn publish_to_each(&mut self, message: Envelope<T::Item>) {
        let mut readers = self.readers;
        let mut message = Some(message);
        for OutgoingEdge { queue, copy } in &mut *self.edges {
            if let Some(copy) = copy {
                self.evicted.extend(copy.made.take().and_then(|message| queue.push(message)));
                continue;
            }
            // A message with several readers is shared; the last reader gets the handle itself.
            readers -= 1;
            let next = match &message {
                Some(message) if readers > 0 => message.for_another_reader(),
                _ => message.take(),
            };
            self.evicted.extend(next.and_then(|message| queue.push(message)));
        }
        self.evicted.extend(message);
        self.drop_evicted();
    }

    /// Drops the kept messages one by one: each drop may panic, and the other messages stay for the next call.
    fn drop_evicted(&mut self) {
        while let Some(message) = self.evicted.pop() {
            drop(message);
        }
    }

    pub(super) fn may_fault(&self) -> bool {
        self.edges.iter().any(|edge| edge.queue.may_fault())
    }

    pub(super) fn full(&self) -> Option<Error> {
        self.pending.as_ref()?;
        let full = self.edges.iter().find(|edge| edge.queue.would_fault());
        full.map(|OutgoingEdge { queue, .. }| Error::QueueFull {
            edge: queue.name(),
            capacity: queue.capacity(),
        })
    }

    pub(super) fn cancel(&mut self) {
        self.pending = None;
        self.drop_evicted();
        for copy in self.edges.iter_mut().filter_map(|edge| edge.copy.as_mut()) {
            copy.made = None;
        }
    }

    /// Blocks until all copies on the edges' own streams are complete.
    pub(super) fn synchronize_blocking(&self) -> Result<()> {
        let mut copies = self.edges.iter().filter_map(|edge| edge.copy.as_ref());
        copies.try_for_each(|copy| copy.how.synchronize_blocking())
    }

    /// The message that a tick emitted, for a test without consumers.
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
