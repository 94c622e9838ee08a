//! The sending end of edges: the queues it feeds, and the message that this tick emitted.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::edge_copy::EdgeCopy;
use crate::context::ExecutionContext;
use crate::driver::Direction;
use crate::error::{Error, Result};
use crate::memory::Recycler;
use crate::message::{self, Envelope, Message, Metadata, Payload, Queue, Slot};
use crate::stream::CudaStream;

/// The sending end: the queues it feeds, and the message that this tick emitted.
pub struct Outlet<T: Message> {
    pub(super) name: &'static str,
    /// Nearly all outputs have one.
    edges: SmallVec<[OutgoingEdge<T::Item>; 1]>,
    /// How many edges get the message itself, and no copy.
    readers: usize,
    pending: Slot<T::Item>,
    recycler: Recycler<T::Item>,
}

struct OutgoingEdge<T> {
    queue: Arc<Queue<T>>,
    /// Of an edge that gets a copy of its own.
    copy: Option<Box<EdgeCopy<T>>>,
    /// That copy, made when the message was emitted; or one handle more of a message with several readers.
    another: Slot<T>,
}

impl<T: Message> Outlet<T> {
    pub(super) fn new(name: &'static str) -> Self {
        let (edges, pending) = (SmallVec::new(), Slot::default());
        Self { name, edges, readers: 0, pending, recycler: Recycler::new() }
    }

    pub(super) fn connect(&mut self, queue: Arc<Queue<T::Item>>, copy: Option<EdgeCopy<T::Item>>) {
        self.readers += usize::from(copy.is_none());
        self.edges.push(OutgoingEdge { queue, copy: copy.map(Box::new), another: Slot::default() });
    }

    /// Keeps a message until the tick has succeeded. `stream` is the one that it is sent on.
    pub(super) fn emit(
        &mut self,
        message: T,
        metadata: Metadata,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<()> {
        if let Some(stream) = stream {
            message::order(&message, stream)?;
            message::pass(&message, cx.platform(), self.name, Direction::Outward);
        }
        // Nearly always. Where all edges have copies of their own nobody waits for the message itself.
        let is_for_one = self.readers <= 1 && self.readers == self.edges.len();
        let sent = stream.filter(|_| is_for_one).map(|stream| stream.timeline().open_point());
        // In its final place, which is empty.
        *self.pending = None;
        *self.pending = Some(Envelope { message: message.into_payload(), metadata, sent });
        if is_for_one { Ok(()) } else { self.share_and_copy(stream, cx) }
    }

    /// Shares the message that was emitted, or copies it, as its edges demand.
    #[inline(never)]
    fn share_and_copy(&mut self, stream: Option<&CudaStream>, cx: &ExecutionContext) -> Result<()> {
        let Some(Envelope { mut message, metadata, .. }) = self.pending.take() else {
            return Ok(());
        };
        if self.readers > 1 {
            message = Payload::Many(message.into_shared(&self.recycler));
        }
        // Edges that copy have device data: their bounds see to it.
        if let Some(stream) = stream.filter(|_| self.readers < self.edges.len()) {
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
        stream: &CudaStream,
        cx: &ExecutionContext,
    ) -> Result<()> {
        for edge in &mut self.edges {
            let Some(copy) = &mut edge.copy else { continue };
            let (copied, ready) = copy.make(message, stream, cx)?;
            let (message, sent) = (Payload::One(copied), Some(ready));
            *edge.another = Some(Envelope { message, metadata: metadata.clone(), sent });
        }
        Ok(())
    }

    pub(super) fn has_room(&self) -> bool {
        self.edges.iter().all(|edge| edge.queue.has_room())
    }

    /// Hands the emitted message to all edges. Whether there was one.
    pub(super) fn publish(&mut self) -> bool {
        let emitted = self.pending.is_some();
        if let [OutgoingEdge { queue, copy: None, .. }] = &*self.edges {
            queue.push_from(&mut self.pending);
            // If it found no room.
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
            for OutgoingEdge { queue, copy, another } in &mut self.edges {
                if copy.is_none() {
                    // A message with several readers is shared; the last of them gets the handle itself.
                    readers -= 1;
                    **another = match &*self.pending {
                        Some(envelope) if readers > 0 => envelope.another(),
                        _ => self.pending.take(),
                    };
                }
                queue.push_from(another);
            }
        }
        // What found no room; or copies of an `emit` that failed, and whose error the operator kept to itself.
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
            *edge.another = None;
        }
    }

    /// Blocks until what the edges' own streams copy is complete.
    pub(super) fn synchronize_blocking(&self) -> Result<()> {
        let mut copies = self.edges.iter().filter_map(|edge| edge.copy.as_ref());
        copies.try_for_each(|copy| copy.synchronize_blocking())
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
