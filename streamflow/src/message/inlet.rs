//! The receiving end of edges: their queues, and the messages that this tick received.
//!
//! A message that the producer's `Outlet` has pushed to a queue waits there. [`Inlet::receive`] makes it the tick's, and
//! [`Receive::open`](super::Receive::open) gives it as the type that the operator declared: `&T`, `Shared<T>` or `T`.

use std::slice;

use super::edges::Edges;
use super::queue::{queue, queue_of_test};
use super::{
    Carried, EdgeOptions, EdgeStatus, Envelope, Input, Mark, Message, Metadata, Receiver, Sender,
    visit,
};
use crate::driver::Direction;
use crate::error::{Error, Result};
use crate::memory::{Recycler, Shared};
use crate::platform::Platform;
use crate::stream::Point;
use crate::time::Timestamp;

/// The queues and the messages behind an input, by the message's type alone.
///
/// It is one part of an [`Input`](crate::port::Input), which adds the port.
// In this order: a tick of most nodes uses the first fields alone.
#[derive(Debug)]
#[repr(C)]
pub struct Inlet<T> {
    /// Most inputs have one.
    edges: Edges<Receiver<T>>,
    /// What this tick, or the last one, did with the input.
    pub(crate) handled: Handled,
    /// Which messages this tick, or the next one, receives.
    stage: Stage,
    /// Whether an edge may have none of them, since [`drop_older`](Self::drop_older) has dropped it.
    has_gap: bool,
    /// The number of edges whose messages were handed out in this tick.
    handed_out: usize,
    /// Whether something needs what the messages of this run carry on.
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

/// Which messages [`Inlet::receive`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// One of each edge.
    One,
    /// Those in `edges`, which are those that the next tick will receive, and not those of this tick.
    Staged,
    /// All that wait, in a tick of `flush`.
    All,
    /// No message, in a later tick of `flush`.
    Nothing,
}

/// The messages that were received and not handed out yet, in the order of the edges; those of one edge in the order in
/// which they were sent.
#[derive(Debug)]
pub(crate) struct Batch<'a, T>(slice::Iter<'a, Receiver<T>>);

impl<'a, T> Iterator for Batch<'a, T> {
    type Item = &'a Envelope<T>;

    #[inline]
    fn next(&mut self) -> Option<&'a Envelope<T>> {
        loop {
            if let Some(envelope) = self.0.next()?.message() {
                return Some(envelope);
            }
        }
    }
}

impl<T> Clone for Batch<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
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

    /// Decides which messages the next tick receives: one of each edge. A condition waits for these alone.
    /// Messages that arrive meanwhile are for a later tick. Visits the point at which the device data of each is ready.
    pub(crate) fn stage(&mut self, visit: &mut dyn FnMut(Point)) {
        self.hold();
        self.batch().filter_map(|envelope| envelope.sent).for_each(visit);
    }

    fn hold(&mut self) {
        if self.stage != Stage::Staged {
            self.own_mut().for_each(Receiver::hold);
            self.stage = if self.has_message() { Stage::Staged } else { Stage::One };
            self.has_gap = false;
        } else if self.has_gap {
            self.own_mut().filter(|edge| edge.message().is_none()).for_each(Receiver::hold);
            let has_gap = self.own().any(|edge| edge.message().is_none());
            self.has_gap = has_gap;
        }
    }

    /// Decides which messages the next tick receives, as [`stage`](Self::stage) does, and visits the mark of that of each edge:
    /// `None` for an edge without one. What a feedback edge carries is of an earlier tick, and is left out.
    pub(crate) fn heads(&mut self, visit: &mut dyn FnMut(Option<Mark>)) {
        self.hold();
        let edges = self.own().filter(|edge| !edge.is_feedback());
        edges.for_each(|edge| visit(edge.message().map(|envelope| *envelope.metadata.mark())));
    }

    /// Drops those [heads](Self::heads) that have a smaller number: no partner of theirs will come. It is called again after
    /// a panic of a message.
    pub(crate) fn drop_older(&mut self, than: u64) {
        for edge in self.edges.iter_mut().filter(|edge| !edge.is_place() && !edge.is_feedback()) {
            if edge.message().is_some_and(|head| head.metadata.mark().sequence() < than) {
                self.has_gap = true;
                edge.drop_held();
            }
        }
    }

    /// Takes one message of each edge.
    #[inline]
    pub(crate) fn receive(&mut self) {
        self.receive_each(None);
    }

    /// As [`receive`](Self::receive), and notes what the run needs to know of the messages.
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
                    self.note_all(carried, true);
                }
            } else if self.carries {
                if self.compares && !carried.has_joined(&first.metadata, &self.name) {
                    self.note_all(carried, true);
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
                return carried.into_iter().for_each(|carried| self.note_all(carried, false));
            }
            Stage::Nothing => return,
        }
        let Self { edges, handled, name, carries, compares, is_compared_alone, .. } = self;
        // A loop for each kind of input: a test within it would cost each message.
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

    /// A tick of `flush` begins, in which [`receive`](Self::receive) takes all that is left, or nothing.
    pub(crate) fn begin_flush(&mut self, is_first: bool) {
        self.unstage();
        self.handled = Handled::Left;
        self.stage = if is_first { Stage::All } else { Stage::Nothing };
    }

    /// Takes all messages that wait when this is called, in the order of the edges. Some edges keep theirs.
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

    /// The messages that the next tick would have received wait as all others.
    fn unstage(&mut self) {
        if std::mem::replace(&mut self.stage, Stage::One) == Stage::Staged {
            self.own_mut().for_each(Receiver::put_back);
        }
    }

    /// Takes the messages of an input with one edge that wait when this is called: at most so many, and at least one. A
    /// batch that its edge can't hold fails the tick.
    pub(crate) fn receive_batch(&mut self, at_most: usize) {
        // A message that is taken makes room: a fast producer would prolong the batch for ever.
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

    /// The tick has failed, and has not touched the input: its messages are gone with the tick. Notes that before they are
    /// dropped, since that may panic.
    pub(crate) fn drop_untaken(&mut self, any: &mut bool) {
        self.receive();
        *any |= self.has_message();
        self.own().for_each(Receiver::note_failed);
        self.drop_batch();
    }

    /// The messages that were received and not handed out yet, in the order of the edges.
    pub(crate) fn batch(&self) -> Batch<'_, T> {
        Batch(self.edges.iter())
    }

    /// The message of an input with one edge, if it was received and not handed out yet.
    #[inline]
    pub(crate) fn only(&self) -> Option<&Envelope<T>> {
        match &self.edges {
            Edges::One([edge]) => edge.message(),
            Edges::Several(_) => None,
        }
    }

    /// Notes what the run needs to know of the messages of a batch, of which the first one is compared.
    pub(crate) fn note(&self, carried: &Carried) {
        self.note_all(carried, self.compares);
    }

    /// Notes what the run needs to know of the messages that were received: of the first one, if it `compares` it, also which one
    /// it is.
    #[inline(never)]
    fn note_all(&self, carried: &Carried, mut compares: bool) {
        for edge in &*self.edges {
            let Some(envelope) = edge.message() else { continue };
            let compares = std::mem::replace(&mut compares, false);
            let (first, is_state) = (&envelope.metadata, edge.is_feedback());
            carried.note(first, is_state, compares, self.carries, &self.name);
        }
    }

    #[inline(always)]
    fn drop_batch(&mut self) {
        self.handed_out = 0;
        if let Edges::One([edge]) = &mut self.edges {
            edge.drop_message();
        } else {
            self.drop_each();
        }
    }

    #[inline(never)]
    fn drop_each(&mut self) {
        self.edges.iter_mut().for_each(Receiver::drop_message);
    }

    /// The message, to read. There is one: the scheduler runs an operator only when its required inputs have messages.
    #[inline]
    pub fn read(&self) -> &T {
        match self.only() {
            Some(envelope) => &envelope.message,
            None => self.read_first(),
        }
    }

    #[inline(never)]
    fn read_first(&self) -> &T {
        match self.batch().next() {
            Some(envelope) => &envelope.message,
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// Whether a message was received.
    pub fn has_message(&self) -> bool {
        self.batch().next().is_some()
    }

    /// How many messages were received and not handed out yet.
    pub fn len(&self) -> usize {
        self.batch().count()
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        !self.has_message()
    }

    /// Hands out the next message.
    fn next(&mut self) -> Option<Envelope<T>> {
        while let Some(edge) = self.edges.get_mut(self.handed_out) {
            self.handed_out += 1;
            if let Some(envelope) = edge.take() {
                return Some(envelope);
            }
        }
        None
    }

    /// The next message, to keep or to send on.
    pub fn share(&mut self) -> Shared<T> {
        match self.next() {
            Some(envelope) => envelope.message.into_shared(&self.recycler),
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }

    /// The next message itself. Only edges with one reader lead to inputs that take.
    #[inline]
    pub fn take(&mut self) -> T {
        if let Edges::One([edge]) = &mut self.edges
            && let Some(message) = edge.take_with(Envelope::into_message).flatten()
        {
            return message;
        }
        self.take_next()
    }

    #[inline(never)]
    fn take_next(&mut self) -> T {
        match self.next().map(Envelope::into_message) {
            Some(Some(message)) => message,
            Some(None) => {
                unreachable!("`{}` takes a message that may have other owners", self.name)
            }
            None => unreachable!("`{}` was opened without a message", self.name),
        }
    }
}

/// Takes one message of each edge by `take`, and passes its metadata to `note`, with whether a feedback edge carried it.
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

impl<T: Message> Inlet<T> {
    /// Reports the memory of the batch to the layers below, such as the race checker.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_batch(&self, platform: &Platform) {
        for envelope in self.batch() {
            visit::report_port(&*envelope.message, platform, self.name, Direction::Inward);
        }
    }

    /// The point at which a download in the batch is complete, for the first one that is not.
    pub(crate) fn incomplete_download(&self, platform: &Platform) -> Result<Option<Point>> {
        for envelope in self.batch() {
            if let Some(point) = visit::incomplete_download(&*envelope.message, platform)? {
                return Ok(Some(point));
            }
        }
        Ok(None)
    }
}

/// Which messages wait at an input. Of several inputs the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputState {
    /// No message, and the operator may run without one.
    Absent,
    /// Enough for a tick: a message; at a required input, one on every edge.
    Present,
    /// The operator may not run: an edge has no message.
    Missing,
}

/// What a tick did with an input. Of several inputs the greatest counts.
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
    /// It was received in a batch that its edge can't hold.
    Oversized,
}

impl<T> Inlet<T> {
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

    /// When the oldest waiting message was acquired. One that does not say is taken to be older than all others.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        let first = self.own().filter_map(|edge| edge.first_acquired(self.stage == Stage::Staged));
        first.map(|at| at.unwrap_or(Timestamp(0))).min()
    }

    /// Its edges, in the order in which they were connected.
    pub(crate) fn edges(&self) -> Vec<EdgeStatus> {
        self.own().map(Receiver::status).collect()
    }

    /// Those of its edges that have these numbers [give way](Receiver::give_way).
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
    /// are missing.
    pub(crate) fn push(&mut self, edge: usize, envelope: Envelope<T>) {
        while self.edges.len() <= edge {
            self.edges.push(queue_of_test(EdgeOptions::plain(self.name)));
        }
        self.edges[edge].push(envelope);
    }
}

#[cfg(test)]
mod tests;
