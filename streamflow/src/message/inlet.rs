//! The receiving end of an input's edges: the queues, and the messages that the current tick has received.
//!
//! A message that the producer's `Outlet` has pushed waits in the queue of its edge. [`Inlet::receive`] takes the message for
//! the tick, and [`Receive::open`](super::Receive::open) hands the message out as the type that the operator declared: `&T`,
//! `Shared<T>` or `T`.
//!
//! | file | content |
//! |---|---|
//! | `inlet/stage.rs` | the choice of the messages that the next tick receives |
//! | `inlet/receive.rs` | taking messages from the queues |
//! | `inlet/open.rs` | handing messages out, and dropping the messages that were not handed out |
//!
//! For an input with one edge there is separate code without loops; `message::carried` has the number of instructions that
//! this saves.

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

/// The queues and the received messages of an input. The type depends only on the message's type.
///
/// An inlet is a part of an [`Input`](crate::port::Input), which adds the port.
// The fields have this order because a tick of most nodes uses only the first ones.
#[derive(Debug)]
#[repr(C)]
pub struct Inlet<T> {
    /// The edges. Most inputs have one.
    edges: Edges<Receiver<T>>,
    /// The use of the input by the current tick, or between ticks by the last tick.
    pub(crate) handled: Handled,
    /// The choice of the messages that the current tick receives, or between ticks the next tick.
    stage: Stage,
    /// Whether an edge may lack a staged message, because [`drop_older`](Self::drop_older) has dropped that edge's message.
    has_gap: bool,
    /// The number of edges whose messages this tick has handed out: the first edges of the list.
    handed_out: usize,
    /// Whether the messages that the node emits in this run get the metadata of the messages that it has received.
    carries: bool,
    /// Whether a tick compares the input's messages with those of other inputs.
    pub(crate) compares: bool,
    /// Whether a tick only compares the messages, and does not pass their metadata on, as at a sink.
    is_compared_alone: bool,
    pub(crate) name: Input,
    recycler: Recycler<T>,
    /// The number of messages that the tick has requested in a batch, if `handled` is [`Handled::Oversized`].
    asked: usize,
}

/// Whether an input has the messages that a tick needs. The state of several inputs together is the greatest of their states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputState {
    /// The input has no message, and is optional, so the operator may run.
    Absent,
    /// The input has enough messages for a tick: a required input on every edge, and an optional input on at least one.
    Present,
    /// The input is required and an edge has no message, so the operator may not run.
    Missing,
}

/// The use of an input by a tick. The value for several inputs together is the greatest of their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handled {
    /// The message was left in the queue, or the queue had no message.
    Left,
    /// The tick neither received, left nor discarded the message. This is allowed, because the input is optional.
    Ignored,
    /// The message was received or discarded.
    Taken,
    /// The tick neither received, left nor discarded the message of a required input, which is an error.
    Untouched,
    /// The tick has requested a batch of more messages than the edge's capacity, which is an error.
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

    /// Makes the queue of a new edge. Returns the sending end of the queue, for the producer's `Outlet`.
    pub(crate) fn connect(&mut self, options: EdgeOptions) -> Sender<T> {
        let (sender, receiver) = queue(options);
        self.edges.push(receiver);
        sender
    }

    /// The receivers of the edges, without the slots for further messages of a batch, which are in the same list.
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

    /// The number of waiting messages, including the staged messages, which the next tick will receive.
    pub(crate) fn waiting(&self) -> usize {
        self.own().map(Receiver::waiting).sum()
    }

    /// The acquisition time of the oldest waiting message. A message without a time counts as older than all others.
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

    /// Prepares for a run: sets the counts of messages to 0. Removes the slots for further messages that a batch or a `flush`
    /// has added, so that an input with one edge is read on the fast path again.
    pub(crate) fn begin_run(&mut self) {
        self.edges.retain(|edge| !edge.is_place());
        self.own().for_each(Receiver::begin_run);
    }

    /// Prepares for the start of the node. `carries` says whether the node's emitted messages get the metadata of received
    /// messages. Returns an error if a feedback edge has no message, because each feedback edge must have one before a run.
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

    /// Puts a message into the queue of the edge that was connected last. The edge must be a feedback edge, or an edge without a
    /// producer and without a limit of its capacity.
    pub(crate) fn push_last(&mut self, envelope: Envelope<T>) {
        if let Some(edge) = self.own().last() {
            edge.push(envelope);
        }
    }

    /// Puts a message into the queue of an edge, for a test without producers. Adds missing edges up to this index, with
    /// room for any number of messages. A queue of that capacity is no ring, so the receiver may put messages into it.
    pub(crate) fn push(&mut self, edge: usize, envelope: Envelope<T>) {
        while self.edges.len() <= edge {
            let options = EdgeOptions { capacity: usize::MAX, ..EdgeOptions::plain(self.name) };
            drop(self.connect(options));
        }
        self.edges[edge].push(envelope);
    }
}
