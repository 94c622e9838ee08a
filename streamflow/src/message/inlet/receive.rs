//! Receiving: taking the messages of a tick from the queues of the input's edges.

use super::{Handled, Inlet, Stage};
use crate::error::Error;
use crate::message::edges::Edges;
use crate::message::{Carried, Envelope, Metadata, Receiver};

impl<T> Inlet<T> {
    /// Receives a message of each edge, or the messages that were staged.
    #[inline]
    pub(crate) fn receive(&mut self) {
        self.receive_each(None);
    }

    /// Calls [`receive`](Self::receive), and adds the metadata of the received messages to `carried`, if the run needs it.
    #[inline(always)]
    pub(crate) fn receive_noted(&mut self, carried: &Carried) {
        // Fast path: the only edge is a ring with a message.
        if let Edges::One([edge]) = &mut self.edges
            && self.stage == Stage::One
            && let Some(first) = edge.receive_first()
        {
            self.handled = Handled::Taken;
            if self.is_compared_alone {
                if !carried.has_joined(&first.metadata, &self.name) {
                    self.collect_metadata(carried, true);
                }
            } else if self.carries {
                if self.compares && !carried.has_joined(&first.metadata, &self.name) {
                    self.collect_metadata(carried, true);
                } else {
                    carried.merge(&first.metadata, false);
                }
            }
        } else {
            self.receive_each(Some(carried));
        }
    }

    #[inline(never)]
    fn receive_each(&mut self, carried: Option<&Carried>) {
        let stage = std::mem::replace(&mut self.stage, Stage::One);
        self.has_gap = false;
        self.handled = Handled::Left;
        match stage {
            Stage::One => {}
            Stage::Staged => return self.receive_staged(carried),
            Stage::All => {
                self.receive_all();
                // The messages that a `flush` receives belong to different ticks, so they are not compared.
                return carried
                    .into_iter()
                    .for_each(|carried| self.collect_metadata(carried, false));
            }
            Stage::Nothing => return,
        }
        let Self { edges, handled, name, carries, compares, is_compared_alone, .. } = self;
        // Each kind of input has a loop of its own, because a test within a common loop would cost time for each message.
        match carried {
            Some(carried) if *is_compared_alone => {
                of_each(edges, handled, Receiver::receive, |first, is_state| {
                    carried.note(first, is_state, true, false, name);
                })
            }
            Some(carried) if *carries => {
                of_each(edges, handled, Receiver::receive, |first, is_state| {
                    carried.note(first, is_state, *compares, true, name);
                })
            }
            _ => of_each(edges, handled, Receiver::receive, |_, _| {}),
        }
    }

    /// Receives the messages that were [staged](Self::stage).
    #[inline(never)]
    fn receive_staged(&mut self, carried: Option<&Carried>) {
        let Self { edges, handled, name, carries, compares, .. } = self;
        of_each(edges, handled, Receiver::release, |first, is_state| {
            if let Some(carried) = carried {
                carried.note(first, is_state, *compares, *carries, name);
            }
        });
    }

    /// Receives all messages that wait at the time of the call, in the order of the edges. Edges that [keep](Receiver::keep)
    /// their messages are left out.
    fn receive_all(&mut self) {
        let own = self.own().count();
        let mut place = own;
        for index in 0..own {
            if self.edges[index].keeps() {
                continue;
            }
            for _ in 0..self.edges[index].waiting() {
                self.edges[index].receive();
                let Some(message) = self.edges[index].take() else { break };
                if place == self.edges.len() {
                    let new = self.edges[index].place();
                    self.edges.push(new);
                }
                self.edges[place].put(message);
                place += 1;
            }
        }
        if place > own {
            self.handled = Handled::Taken;
        }
    }

    /// Receives the messages that wait at the time of the call, at an input with one edge: at most `at_most` messages, and
    /// at least one. If `at_most` is larger than the edge's capacity, the tick fails.
    pub(crate) fn receive_batch(&mut self, at_most: usize) {
        // The waiting messages are counted before the first is taken, because each taken message makes room, and a fast
        // producer could then send so many messages that the batch never ends.
        let waiting = self.waiting();
        self.receive();
        if self.edges.first().is_some_and(|edge| at_most > edge.capacity()) {
            (self.handled, self.asked) = (Handled::Oversized, at_most);
        }
        for index in 1..=at_most.min(waiting).max(1) {
            let Some(first) = self.edges.first_mut() else { return };
            if index > 1 {
                crate::turns::point("a batch has taken a message");
                first.receive();
            }
            let Some(message) = first.take() else { return };
            if index == self.edges.len() {
                let place = self.edges[0].place();
                self.edges.push(place);
            }
            self.edges[index].put(message);
        }
    }

    /// Returns [`Error::BatchTooLarge`] if this tick has requested a batch of more messages than the edge's capacity.
    pub(crate) fn oversized(&self) -> Option<Error> {
        let edge = self.edges.first().filter(|_| self.handled == Handled::Oversized)?;
        let (port, at_most) = (*self.name, self.asked);
        Some(Error::BatchTooLarge { port, at_most, edge: edge.name(), capacity: edge.capacity() })
    }

    pub(crate) fn discard(&mut self) {
        self.receive();
        self.drop_batch();
    }

    /// Receives and drops the messages of an input that a failed tick has neither received, left nor discarded. Before the
    /// drop, sets `any` if there are such messages, and counts them, because the drop may panic.
    pub(crate) fn drop_untaken(&mut self, any: &mut bool) {
        self.receive();
        *any |= self.has_message();
        self.own().for_each(Receiver::mark_failed);
        self.drop_batch();
    }

    /// Adds the metadata of a batch to `carried`, if the run needs it. Only the first message of the batch is compared.
    pub(crate) fn note(&self, carried: &Carried) {
        self.collect_metadata(carried, self.compares);
    }

    /// Adds the metadata of the received messages to `carried`, if the run needs it. If `compares` is set, compares the first
    /// message with those of other inputs.
    #[inline(never)]
    fn collect_metadata(&self, carried: &Carried, mut compares: bool) {
        for edge in &*self.edges {
            let Some(envelope) = edge.message() else { continue };
            let compares = std::mem::replace(&mut compares, false);
            let (first, is_state) = (&envelope.metadata, edge.is_feedback());
            carried.note(first, is_state, compares, self.carries, &self.name);
        }
    }
}

/// Receives a message of each edge by `take`. For each message, passes its metadata to `note`, with whether its edge is a
/// feedback edge.
#[inline(always)]
fn of_each<T>(
    edges: &mut [Receiver<T>],
    handled: &mut Handled,
    take: impl Fn(&mut Receiver<T>) -> Option<&Envelope<T>>,
    note: impl Fn(&Metadata, bool),
) {
    for edge in edges {
        if edge.is_place() {
            continue;
        }
        let is_feedback = edge.is_feedback();
        if let Some(first) = take(edge) {
            *handled = Handled::Taken;
            note(&first.metadata, is_feedback);
        }
    }
}
