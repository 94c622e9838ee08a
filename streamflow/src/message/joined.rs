//! Mixed ticks: a node has received messages of one origin with different sequence numbers, as a frame with the boxes of an
//! earlier one.
//!
//! The graph joins ways of one source there, and a way drops or delays messages that the other one does not.
//! `#[when(same_sequence)]` (`operator/condition/same_sequence.rs`) avoids them. Each tick of a node with several required
//! messages compares them where it receives them. Which inputs these are is decided when the graph is built
//! (`graph/joined.rs`): those whose data may begin at one node.

use std::cell::{Cell, RefCell};

use super::stamp::Mark;

/// The parts of messages that an input notes as it receives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Noted {
    /// Nothing: the node sends no messages, and joins none here.
    Nothing,
    /// What the messages that the node sends carry on.
    Metadata,
    /// That, and which messages they are.
    All,
    /// Which messages they are: the node sends none.
    Mark,
}

impl Noted {
    /// Whether the node `carries` on what it receives, and `compares` the messages of this input.
    pub(crate) fn of(carries: bool, compares: bool) -> Self {
        match (carries, compares) {
            (false, false) => Self::Nothing,
            (true, false) => Self::Metadata,
            (true, true) => Self::All,
            (false, true) => Self::Mark,
        }
    }

    /// The same without comparison.
    pub(super) fn alone(self) -> Self {
        match self {
            Self::Nothing | Self::Mark => Self::Nothing,
            Self::Metadata | Self::All => Self::Metadata,
        }
    }

    #[inline]
    pub(super) fn carries(self) -> bool {
        matches!(self, Self::Metadata | Self::All)
    }

    #[inline]
    pub(super) fn compares(self) -> bool {
        self >= Self::All
    }
}

/// Two messages of one origin with different numbers, which a tick has received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// The number of the node at which their data began, from 0.
    pub(crate) origin: usize,
    /// Their inputs.
    pub(crate) inputs: [&'static str; 2],
    /// Their sequence numbers.
    pub(crate) sequences: [u64; 2],
}

/// The mixed ticks of a node in a run, and the messages that its tick has received.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    seen: Cell<Seen>,
    /// The first message of each origin, in the order in which they were received.
    known: [Cell<Known>; 4],
    /// Those of further origins.
    more: RefCell<Vec<Known>>,
    ticks: Cell<u64>,
    first: Cell<Option<Pair>>,
}

/// What a tick has seen.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// How many places of `known` are this tick's.
    origins: u8,
    is_mixed: bool,
}

/// A message that a tick has received, and its input.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    mark: Mark,
    input: &'static str,
}

impl Joined {
    /// A run begins.
    pub(super) fn begin(&mut self) {
        *self = Self::default();
    }

    /// A tick begins.
    #[inline]
    pub(super) fn clear(&self) {
        self.seen.set(Seen::default());
    }

    /// The mixed ticks of the run, and the first pair.
    pub(crate) fn mixed(&self) -> (u64, Option<Pair>) {
        (self.ticks.get(), self.first.get())
    }

    /// Adds a message of the tick.
    #[inline]
    pub(super) fn add(&self, mark: &Mark, input: &&'static str) {
        if self.seen.get().origins == 0 {
            self.known[0].set(Known { mark: *mark, input });
            self.seen.set(Seen { origins: 1, is_mixed: false });
        } else if !self.known[0].get().mark.is(mark) {
            self.add_other(mark, input);
        }
    }

    /// Adds a message that is not of the tick's first message's origin and number.
    #[inline(never)]
    fn add_other(&self, mark: &Mark, input: &'static str) {
        let message = Known { mark: *mark, input };
        let seen = self.seen.get();
        for known in &self.known[..usize::from(seen.origins).min(self.known.len())] {
            let known = known.get();
            if known.mark.origin() == message.mark.origin() {
                if known.mark.sequence() != message.mark.sequence() {
                    self.mix(known, message);
                }
                return;
            }
        }
        let Some(place) = self.known.get(usize::from(seen.origins)) else {
            return self.add_more(message);
        };
        place.set(message);
        self.seen.set(Seen { origins: seen.origins + 1, ..seen });
    }

    /// As `add_other`, if all places of `known` have other origins.
    #[cold]
    #[inline(never)]
    fn add_more(&self, message: Known) {
        let mut more = self.more.borrow_mut();
        let seen = self.seen.get();
        if usize::from(seen.origins) == self.known.len() {
            // They are of an earlier tick. Their memory is used again.
            more.clear();
            self.seen.set(Seen { origins: seen.origins + 1, ..seen });
        }
        let known = more.iter().find(|known| known.mark.origin() == message.mark.origin());
        match known.copied() {
            Some(known) if known.mark.sequence() != message.mark.sequence() => {
                self.mix(known, message);
            }
            Some(_) => {}
            None => more.push(message),
        }
    }

    #[cold]
    #[inline(never)]
    fn mix(&self, known: Known, message: Known) {
        // Messages that a test pushes have no origin.
        let Some(origin) = message.mark.origin() else { return };
        let seen = self.seen.get();
        if !seen.is_mixed {
            self.seen.set(Seen { is_mixed: true, ..seen });
            self.ticks.set(self.ticks.get() + 1);
        }
        if self.first.get().is_none() {
            self.first.set(Some(Pair {
                origin: origin.get() as usize - 1,
                inputs: [known.input, message.input],
                sequences: [known.mark.sequence(), message.mark.sequence()],
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::stamp::{Origin, Stamp};
    use crate::time::Timestamp;

    fn mark(origin: u32, sequence: u64) -> Mark {
        let mut stamp = Stamp::default();
        stamp.begin(Timestamp(0), sequence, Origin::new(origin));
        *stamp.mark()
    }

    /// The first pair of a tick that does not belong together: the later message comes first, and of it the first partner.
    fn first_pair(tick: &[(u32, u64)]) -> Option<(u32, [u64; 2])> {
        let pairs = tick.iter().enumerate().map(|(at, later)| (&tick[..at], later));
        let mut found = pairs.filter_map(|(before, &(origin, number))| {
            let known = before.iter().find(|(other, _)| *other == origin && origin > 0)?;
            (known.1 != number).then_some((origin, [known.1, number]))
        });
        found.next()
    }

    /// All ticks of up to 7 messages, whose origins and numbers are the digits of a number.
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
            // A tick before it leaves nothing behind.
            (1..=6).for_each(|origin| joined.add(&mark(origin, 9), &"before"));
            joined.clear();
            tick.iter().for_each(|&(origin, number)| joined.add(&mark(origin, number), &"input"));
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
            (tick..tick + 3).for_each(|number| joined.add(&mark(2, number), &"input"));
        }
        let (ticks, pair) = joined.mixed();
        assert_eq!((ticks, pair.map(|pair| (pair.origin, pair.sequences))), (3, Some((1, [0, 1]))));
    }
}
