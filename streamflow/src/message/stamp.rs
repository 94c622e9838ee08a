//! Stamps: the acquisition time of a message's data, its sequence number, and the node at which the data began.
//!
//! A quick test mostly tells which of two stamps is the earlier one: [`Stamp::is_first`]. This test, and outputs that have no
//! copies to cancel (`port::outlet`), together save 60 instructions for a task of Task Bench's `random`, counted by callgrind
//! on `floor`.

use std::num::NonZeroU32;

use crate::time::Timestamp;

/// The number, from 1, of the node at which the data of a message began. A run numbers its nodes.
pub(crate) type Origin = NonZeroU32;

/// A message's acquisition time, its sequence number and its origin. Of several messages that a tick receives, the stamp
/// of one message is passed on as a whole. The time and the number are no `Option`s: flags in the [`Mark`] say whether they
/// are set, because a message should be small to move.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stamp {
    acquired: u64,
    mark: Mark,
}

/// The sequence number of a message and its origin, which say which messages belong together. A `Mark` also has the flags of
/// its `Stamp`, and is copied as a whole, because it has 16 bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark {
    sequence: u64,
    origin: Option<Origin>,
    is_timed: bool,
    is_numbered: bool,
}

impl Mark {
    /// The sequence number; 0 if the message has none.
    #[inline]
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The node at which the data began, if it is known. A message with an origin always has a sequence number.
    #[inline]
    pub(crate) fn origin(&self) -> Option<Origin> {
        self.origin
    }
}

impl Stamp {
    #[inline]
    pub(super) fn acquired(&self) -> Option<Timestamp> {
        self.mark.is_timed.then_some(Timestamp(self.acquired))
    }

    #[inline]
    pub(super) fn set_acquired(&mut self, at: Timestamp) {
        self.acquired = at.0;
        self.mark.is_timed = true;
    }

    #[inline]
    pub(super) fn sequence(&self) -> Option<u64> {
        self.mark.is_numbered.then_some(self.mark.sequence)
    }

    #[inline]
    pub(super) fn set_sequence(&mut self, number: u64) {
        self.mark.sequence = number;
        self.mark.is_numbered = true;
    }

    #[inline]
    pub(super) fn origin(&self) -> Option<Origin> {
        self.mark.origin
    }

    #[inline]
    pub(super) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Sets the node `origin` as the one where the data begins, with the time `at`. Sets the sequence number to `number` if
    /// none is set. The caller's tick has received no message with an acquisition time.
    #[inline]
    pub(super) fn begin(&mut self, at: Timestamp, number: u64, origin: Option<Origin>) {
        self.set_acquired(at);
        self.mark.origin = origin;
        if !self.mark.is_numbered {
            self.set_sequence(number);
        }
    }

    /// Whether a quick test shows that this stamp is not later than `other`. For most stamps this test decides a merge. If it
    /// returns `false`, [`merge`](Self::merge) must compare the stamps.
    #[inline]
    pub(super) fn is_first(&self, other: &Self) -> bool {
        let order = (self.acquired, self.mark.sequence) <= (other.acquired, other.mark.sequence);
        let is_complete = |stamp: &Self| stamp.mark.is_timed & stamp.mark.is_numbered;
        order & is_complete(self) & is_complete(other)
    }

    /// Replaces this stamp by `other` if `other` is the earlier one, or if this stamp has neither a time nor a number.
    #[inline]
    pub(super) fn merge(&mut self, other: &Self) {
        if !self.mark.is_timed && !self.mark.is_numbered || other.key() < self.key() {
            *self = *other;
        }
    }

    /// The sort key of a stamp: the acquisition time, and for equal times the sequence number. A stamp without a time comes
    /// last, and of equal times a stamp without a number comes last.
    #[inline]
    fn key(&self) -> (bool, u64, bool, u64) {
        (!self.mark.is_timed, self.acquired, !self.mark.is_numbered, self.mark.sequence)
    }
}

/// Stamps are equal if their times and sequence numbers are equal. The origin does not count, because users can't see it.
impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(acquired: Option<u64>, sequence: Option<u64>, origin: u32) -> Stamp {
        let mut stamp = Stamp::default();
        stamp.mark.origin = Origin::new(origin);
        acquired.into_iter().for_each(|at| stamp.set_acquired(Timestamp(at)));
        sequence.into_iter().for_each(|number| stamp.set_sequence(number));
        stamp
    }

    fn values(stamp: &Stamp) -> (Option<u64>, Option<u64>, u32) {
        let origin = stamp.origin().map_or(0, Origin::get);
        (stamp.acquired().map(|at| at.0), stamp.sequence(), origin)
    }

    #[test]
    fn the_earliest_stamp_wins_as_a_whole_in_any_order() {
        let early = stamp(Some(10), Some(9), 1);
        let late = stamp(Some(20), Some(3), 2);
        let small = stamp(Some(10), Some(8), 3);
        let unnumbered = stamp(Some(10), None, 4);
        let untimed = stamp(None, Some(1), 5);
        let all = [early, late, small, unnumbered, untimed, Stamp::default()];
        for rotation in 0..all.len() {
            let mut merged = Stamp::default();
            for index in 0..all.len() {
                merged.merge(&all[(index + rotation) % all.len()]);
            }
            assert_eq!(values(&merged), (Some(10), Some(8), 3));
        }
        let mut two = late;
        two.merge(&unnumbered);
        assert_eq!(values(&two), (Some(10), None, 4));
        let mut two = untimed;
        two.merge(&Stamp::default());
        assert_eq!(values(&two), (None, Some(1), 5));
    }

    #[test]
    fn data_begins_with_the_number_of_its_tick_unless_it_has_one() {
        let mut fresh = Stamp::default();
        fresh.begin(Timestamp(0), 7, Origin::new(2));
        assert_eq!(values(&fresh), (Some(0), Some(7), 2));
        let mut numbered = stamp(None, Some(1), 0);
        numbered.begin(Timestamp(5), 7, Origin::new(2));
        assert_eq!(values(&numbered), (Some(5), Some(1), 2));
    }
}
