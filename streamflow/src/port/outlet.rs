//! The sending end of edges: their queues, and the message that this tick emitted.
//!
//! [`Outlet::emit`] keeps a message until `operator/runner.rs` calls [`Outlet::publish`], which pushes it to the
//! queues.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::edge_copy::EdgeCopy;
use crate::context::ExecutionContext;
use crate::driver::Direction;
use crate::error::{Error, Failure, Result};
use crate::memory::Recycler;
use crate::message::{self, EdgeStatus, Envelope, Message, Metadata, Payload, Queue, Slot};
use crate::stream::CudaStream;

/// The queues and the message behind an output, by the message's type alone.
///
/// It is one part of an [`Output`](super::Output), which adds the port.
pub struct Outlet<T: Message> {
    pub(super) name: &'static str,
    /// Most outputs have one.
    edges: SmallVec<[OutgoingEdge<T::Item>; 1]>,
    /// How many edges get the message itself, and not a copy.
    readers: usize,
    /// The message that this tick emitted, until the tick ends.
    pending: Slot<T::Item>,
    recycler: Recycler<T::Item>,
    /// Whether a tick of this run has emitted here.
    pub(super) has_emitted: bool,
}

struct OutgoingEdge<T> {
    queue: Arc<Queue<T>>,
    /// How the edge copies, if it gets a copy of its own.
    copy: Option<Box<EdgeCopy<T>>>,
    /// The edge's own message: the copy, made when the message was emitted, or a handle of a shared message.
    own: Slot<T>,
}

impl<T: Message> Outlet<T> {
    pub(super) fn new(name: &'static str) -> Self {
        let (edges, pending) = (SmallVec::new(), Slot::default());
        Self { name, edges, readers: 0, pending, recycler: Recycler::new(), has_emitted: false }
    }

    pub(super) fn connect(&mut self, queue: Arc<Queue<T::Item>>, copy: Option<EdgeCopy<T::Item>>) {
        self.readers += usize::from(copy.is_none());
        self.edges.push(OutgoingEdge { queue, copy: copy.map(Box::new), own: Slot::default() });
    }

    /// Keeps a message until the tick has succeeded. It is sent on `stream`: the stream comes after all work that
    /// wrote the message, and the point for consumers is on it.
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
        // Fast path: at most one edge, without a copy. If all edges copy, no consumer waits for the message itself,
        // and it needs no point.
        let is_unshared = self.readers <= 1 && self.readers == self.edges.len();
        let sent = stream.filter(|_| is_unshared).map(|stream| stream.timeline().open_point());
        // Written to its final place, which is emptied first.
        *self.pending = None;
        *self.pending = Some(Envelope { message: message.into_payload(), metadata, sent });
        if is_unshared { Ok(()) } else { self.share_and_copy(stream, cx) }
    }

    /// Shares the emitted message, or copies it, as its edges need it.
    #[inline(never)]
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
        *self.pending = Some(Envelope { message, metadata, sent });
        Ok(())
    }

    /// Copies a message for the edges that get one of their own.
    fn copy(
        &mut self,
        message: &T::Item,
        metadata: &Metadata,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<()> {
        for edge in &mut self.edges {
            let Some(copy) = &mut edge.copy else { continue };
            let (copied, sent) = copy.make(message, stream, cx)?;
            let message = Payload::One(copied);
            *edge.own = Some(Envelope { message, metadata: metadata.clone(), sent });
        }
        Ok(())
    }

    /// Its edges, in the order in which they were connected.
    pub(super) fn edges(&self) -> Vec<EdgeStatus> {
        self.edges.iter().map(|edge| edge.queue.status()).collect()
    }

    pub(super) fn has_room(&self) -> bool {
        self.edges.iter().all(|edge| edge.queue.has_room())
    }

    pub(super) fn is_full(&self) -> bool {
        self.edges.iter().any(|edge| edge.queue.is_full())
    }

    /// Pushes the emitted message to the queues of all edges. Returns whether there was one. The consumer's `Inlet`
    /// takes it out.
    pub(super) fn publish(&mut self) -> bool {
        let emitted = self.pending.is_some();
        if let [OutgoingEdge { queue, copy: None, .. }] = &*self.edges {
            queue.push_from(&mut self.pending);
            // It is still there if the queue had no room.
            *self.pending = None;
        } else {
            self.publish_to_each();
        }
        emitted
    }

    #[inline(never)]
    fn publish_to_each(&mut self) {
        let mut readers = self.readers;
        if self.pending.is_some() {
            for OutgoingEdge { queue, copy, own } in &mut self.edges {
                if copy.is_none() {
                    // A message with several readers is shared; the last of them gets the handle itself.
                    readers -= 1;
                    **own = match &*self.pending {
                        Some(envelope) if readers > 0 => envelope.for_another_reader(),
                        _ => self.pending.take(),
                    };
                }
                queue.push_from(own);
            }
        }
        // Drops what had no room, and the copies of a failed `emit` whose error the operator did not return.
        self.cancel();
    }

    pub(super) fn may_fault(&self) -> bool {
        self.edges.iter().any(|edge| edge.queue.may_fault())
    }

    pub(super) fn full(&self) -> Option<Error> {
        (*self.pending).as_ref()?;
        let full = self.edges.iter().find(|edge| edge.queue.would_fault());
        full.map(|OutgoingEdge { queue, .. }| Error::QueueFull {
            edge: queue.name(),
            capacity: queue.capacity(),
        })
    }

    pub(super) fn cancel(&mut self) {
        *self.pending = None;
        for edge in &mut self.edges {
            *edge.own = None;
        }
    }

    /// Blocks until all copies on the edges' own streams are complete.
    pub(super) fn synchronize_blocking(&self) -> Result<()> {
        let mut copies = self.edges.iter().filter_map(|edge| edge.copy.as_ref());
        copies.try_for_each(|copy| copy.synchronize_blocking())
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
