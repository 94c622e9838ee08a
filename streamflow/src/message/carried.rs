//! The metadata that a tick carries on, from the messages that it has received to those that it emits.
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

/// The metadata of the messages that a tick has received, merged: see [`Metadata`].
#[derive(Debug)]
pub(crate) struct Carried {
    stamp: Cell<Stamp>,
    /// Whether no message of this tick has set the stamp yet.
    is_blank: Cell<bool>,
    /// The named values. Most messages carry none.
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
    /// Prepares for a run.
    pub(crate) fn begin_run(&mut self) {
        self.joined.begin();
    }

    /// Prepares for a tick: forgets the marks of the previous tick's messages.
    #[inline]
    pub(crate) fn clear_marks(&self) {
        self.joined.clear();
    }

    /// Prepares for a tick: forgets the metadata that the previous tick carried on.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.stamp.set(Stamp::default());
        self.is_blank.set(true);
        if self.has_values.replace(false) {
            self.values.get_mut().clear();
        }
    }

    /// The number of mixed ticks of the run, and the first pair.
    pub(crate) fn mixed(&self) -> (u64, Option<Pair>) {
        self.joined.mixed()
    }

    /// Adds a message that an input has received: `compares` it with the other messages, and `carries` its metadata on.
    /// A message of a feedback edge `is_state`: it comes from an earlier tick, and is compared with no other message.
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

    /// Compares a message with the first one of the tick, and adds it if both have the same origin and sequence number.
    /// Returns whether it was added.
    #[inline(always)]
    #[must_use]
    pub(super) fn has_joined(&self, received: &Metadata, input: &Input) -> bool {
        self.joined.add(received.mark(), input)
    }

    /// Adds the metadata of a message that an input has received. A message of a feedback edge `is_state`.
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

    /// Whether the carried metadata has an acquisition time.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.stamp.get().acquired().is_some()
    }

    /// Begins the data at this node: no message that was received in this tick has an acquisition time.
    #[inline]
    pub(crate) fn begin(&self, at: Timestamp, number: u64, origin: Option<Origin>) {
        let mut stamp = self.stamp.get();
        stamp.begin(at, number, origin);
        self.stamp.set(stamp);
        self.is_blank.set(false);
    }

    /// The time when the data began, and the node at which it began, if the run numbers its nodes.
    pub(crate) fn began(&self) -> Option<(Timestamp, Origin)> {
        let stamp = self.stamp.get();
        Some((stamp.acquired()?, stamp.origin()?))
    }

    /// The carried metadata, for a message.
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
