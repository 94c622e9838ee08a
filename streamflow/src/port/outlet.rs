//! The sending end of edges: the queues of an output, and the message that the current tick emitted.
//!
//! [`Outlet::emit`] stores the message until `operator/runner/tick.rs` calls [`Outlet::publish`], which pushes it to the queues.
//!
//! For speed, the code for an output with one edge has no loops, and an output without copying edges cancels no copies. The docs
//! of `message::carried` and `message::stamp` have the measurements.

use std::fmt;

use super::edge_copy::EdgeCopy;
use crate::context::ExecutionContext;
use crate::driver::Direction;
use crate::error::{Error, Failure, Result};
use crate::memory::Recycler;
use crate::message::{self, EdgeStatus, Edges, Envelope, Message, Metadata, Payload, Sender};
use crate::stream::CudaStream;

/// The queues of an output and its emitted message. The type depends only on the message's type.
///
/// An outlet is a part of an [`Output`](super::Output); the output adds the port.
// The fields are in this order because a tick of most nodes uses only the first ones, which then share a cache line.
#[repr(C)]
pub struct Outlet<T: Message> {
    /// The edges that begin at this output. Most outputs have one.
    edges: Edges<OutgoingEdge<T::Item>>,
    /// Whether a tick of this run has emitted a message at this output.
    pub(super) has_emitted: bool,
    /// Whether this output has exactly one edge that does not copy, or no edge at all.
    is_unshared: bool,
    pub(super) name: &'static str,
    /// The number of edges without a copy: their consumers get the emitted message itself, shared if there are several.
    readers: usize,
    recycler: Recycler<T::Item>,
    /// The message that the current tick emitted, until the tick ends.
    pending: Option<Envelope<T::Item>>,
    /// The messages that edges have dropped to make room, stored until all edges have got the new message.
    evicted: Vec<Envelope<T::Item>>,
}

/// An outlet for messages of the item `I`, with one owner or several.
pub(super) trait Outgoing<I> {
    /// Adds an edge with this queue.
    fn connect(&mut self, queue: Sender<I>, copy: Option<EdgeCopy<I>>);
}

impl<T: Message> Outgoing<T::Item> for Outlet<T> {
    fn connect(&mut self, queue: Sender<T::Item>, copy: Option<EdgeCopy<T::Item>>) {
        self.readers += usize::from(copy.is_none());
        let copy = copy.map(|how| Box::new(OwnCopy { how, made: None }));
        self.edges.push(OutgoingEdge { queue, copy });
        // Reserve space for one dropped message per edge now, so that no drop allocates during a run.
        self.evicted.reserve(self.edges.len() + 1);
        self.is_unshared = self.readers == 1 && self.edges.len() == 1;
    }
}

struct OutgoingEdge<T> {
    queue: Sender<T>,
    /// How the edge copies each message, if it is marked with `#[copy]` or `#[transfer]`.
    copy: Option<Box<OwnCopy<T>>>,
}

/// The copying for one edge.
struct OwnCopy<T> {
    how: EdgeCopy<T>,
    /// The copy of the emitted message, from `emit` until the tick ends.
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

    /// Stores a message until the tick has succeeded. `stream` is the stream on which the message is sent: it is made to wait for
    /// all work that wrote the message, and the point for which consumers wait is on it.
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
        // A message that is not shared gets its point here. `share_and_copy` sets the point of a shared message; a message that
        // all edges copy needs none.
        let sent = stream.filter(|_| self.is_unshared).map(|stream| stream.timeline().open_point());
        self.pending = Some(Envelope { message: message.into_payload(), metadata, sent });
        if self.is_unshared { Ok(()) } else { self.share_and_copy(stream, cx) }
    }

    /// Makes the emitted message shared if several edges need it, and makes the copies for edges that copy.
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

    /// Copies a message for each edge that copies.
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

    /// Returns the status of each edge, in the order in which the edges were connected.
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

    /// Pushes the emitted message to the queues of all edges, from which the consumers' `Inlet`s take it. Returns whether there
    /// was a message.
    #[inline]
    pub(super) fn publish(&mut self) -> bool {
        let Some(message) = self.pending.take() else {
            self.drop_evicted();
            return false;
        };
        match &mut self.edges {
            // `push` returns a message that the edge has refused or evicted, already counted; it is dropped here.
            Edges::One([OutgoingEdge { queue, copy: None }]) => drop(queue.push(message)),
            _ => self.publish_to_each(message),
        }
        true
    }

    /// Pushes a message to each of several edges. The messages that edges drop are stored until all edges have got the new
    /// message: a message's `Drop` is the user's code, and may panic.
    fn publish_to_each(&mut self, message: Envelope<T::Item>) {
        let mut readers = self.readers;
        let mut message = Some(message);
        for OutgoingEdge { queue, copy } in &mut *self.edges {
            if let Some(copy) = copy {
                self.evicted.extend(copy.made.take().and_then(|message| queue.push(message)));
                continue;
            }
            // Each reader gets a handle to the shared message; the last reader gets the original handle, without a clone.
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

    /// Drops the stored messages one by one. If a drop panics, the remaining messages stay stored for the next call.
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

    /// Blocks the host until all copies on the streams of `#[transfer]` edges are complete.
    pub(super) fn synchronize_blocking(&self) -> Result<()> {
        let mut copies = self.edges.iter().filter_map(|edge| edge.copy.as_ref());
        copies.try_for_each(|copy| copy.how.synchronize_blocking())
    }

    /// Removes and returns the message that a tick emitted, for a test without consumers.
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
