//! The type [`Shared`]: a value with several owners, who can only read the value.
//!
//! The drop of an owner first reads the reference count without a locked instruction. This saves one locked instruction for
//! each reader of a message that has several readers.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A tensor, or any other message, with several owners. The owners can read the message and pass it on, but not
/// write it. The last owner can take the message out by [`try_unwrap`](Self::try_unwrap).
///
/// An operator that keeps what it sends, such as a running average, has an output `#[output] average: Shared<Tensor<f32>>`.
/// It emits `Shared::new(image)` and keeps a clone. An output of a shared tensor feeds inputs `&Tensor<f32>` and
/// `Shared<Tensor<f32>>`.
pub struct Shared<T> {
    /// The slot with the value. `None` only while this handle is being dropped or unwrapped.
    slot: Option<Arc<Slot<T>>>,
}

struct Slot<T> {
    /// The shared value. `None` only while the slot is free.
    value: Option<T>,
    recycler: Weak<Free<T>>,
    /// Whether no owner can take the value out, not even the last one, because nobody may write the value.
    read_only: bool,
}

/// The free slots of a recycler: at most as many as were in use at the same time, and at most [`MAX_FREE`].
type Free<T> = Mutex<Vec<Arc<Slot<T>>>>;

/// The most free slots that a recycler keeps.
const MAX_FREE: usize = 1024;

/// A pool of slots for shared values. With reused slots, a program that shares a value in every tick allocates nothing.
#[derive(Debug)]
pub(crate) struct Recycler<T>(Arc<Free<T>>);

impl<T> Recycler<T> {
    /// Creates a recycler without slots.
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    /// Makes a value shareable, in a slot of this recycler.
    pub(crate) fn share(&self, value: T) -> Shared<T> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut slot = free.unwrap_or_else(|| {
            Arc::new(Slot { value: None, recycler: Arc::downgrade(&self.0), read_only: false })
        });
        match Arc::get_mut(&mut slot) {
            Some(free) => free.value = Some(value),
            // This arm is not reached, because a free slot has one owner. If it were reached, a new slot would do the same.
            None => return Shared::new(value),
        }
        Shared { slot: Some(slot) }
    }
}

impl<T> Default for Recycler<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Shared<T> {
    /// Makes a value shareable. The result is its first owner, and each clone of the result is another owner.
    pub fn new(value: T) -> Self {
        Self::in_slot(value, false)
    }

    /// Makes a value shareable that no owner can take out, not even the last one.
    pub(crate) fn read_only(value: T) -> Self {
        Self::in_slot(value, true)
    }

    fn in_slot(value: T, read_only: bool) -> Self {
        let (value, recycler) = (Some(value), Weak::new());
        Self { slot: Some(Arc::new(Slot { value, recycler, read_only })) }
    }

    /// Takes the value out, if this is its last owner.
    ///
    /// # Errors
    /// The handle itself, when there are other owners, or when the value is memory of other code that may only be read.
    pub fn try_unwrap(mut self) -> Result<T, Self> {
        let slot = self.slot.as_mut().and_then(Arc::get_mut).filter(|slot| !slot.read_only);
        let value = slot.and_then(|slot| slot.value.take());
        value.ok_or(self)
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let Some(mut slot) = self.slot.take() else { return };
        // The count is read first, because `get_mut` takes a locked instruction. If two threads drop the last two owners at
        // the same time, each may read a count of 2. The slot is then freed, and not returned to the recycler.
        if Arc::strong_count(&slot) > 1 {
            return;
        }
        let Some(last) = Arc::get_mut(&mut slot) else { return };
        last.value = None;
        if let Some(recycler) = last.recycler.upgrade() {
            let mut free = recycler.lock().unwrap_or_else(PoisonError::into_inner);
            if free.len() < MAX_FREE {
                free.push(slot);
            }
        }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self { slot: self.slot.clone() }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self.slot.as_ref().and_then(|slot| slot.value.as_ref()) {
            Some(value) => value,
            None => unreachable!("a shared value exists until its last owner is dropped"),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({:?})", **self)
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("free", &self.value.is_none()).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn slots_are_reused() {
        let recycler = Recycler::new();
        let first = recycler.share(String::from("a"));
        let address = &raw const *first;
        let second = first.clone();
        drop(first);
        assert_eq!(*second, "a");
        drop(second);
        let third = recycler.share(String::from("b"));
        assert_eq!(&raw const *third, address);
        assert_eq!(third.try_unwrap().ok(), Some("b".into()));
        let fourth = recycler.share(String::from("c"));
        assert_eq!(&raw const *fourth, address, "unwrapping returns the slot, too");
    }

    #[test]
    fn a_recycler_keeps_so_many_slots() {
        let recycler = Recycler::new();
        let all: Vec<_> = (0..MAX_FREE + 9).map(|i| recycler.share(i)).collect();
        drop(all);
        let free = recycler.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(free.len(), MAX_FREE);
    }

    #[test]
    fn only_the_last_owner_gets_the_value() {
        let first = Shared::new(7);
        let second = first.clone();
        let first = first.try_unwrap();
        assert!(first.is_err());
        drop(first);
        assert_eq!(second.try_unwrap().ok(), Some(7));
    }

    #[test]
    fn values_outlive_their_recycler() {
        let recycler = Recycler::new();
        let value = recycler.share(5);
        drop(recycler);
        assert_eq!(*value, 5);
    }
}
