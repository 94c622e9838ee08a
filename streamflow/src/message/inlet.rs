//! The receiving end of edges: their queues, and the messages that the current tick has received.
//!
//! A message that the producer's `Outlet` has pushed waits in its queue. [`Inlet::receive`] takes it for the tick, and
//! [`Receive::open`](super::Receive::open) hands it out as the type that the operator declared: `&T`, `Shared<T>` or
//! `T`.
//!
//! | file | content |
//! |---|---|
//! | `inlet/stage.rs` | the choice of the messages that the next tick receives |
//! | `inlet/receive.rs` | taking them from the queues |
//! | `inlet/open.rs` | handing them out, and dropping those that are left |
//!
//! An input with one edge has code without loops; `message::carried` has the number.

mod open;
mod receive;
mod stage;
#[cfg(test)]
mod tests;

pub(crate) use open::Batch;
use stage::Stage;

use super::edges::Edges;
use super::queue::queue;
use super::{EdgeOptions, EdgeStatus, Envelope, Input, Receiver, Sender};
use crate::error::{Error, Result};
use crate::memory::Recycler;
use crate::time::Timestamp;

/// The queues and the messages behind an input. The type depends only on the message's type.
///
/// An inlet is a part of an [`Input`](crate::port::Input); the input adds the port.
// Fields in this order: a tick of most nodes uses only the first ones.
#[derive(Debug)]
#[repr(C)]
pub struct Inlet<T> {
    /// The edges. Most inputs have one.
    edges: Edges<Receiver<T>>,
    /// The use of the input by the current tick, or by the last one.
    pub(crate) handled: Handled,
    /// The messages that the current tick, or the next one, receives.
    stage: Stage,
    /// Whether an edge may have no staged message, because [`drop_older`](Self::drop_older) has dropped it.
    has_gap: bool,
    /// The number of edges that have handed out their messages in this tick.
    handed_out: usize,
    /// Whether the node carries the metadata of received messages on in this run.
    carries: bool,
    /// Whether a tick compares the input's messages with those of other inputs.
    pub(crate) compares: bool,
    /// Whether the metadata is only compared, and not carried on, as at a sink.
    is_compared_alone: bool,
    pub(crate) name: Input,
    recycler: Recycler<T>,
    /// For [`Handled::Oversized`], the number of messages that the tick asked for.
    asked: usize,
}

/// The state of an input, by the messages that wait. Of several inputs the greatest state counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputState {
    /// No message, and the operator may run without one.
    Absent,
    /// Enough for a tick: a message; at a required input, one on every edge.
    Present,
    /// The operator may not run: an edge has no message.
    Missing,
}

/// The use of an input by a tick. Of several inputs the greatest value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handled {
    /// The message was left in the queue, or there was none.
    Left,
    /// The tick did nothing with the input, and may: the input is optional, and was neither received, left nor
    /// discarded.
    Ignored,
    /// The message was received or discarded.
    Taken,
    /// The tick did nothing with a required input: it was neither received, left nor discarded.
    Untouched,
    /// The messages were received in a batch that is larger than the edge's capacity.
    Oversized,
}

impl<T> Inlet<T> {
    pub(crate) fn new(name: Input) -> Self {
        Self {
            name,
            edges: Edges::new(),
            handed_out: 0,
            stage: Stage::One,
            carries: true,
            compares: false,
            is_compared_alone: false,
            has_gap: false,
            recycler: Recycler::new(),
            handled: Handled::Untouched,
            asked: 0,
        }
    }

    /// Makes the queue of an edge. Returns the queue's other end, for the producer's `Outlet`.
    pub(crate) fn connect(&mut self, options: EdgeOptions) -> Sender<T> {
        let (sender, receiver) = queue(options);
        self.edges.push(receiver);
        sender
    }

    /// The edges, without the places of a batch.
    fn own(&self) -> impl Iterator<Item = &Receiver<T>> {
        self.edges.iter().filter(|edge| !edge.is_place())
    }

    fn own_mut(&mut self) -> impl Iterator<Item = &mut Receiver<T>> {
        self.edges.iter_mut().filter(|edge| !edge.is_place())
    }

    #[inline]
    pub(crate) fn state(&self, optional: bool) -> InputState {
        match &self.edges {
            Edges::One([edge]) if edge.has_message() => InputState::Present,
            _ => self.state_of_each(optional),
        }
    }

    #[inline(never)]
    fn state_of_each(&self, optional: bool) -> InputState {
        let mut state = if optional { InputState::Absent } else { InputState::Missing };
        for edge in self.own() {
            if edge.has_message() {
                state = InputState::Present;
            } else if !optional {
                return InputState::Missing;
            }
        }
        state
    }

    /// The number of waiting messages, including those that the next tick will receive.
    pub(crate) fn waiting(&self) -> usize {
        self.own().map(Receiver::waiting).sum()
    }

    /// The time at which the oldest waiting message was acquired. A message without a time counts as older than all others.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let first = self.own().filter_map(|edge| edge.first_acquired(self.stage == Stage::Staged));
        first.map(|at| at.unwrap_or(Timestamp(0))).min()
    }

    /// The state of the edges, in the order in which they were connected.
    pub(crate) fn edges(&self) -> Vec<EdgeStatus> {
        self.own().map(Receiver::status).collect()
    }

    /// Makes the edges with these numbers [give way](Receiver::give_way).
    pub(crate) fn give_way(&self, edges: &[usize]) {
        self.own().filter(|edge| edge.is_one_of(edges)).for_each(Receiver::give_way);
    }

    /// Makes the edges with these numbers [keep](Receiver::keep) their messages from `flush`.
    pub(crate) fn keep(&self, edges: &[usize]) {
        self.own().filter(|edge| edge.is_one_of(edges)).for_each(Receiver::keep);
    }

    /// Prepares for a run: messages are counted anew. Removes the places of a batch or of a `flush`: an input with one
    /// edge is then read on the fast path again.
    pub(crate) fn begin_run(&mut self) {
        self.edges.retain(|edge| !edge.is_place());
        self.own().for_each(Receiver::begin_run);
    }

    /// Prepares for the start of the node. `carries` says whether the node carries metadata on. Each feedback edge must
    /// carry a message into a run.
    ///
    /// # Errors
    /// [`Error::FeedbackLost`].
    pub(crate) fn start(&mut self, carries: bool) -> Result<()> {
        (self.carries, self.is_compared_alone) = (carries, self.compares && !carries);
        let lost = self.own().find(|edge| edge.is_feedback() && !edge.has_message());
        lost.map_or(Ok(()), |edge| Err(Error::FeedbackLost { edge: edge.name() }))
    }

    #[inline]
    pub(crate) fn finish(&mut self) -> Handled {
        if self.stage != Stage::Staged {
            self.drop_batch();
        }
        self.handled
    }

    pub(crate) fn clear(&mut self) {
        self.unstage();
        self.drop_batch();
        self.own_mut().for_each(Receiver::clear);
    }

    /// Puts a message on the edge that was connected last: a feedback edge.
    pub(crate) fn push_last(&mut self, envelope: Envelope<T>) {
        if let Some(edge) = self.edges.last() {
            edge.push(envelope);
        }
    }

    /// Puts a message into the queue of an edge, for a test without producers. Makes missing edges up to this one, with
    /// room for any number of messages. A queue of that capacity is no ring, so this end may put messages into it.
    pub(crate) fn push(&mut self, edge: usize, envelope: Envelope<T>) {
        while self.edges.len() <= edge {
            let options = EdgeOptions { capacity: usize::MAX, ..EdgeOptions::plain(self.name) };
            drop(self.connect(options));
        }
        self.edges[edge].push(envelope);
    }
}
