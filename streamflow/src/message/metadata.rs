//! Metadata: what travels with a message beside its data.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::time::Timestamp;

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
/// earliest acquisition time, and all values. Of two values with one name it carries the one received last.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    acquired: Option<Timestamp>,
    values: Values,
}

/// A named value.
type Entry = (Cow<'static, str>, Value);

/// The storage of named values.
type Storage = Box<Vec<Entry>>;

/// Named values in order. Most messages carry none. They are stored behind a pointer, so that a message is small to
/// move. The storage is reused: in the steady state it allocates nothing.
#[derive(Debug, Default)]
struct Values(Option<Storage>);

/// Storage that no message uses: as many as were ever in use at once, up to [`MAX_FREE`].
static FREE: Mutex<Vec<Storage>> = Mutex::new(Vec::new());

/// Storage beyond this number is freed.
const MAX_FREE: usize = 1024;

fn free_storage() -> MutexGuard<'static, Vec<Storage>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Values {
    fn push(&mut self, entry: Entry) {
        self.0.get_or_insert_with(|| free_storage().pop().unwrap_or_default()).push(entry);
    }

    #[inline]
    fn clear(&mut self) {
        if !self.is_empty() {
            self.clear_entries();
        }
    }

    #[inline(never)]
    fn clear_entries(&mut self) {
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
    fn recycle(mut unused: Storage) {
        // Without the lock, since values are dropped here.
        unused.clear();
        let mut free = free_storage();
        if free.len() < MAX_FREE {
            free.push(unused);
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
            Self::recycle(unused);
        }
    }
}

impl Metadata {
    /// When the data was acquired, if an operator has set it.
    pub fn acquired(&self) -> Option<Timestamp> {
        self.acquired
    }

    /// Sets when the data was acquired.
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

    /// Adds the metadata of another message of the same tick.
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

    /// Removes everything, and keeps the storage.
    pub(crate) fn clear(&mut self) {
        self.acquired = None;
        self.values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_of_values_is_reused() {
        let mut first = Metadata::default();
        (0..5).for_each(|i| first.set(format!("value {i}"), Value::Integer(i)));
        let copy = first.clone();
        assert_eq!(copy, first);
        let entries = first.values.as_ptr();
        drop(first);
        // Tests of other threads share it.
        let found =
            free_storage().iter().any(|unused| unused.as_ptr() == entries && unused.is_empty());
        assert!(found || free_storage().len() == MAX_FREE);
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
