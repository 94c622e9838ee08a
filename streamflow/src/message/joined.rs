//! Mixed ticks: ticks in which a node has received messages of one origin with different sequence numbers, for example
//! a frame with the boxes of an earlier frame.
//!
//! Mixed ticks occur where the graph joins two paths from one source, and messages on one path are dropped or delayed that
//! are not on the other path. `#[when(same_sequence)]` (`operator/condition/same_sequence.rs`) avoids mixed ticks. Each tick
//! of a node with several required messages compares the messages when it receives them. Building the graph finds the inputs
//! to compare (`graph/joined.rs`): the inputs whose data may begin at the same node.

use std::cell::{Cell, RefCell};

use super::stamp::{Mark, Origin};

/// Two messages of one origin and with different sequence numbers that one tick has received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// The number of the node at which the data of the two messages began, from 0.
    pub(crate) origin: usize,
    /// The inputs of the two messages.
    pub(crate) inputs: [&'static str; 2],
    /// The sequence numbers of the two messages.
    pub(crate) sequences: [u64; 2],
}

/// The name of an input, as a reference that takes one word: `&'static str` itself takes two.
pub(crate) type Input = &'static &'static str;

/// The count of a node's mixed ticks in a run, and the messages that the current tick has received, for the comparison.
#[derive(Debug)]
pub(crate) struct Joined {
    /// The first message of the tick: its sequence number, its origin and its input. If `origin` is `None`, as before
    /// the first message, the next message takes these fields.
    // Three separate fields take fewer instructions than one value that is copied as a whole.
    sequence: Cell<u64>,
    origin: Cell<Option<Origin>>,
    input: Cell<Input>,
    /// The number of messages in `known` that belong to the current tick; [`MIXED`] if the tick is mixed.
    others: Cell<u32>,
    /// The first message of each further origin, in the order in which the messages were received. The first `others`
    /// entries belong to the current tick. Entries after these are of earlier ticks, and are removed before the next use.
    known: RefCell<Vec<Known>>,
    ticks: Cell<u64>,
    /// The first pair of messages in the run that made a tick mixed.
    first: Cell<Option<Pair>>,
}

/// The value of `others` for a mixed tick, of which no further messages are compared.
const MIXED: u32 = u32::MAX;

/// The initial capacity of the list of further origins. A tick with more origins is rare, and makes the list grow.
const ORIGINS: usize = 4;

/// A message that a tick has received, and its input.
#[derive(Debug, Clone, Copy)]
struct Known {
    sequence: u64,
    origin: Origin,
    input: Input,
}

impl Default for Joined {
    fn default() -> Self {
        Self {
            sequence: Cell::default(),
            origin: Cell::default(),
            input: Cell::new(&""),
            others: Cell::default(),
            known: RefCell::new(Vec::with_capacity(ORIGINS)),
            ticks: Cell::default(),
            first: Cell::default(),
        }
    }
}

impl Joined {
    /// Prepares for a run: forgets the mixed ticks of the last run.
    pub(super) fn begin(&mut self) {
        // The list keeps its capacity, so that a message of a further origin that comes late in a run allocates nothing.
        let mut known = self.known.take();
        known.clear();
        *self = Self { known: RefCell::new(known), ..Self::default() };
    }

    /// Prepares for a tick: forgets the messages of the last tick.
    #[inline]
    pub(super) fn clear(&self) {
        self.origin.set(None);
        self.others.set(0);
    }

    /// The number of mixed ticks of the run, and the first pair of messages that made a tick mixed.
    pub(crate) fn mixed(&self) -> (u64, Option<Pair>) {
        (self.ticks.get(), self.first.get())
    }

    /// Adds a message of the tick if it is the first one, or has the number and the origin of the first one, as most
    /// messages do. Returns `false` for any other message; the caller passes that message to [`add_other`](Self::add_other).
    #[inline(always)]
    #[must_use]
    pub(super) fn add(&self, mark: &Mark, input: &Input) -> bool {
        if self.origin.get().is_some() {
            // Origins are compared as numbers: a comparison of options takes two more instructions.
            let number = |origin: Option<Origin>| origin.map_or(0, Origin::get);
            return self.sequence.get() == mark.sequence()
                && number(self.origin.get()) == number(mark.origin());
        }
        self.sequence.set(mark.sequence());
        self.origin.set(mark.origin());
        self.input.set(*input);
        true
    }

    /// Adds a message with another origin or number than the tick's first message.
    #[inline(never)]
    pub(super) fn add_other(&self, mark: &Mark, input: Input) {
        let (Some(first), Some(origin)) = (self.origin.get(), mark.origin()) else { return };
        let others = self.others.get();
        if others == MIXED {
            return;
        }
        let first = Known { sequence: self.sequence.get(), origin: first, input: self.input.get() };
        let message = Known { sequence: mark.sequence(), origin, input };
        let mut known = self.known.borrow_mut();
        known.truncate(others as usize);
        let mut all = std::iter::once(&first).chain(&*known);
        match all.find(|known| known.origin == origin) {
            Some(known) if known.sequence != message.sequence => self.mix(known, &message),
            Some(_) => {}
            None => {
                known.push(message);
                self.others.set(others + 1);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn mix(&self, known: &Known, message: &Known) {
        self.others.set(MIXED);
        self.ticks.set(self.ticks.get() + 1);
        if self.first.get().is_none() {
            self.first.set(Some(Pair {
                origin: message.origin.get() as usize - 1,
                inputs: [*known.input, *message.input],
                sequences: [known.sequence, message.sequence],
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::stamp::Stamp;
    use crate::time::Timestamp;

    fn add(joined: &Joined, origin: u32, sequence: u64, input: Input) {
        let mut stamp = Stamp::default();
        stamp.begin(Timestamp(0), sequence, Origin::new(origin));
        if !joined.add(stamp.mark(), &input) {
            joined.add_other(stamp.mark(), input);
        }
    }

    /// The expected first pair of a tick: the earliest message whose number differs from that of an earlier message with the
    /// same origin, and the first message of that origin.
    fn first_pair(tick: &[(u32, u64)]) -> Option<(u32, [u64; 2])> {
        let pairs = tick.iter().enumerate().map(|(at, later)| (&tick[..at], later));
        let mut found = pairs.filter_map(|(before, &(origin, number))| {
            let known = before.iter().find(|(other, _)| *other == origin && origin > 0)?;
            (known.1 != number).then_some((origin, [known.1, number]))
        });
        found.next()
    }

    /// The test compares the result with `first_pair` for random ticks of up to 7 messages, with few origins and numbers.
    #[test]
    fn a_tick_is_mixed_if_two_messages_of_an_origin_differ() {
        let mut draws = 1_u64;
        let mut digit = |below| {
            draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (draws >> 33) % below
        };
        let (mut joined, mut mixed, mut plain) = (Joined::default(), 0, 0);
        for round in 0..20_000 {
            let origins = 1 + round % 8;
            let tick: Vec<_> =
                (0..digit(8)).map(|_| (digit(origins) as u32, u64::from(digit(6) == 0))).collect();
            joined.begin();
            // The messages of this earlier tick must have no effect on the next tick.
            (1..=6).for_each(|origin| add(&joined, origin, 9, &"before"));
            joined.clear();
            tick.iter().for_each(|&(origin, number)| add(&joined, origin, number, &"input"));
            let expected = first_pair(&tick);
            let (ticks, pair) = joined.mixed();
            let found = pair.map(|pair| (pair.origin as u32 + 1, pair.sequences));
            assert_eq!((ticks, found), (u64::from(expected.is_some()), expected), "{tick:?}");
            if expected.is_some() { mixed += 1 } else { plain += 1 }
        }
        assert!(mixed > 2_000 && plain > 2_000, "{mixed} {plain}");
    }

    #[test]
    fn the_first_pair_of_a_run_is_kept_and_each_tick_counts_once() {
        let joined = Joined::default();
        for tick in 0..3 {
            joined.clear();
            (tick..tick + 3).for_each(|number| add(&joined, 2, number, &"input"));
        }
        let (ticks, pair) = joined.mixed();
        assert_eq!((ticks, pair.map(|pair| (pair.origin, pair.sequences))), (3, Some((1, [0, 1]))));
    }
}
