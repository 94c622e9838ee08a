//! The metadata that a tick carries on: it merges the metadata of the messages that it has received, and the messages that
//! it emits get the result.
//!
//! A node without outputs merges no metadata, unless the run keeps statistics. This rule, and the separate code for ports
//! with one edge in `message::inlet` and `port::outlet`, together save 60 instructions in a tick of two operators, counted by
//! callgrind on `overhead`.

use std::cell::{Cell, RefCell};

use super::Metadata;
use super::joined::{Input, Joined, Pair};
use super::metadata::Values;
use super::stamp::{Origin, Stamp};
use crate::time::Timestamp;

/// The merged metadata of the messages that a tick has received, by the rules of [`Metadata`].
#[derive(Debug)]
pub(crate) struct Carried {
    stamp: Cell<Stamp>,
    /// Whether no message of this tick has set the stamp yet.
    is_blank: Cell<bool>,
    /// The merged named values. Most messages have none.
    values: RefCell<Values>,
    has_values: Cell<bool>,
    joined: Joined,
}

impl Default for Carried {
    fn default() -> Self {
        Self {
            stamp: Cell::default(),
            is_blank: Cell::new(true),
            values: RefCell::default(),
            has_values: Cell::new(false),
            joined: Joined::default(),
        }
    }
}

impl Carried {
    /// Prepares for a run: forgets the mixed ticks of the last run.
    pub(crate) fn begin_run(&mut self) {
        self.joined.begin();
    }

    /// Prepares for a tick: forgets the messages of the previous tick that were compared.
    #[inline]
    pub(crate) fn clear_marks(&self) {
        self.joined.clear();
    }

    /// Prepares for a tick: forgets the merged metadata of the previous tick.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.stamp.set(Stamp::default());
        self.is_blank.set(true);
        if self.has_values.replace(false) {
            self.values.get_mut().clear();
        }
    }

    /// The number of mixed ticks of the run, and the first pair of messages that made a tick mixed.
    pub(crate) fn mixed(&self) -> (u64, Option<Pair>) {
        self.joined.mixed()
    }

    /// Adds a message that an input has received. If `compares` is set, the message is compared with the tick's other
    /// messages, and if `carries` is set, its metadata is merged. `is_state` is set for a message of a feedback edge, which
    /// comes from an earlier tick and is compared with no other message.
    #[inline(always)]
    pub(super) fn note(
        &self,
        received: &Metadata,
        is_state: bool,
        compares: bool,
        carries: bool,
        input: &Input,
    ) {
        if compares && !is_state && !self.has_joined(received, input) {
            self.joined.add_other(received.mark(), input);
        }
        if carries {
            self.merge(received, is_state);
        }
    }

    /// Adds a message if it is the first one of the tick, or has the same origin and sequence number as the first one.
    /// Returns whether the message was added.
    #[inline(always)]
    #[must_use]
    pub(super) fn has_joined(&self, received: &Metadata, input: &Input) -> bool {
        self.joined.add(received.mark(), input)
    }

    /// Merges the metadata of a message that an input has received. `is_state` is set for a message of a feedback edge, of
    /// which only the named values count.
    #[inline]
    pub(super) fn merge(&self, received: &Metadata, is_state: bool) {
        if !is_state && self.is_blank.replace(false) {
            self.stamp.set(received.stamp);
        } else if !is_state && !self.stamp.get().is_first(&received.stamp) {
            self.merge_stamp(&received.stamp);
        }
        if !received.values.is_empty() {
            self.merge_values(&received.values);
        }
    }

    #[inline(never)]
    fn merge_stamp(&self, received: &Stamp) {
        let mut stamp = self.stamp.get();
        stamp.merge(received);
        self.stamp.set(stamp);
    }

    #[inline(never)]
    fn merge_values(&self, received: &Values) {
        self.has_values.set(true);
        let mut values = self.values.borrow_mut();
        received.iter().for_each(|(name, value)| values.set(name.clone(), value.clone()));
    }

    /// Whether the merged metadata has an acquisition time.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.stamp.get().acquired().is_some()
    }

    /// Sets this node as the origin of the data, because no message that this tick has received has an acquisition time.
    #[inline]
    pub(crate) fn begin(&self, at: Timestamp, number: u64, origin: Option<Origin>) {
        let mut stamp = self.stamp.get();
        stamp.begin(at, number, origin);
        self.stamp.set(stamp);
        self.is_blank.set(false);
    }

    /// The acquisition time of the data, and the number of the node at which the data began. `None` if the run does not number
    /// its nodes.
    pub(crate) fn began(&self) -> Option<(Timestamp, Origin)> {
        let stamp = self.stamp.get();
        Some((stamp.acquired()?, stamp.origin()?))
    }

    /// A copy of the merged metadata, for a message that is emitted.
    #[inline]
    pub(crate) fn metadata(&self) -> Metadata {
        let values = if self.has_values.get() { self.copy_values() } else { Values::default() };
        Metadata { stamp: self.stamp.get(), values }
    }

    #[inline(never)]
    fn copy_values(&self) -> Values {
        self.values.borrow().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Value;

    #[test]
    fn the_earliest_acquisition_and_the_last_value_win_and_state_has_values_alone() {
        let mut first = Metadata::default();
        first.set("gain", Value::Float(1.0));
        let mut second = Metadata::default();
        second.set_acquired(Timestamp(20));
        second.set("gain", Value::Float(2.0));
        let mut third = Metadata::default();
        third.set_acquired(Timestamp(10));
        third.set_sequence(4);
        let mut state = Metadata::default();
        state.set_acquired(Timestamp(1));
        state.set("state", Value::Bool(true));
        let mut carried = Carried::default();
        carried.merge(&first, false);
        carried.merge(&second, false);
        carried.merge(&third, false);
        carried.merge(&state, true);
        let first = carried.metadata();
        assert_eq!((first.acquired(), first.sequence()), (Some(Timestamp(10)), Some(4)));
        assert_eq!(first.get("state"), Some(&Value::Bool(true)));
        assert_eq!(first.get("gain"), Some(&Value::Float(2.0)));
        assert_eq!(first.iter().count(), 2);
        carried.clear();
        assert_eq!(carried.metadata(), Metadata::default());
    }
}
