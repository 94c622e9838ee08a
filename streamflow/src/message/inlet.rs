//! The receiving end of edges: their queues, and the messages that this tick received.
//!
//! A message that the producer's `Outlet` has pushed to a queue waits there. [`Inlet::receive`] makes it the tick's, and
//! [`Receive::open`](super::Receive::open) gives it as the type that the operator declared: `&T`, `Shared<T>` or `T`.
//!
//! | file | what it has |
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

/// The queues and the messages behind an input, by the message's type alone.
///
/// An inlet is one part of an [`Input`](crate::port::Input), which adds the port.
// In this order: a tick of most nodes uses the first fields alone.
#[derive(Debug)]
#[repr(C)]
pub struct Inlet<T> {
    /// Most inputs have one.
    edges: Edges<Receiver<T>>,
    /// The use of the input by this tick, or by the last one.
    pub(crate) handled: Handled,
    /// The messages that this tick, or the next one, receives.
    stage: Stage,
    /// Whether an edge may have none of them, since [`drop_older`](Self::drop_older) has dropped it.
    has_gap: bool,
    /// The number of edges whose messages were handed out in this tick.
    handed_out: usize,
    /// Whether the metadata of the messages of this run is needed.
    carries: bool,
    /// Whether a tick compares them with others.
    pub(crate) compares: bool,
    /// Whether that is all that they are needed for, as at a sink.
    is_compared_alone: bool,
    pub(crate) name: Input,
    recycler: Recycler<T>,
    /// For [`Handled::Oversized`], how many messages the tick asked for.
    asked: usize,
}

/// The messages that wait at an input. Of several inputs the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputState {
    /// No message, and the operator may run without one.
    Absent,
    /// Enough for a tick: a message; at a required input, one on every edge.
    Present,
    /// The operator may not run: an edge has no message.
    Missing,
}

/// The use of an input by a tick. Of several inputs the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handled {
    /// Its message was left in the queue, or there was none.
    Left,
    /// Nothing: the input is optional, and was neither received, left nor discarded.
    Ignored,
    /// Its message was received or discarded.
    Taken,
    /// Nothing: it was neither received, left nor discarded.
    Untouched,
    /// The messages were received in a batch that the edge can't hold.
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

    /// Makes the queue of an edge. Returns its other end, for the producer's `Outlet`.
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

    /// How many messages wait, those included that the next tick will receive.
    pub(crate) fn waiting(&self) -> usize {
        self.own().map(Receiver::waiting).sum()
    }

    /// The time at which the oldest waiting message was acquired. A message without a time counts as older than all others.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let first = self.own().filter_map(|edge| edge.first_acquired(self.stage == Stage::Staged));
        first.map(|at| at.unwrap_or(Timestamp(0))).min()
    }

    /// Its edges, in the order in which they were connected.
    pub(crate) fn edges(&self) -> Vec<EdgeStatus> {
        self.own().map(Receiver::status).collect()
    }

    /// The edges with these numbers [give way](Receiver::give_way).
    pub(crate) fn give_way(&self, edges: &[usize]) {
        self.own().filter(|edge| edge.is_one_of(edges)).for_each(Receiver::give_way);
    }

    /// `flush` gets no message of those of its edges that have these numbers.
    pub(crate) fn keep(&self, edges: &[usize]) {
        self.own().filter(|edge| edge.is_one_of(edges)).for_each(Receiver::keep);
    }

    /// A run begins: messages are counted anew. Places of a batch or of a `flush` are gone, so that an input with one edge is
    /// read in the short way again.
    pub(crate) fn begin_run(&mut self) {
        self.edges.retain(|edge| !edge.is_place());
        self.own().for_each(Receiver::begin_run);
    }

    /// The node starts. It may carry on what its messages carry. Each feedback edge must carry a message into a run.
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

    /// Puts a message on the edge that was connected last, a feedback edge.
    pub(crate) fn push_last(&mut self, envelope: Envelope<T>) {
        if let Some(edge) = self.edges.last() {
            edge.push(envelope);
        }
    }

    /// Puts a message into the queue of an edge, for a test without producers. Edges up to this one are made if they
    /// are missing, as in a graph, with room for any number of messages. Such a queue is no ring, so that this end may put
    /// messages into it.
    pub(crate) fn push(&mut self, edge: usize, envelope: Envelope<T>) {
        while self.edges.len() <= edge {
            let options = EdgeOptions { capacity: usize::MAX, ..EdgeOptions::plain(self.name) };
            drop(self.connect(options));
        }
        self.edges[edge].push(envelope);
    }
}
