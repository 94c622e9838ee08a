//! What travels with a message beside its data.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment of the wall clock, in nanoseconds since 1970-01-01 00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Now. A clock before 1970 gives 0.
    #[inline(never)]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// A value of [`Metadata`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// Text.
    Text(Cow<'static, str>),
}

/// When a message's data was acquired, and named values that operators add to it.
///
/// A message that is emitted carries what the messages received in the same tick carried: the
/// earliest acquisition time, and all values, those of later received messages winning.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    acquired: Option<Timestamp>,
    values: Values,
}

/// A named value.
type Entry = (Cow<'static, str>, Value);

/// Room for named values.
type Room = Box<Vec<Entry>>;

/// Named values in order. Most messages carry none, so they lie elsewhere, and what moves with a
/// message is small. Their room is used again: in the steady state they allocate nothing.
#[derive(Debug, Default)]
struct Values(Option<Room>);

/// Room that no message uses: as many as were ever under way at once, up to [`MOST_ROOM`].
static ROOM: Mutex<Vec<Room>> = Mutex::new(Vec::new());

/// Beyond that, room is given back to the system.
const MOST_ROOM: usize = 1024;

fn room() -> MutexGuard<'static, Vec<Room>> {
    ROOM.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Values {
    fn push(&mut self, entry: Entry) {
        self.0.get_or_insert_with(|| room().pop().unwrap_or_default()).push(entry);
    }

    #[inline]
    fn clear(&mut self) {
        if !self.is_empty() {
            self.forget();
        }
    }

    #[inline(never)]
    fn forget(&mut self) {
        if let Some(entries) = &mut self.0 {
            entries.clear();
        }
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let found = self.0.as_mut()?.iter_mut().find(|(found, _)| found == name);
        found.map(|(_, value)| value)
    }

    #[inline(never)]
    fn copied(&self) -> Self {
        let mut copy = Self::default();
        self.iter().for_each(|entry| copy.push(entry.clone()));
        copy
    }

    #[cold]
    fn give_back(mut unused: Room) {
        // Before the lock.
        unused.clear();
        let mut room = room();
        if room.len() < MOST_ROOM {
            room.push(unused);
        }
    }
}

impl Deref for Values {
    type Target = [Entry];

    #[inline]
    fn deref(&self) -> &[Entry] {
        self.0.as_ref().map_or(&[], |entries| entries.as_slice())
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Clone for Values {
    #[inline]
    fn clone(&self) -> Self {
        if self.is_empty() { Self(None) } else { self.copied() }
    }
}

impl Drop for Values {
    #[inline]
    fn drop(&mut self) {
        if let Some(unused) = self.0.take() {
            Self::give_back(unused);
        }
    }
}

impl Metadata {
    /// When the data was acquired, if anybody said so.
    pub fn acquired(&self) -> Option<Timestamp> {
        self.acquired
    }

    /// Says when the data was acquired.
    pub fn set_acquired(&mut self, at: Timestamp) {
        self.acquired = Some(at);
    }

    /// The value called `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    /// Sets the value called `name`.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: Value) {
        let name = name.into();
        match self.values.get_mut(&name) {
            Some(old) => *old = value,
            None => self.values.push((name, value)),
        }
    }

    /// All values, in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (&**name, value))
    }

    /// Takes over what another message of the same tick carries.
    #[inline]
    pub(crate) fn merge(&mut self, other: &Self) {
        self.acquired = match (self.acquired, other.acquired) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        if !other.values.is_empty() {
            self.merge_values(other);
        }
    }

    #[inline(never)]
    fn merge_values(&mut self, other: &Self) {
        for (name, value) in other.values.iter() {
            self.set(name.clone(), value.clone());
        }
    }

    /// Empty again, keeping its room.
    pub(crate) fn clear(&mut self) {
        self.acquired = None;
        self.values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_values_is_used_again() {
        let mut first = Metadata::default();
        (0..5).for_each(|i| first.set(format!("value {i}"), Value::Integer(i)));
        let copy = first.clone();
        assert_eq!(copy, first);
        let entries = first.values.as_ptr();
        drop(first);
        // Tests of other threads share it.
        let found = room().iter().any(|unused| unused.as_ptr() == entries && unused.is_empty());
        assert!(found || room().len() == MOST_ROOM);
        assert_eq!(copy.get("value 4"), Some(&Value::Integer(4)));
    }

    #[test]
    fn the_earliest_acquisition_and_the_last_value_win() {
        let mut first = Metadata::default();
        first.set("gain", Value::Float(1.0));
        let mut second = Metadata::default();
        second.set_acquired(Timestamp(20));
        second.set("gain", Value::Float(2.0));
        let mut third = Metadata::default();
        third.set_acquired(Timestamp(10));
        first.merge(&second);
        first.merge(&third);
        assert_eq!(first.acquired(), Some(Timestamp(10)));
        assert_eq!(first.get("gain"), Some(&Value::Float(2.0)));
        assert_eq!(first.iter().count(), 1);
        first.clear();
        assert_eq!(first, Metadata::default());
    }
}
