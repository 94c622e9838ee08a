//! Taking messages from the queues, for a tick.

use super::{Handled, Inlet, Stage};
use crate::error::Error;
use crate::message::edges::Edges;
use crate::message::{Carried, Envelope, Metadata, Receiver};

impl<T> Inlet<T> {
    /// Takes a message of each edge.
    #[inline]
    pub(crate) fn receive(&mut self) {
        self.receive_each(None);
    }

    /// [`receive`](Self::receive) that also notes the metadata that the run needs.
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
                // The remaining messages belong to different ticks, so they are not compared.
                return carried
                    .into_iter()
                    .for_each(|carried| self.collect_metadata(carried, false));
            }
            Stage::Nothing => return,
        }
        let Self { edges, handled, name, carries, compares, is_compared_alone, .. } = self;
        // A loop for each kind of input: a test within one loop would cost time for each message.
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

    /// Takes the messages that were [staged](Self::stage).
    #[inline(never)]
    fn receive_staged(&mut self, carried: Option<&Carried>) {
        let Self { edges, handled, name, carries, compares, .. } = self;
        of_each(edges, handled, Receiver::release, |first, is_state| {
            if let Some(carried) = carried {
                carried.note(first, is_state, *compares, *carries, name);
            }
        });
    }

    /// Takes all messages that wait when this is called, in the order of the edges. Edges that [keep](Receiver::keep)
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

    /// Takes the messages of an input with one edge that wait when this is called: at most `at_most`, and at least one.
    /// If `at_most` is larger than the edge's capacity, the tick fails.
    pub(crate) fn receive_batch(&mut self, at_most: usize) {
        // Counted first, because a taken message makes room: a fast producer could otherwise prolong the batch for
        // ever.
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

    /// [`Error::BatchTooLarge`], if this tick asked for more messages than the edge holds.
    pub(crate) fn oversized(&self) -> Option<Error> {
        let edge = self.edges.first().filter(|_| self.handled == Handled::Oversized)?;
        let (port, at_most) = (*self.name, self.asked);
        Some(Error::BatchTooLarge { port, at_most, edge: edge.name(), capacity: edge.capacity() })
    }

    pub(crate) fn discard(&mut self) {
        self.receive();
        self.drop_batch();
    }

    /// Drops the messages of an input that a failed tick has not touched. Sets `any` and counts the messages before the
    /// drop, because the drop may panic.
    pub(crate) fn drop_untaken(&mut self, any: &mut bool) {
        self.receive();
        *any |= self.has_message();
        self.own().for_each(Receiver::mark_failed);
        self.drop_batch();
    }

    /// Notes the metadata of a batch, as far as the run needs it. Only the first message of the batch is compared.
    pub(crate) fn note(&self, carried: &Carried) {
        self.collect_metadata(carried, self.compares);
    }

    /// Notes the metadata of received messages, as far as the run needs it. If `compares` is set, the first message is
    /// also compared.
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

/// Takes a message of each edge with `take`, and passes to `note` its metadata and whether a feedback edge carried it.
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
