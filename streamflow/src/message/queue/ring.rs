//! A ring of slots between one writer and one reader, which write and read values in the slots.
//!
//! Neither the writer nor the reader uses a lock or a locked instruction. If both are on one thread, the ring costs as much
//! as a plain list.
//!
//! # Invariants
//!
//! 1. Only the writer changes `written`, and only the reader changes `read`. The writer and the reader have one owner each,
//!    and are not `Clone`.
//! 2. `written - read` is never more than the number of slots. Counts wrap around, but their difference does not.
//! 3. The slots from `read` to `written` belong to the reader, and the other slots to the writer. A slot changes its owner by
//!    a `Release` store of a count by the old owner. The new owner reads that count with `Acquire` before it uses the slot.
//!
//! The ring saves two locked instructions for each message, 8 ns of a tick of two operators, measured by the benchmark
//! `overhead`. The first slot is a field of the ring; `message::edges` has the number of instructions that this saves.

use crate::sync::{Arc, AtomicUsize, Ordering, UnsafeCell};

/// The initial value of the counts. In a model the counts begin with the largest number, so that they wrap around at once.
#[cfg(not(loom))]
const BEGIN: usize = 0;
#[cfg(loom)]
const BEGIN: usize = usize::MAX;

// The fields have this order, and begin with a cache line, so that the value of a ring with one slot comes right after the
// counts.
#[derive(Debug)]
#[repr(C, align(64))]
struct Ring<T> {
    /// The number of values written since the ring was made.
    written: AtomicUsize,
    /// The number of values read since the ring was made.
    read: AtomicUsize,
    /// The first slot. Most rings have no further slot.
    slot: UnsafeCell<Option<T>>,
    more: Box<[UnsafeCell<Option<T>>]>,
}

// SAFETY: by invariant 3 no two threads use a slot at the same time, except that several threads with a reference to the
// reader may read one value. That is why values must be `Sync`. A value that one thread has written is taken out or dropped
// by another thread. That is why values must be `Send`.
unsafe impl<T: Send + Sync> Sync for Ring<T> {}

/// The writer of a ring.
#[derive(Debug)]
pub(crate) struct Writer<T> {
    ring: Arc<Ring<T>>,
    written: usize,
    /// The index of the slot that is written next.
    next: u32,
    slots: u32,
}

/// The reader of a ring.
#[derive(Debug)]
pub(crate) struct Reader<T> {
    ring: Arc<Ring<T>>,
    read: usize,
    /// The index of the slot that is read next.
    first: u32,
    slots: u32,
}

/// Makes a ring with room for `capacity` values, or for one if `capacity` is 0. Returns its writer and its reader.
pub(crate) fn ring<T>(capacity: u32) -> (Writer<T>, Reader<T>) {
    let slots = capacity.max(1);
    let more = (1..slots).map(|_| UnsafeCell::new(None)).collect();
    let (written, read) = (AtomicUsize::new(BEGIN), AtomicUsize::new(BEGIN));
    let ring = Arc::new(Ring { written, read, slot: UnsafeCell::new(None), more });
    let writer = Writer { ring: ring.clone(), written: BEGIN, next: 0, slots };
    (writer, Reader { ring, read: BEGIN, first: 0, slots })
}

impl<T> Ring<T> {
    /// The slot with this index. `None` if there is no such slot.
    #[inline]
    fn slot(&self, index: u32) -> Option<&UnsafeCell<Option<T>>> {
        if index == 0 { Some(&self.slot) } else { self.more.get(index as usize - 1) }
    }
}

/// The index of the slot that comes after the slot `index` in a ring of `slots` slots.
#[inline]
fn after(index: u32, slots: u32) -> u32 {
    if index + 1 == slots { 0 } else { index + 1 }
}

impl<T> Writer<T> {
    /// The number of values that were written and not read.
    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        self.written.wrapping_sub(self.ring.read.load(Ordering::Acquire))
    }

    /// The number of values written since the ring was made. The count wraps around.
    pub(crate) fn written(&self) -> usize {
        self.written
    }

    /// Whether the ring has no free slot.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.waiting() == self.slots as usize
    }

    /// The next free slot; `None` if no slot is free. After the caller has put a value into the slot,
    /// [`send`](Self::send) passes the value to the reader.
    #[inline]
    pub(crate) fn slot(&mut self) -> Option<&mut Option<T>> {
        if self.is_full() {
            return None;
        }
        let slot = self.ring.slot(self.next)?.to_write();
        // SAFETY: the slot is free, so it belongs to the writer until `send`, and `self` is borrowed for as long as the
        // slot.
        Some(unsafe { &mut *slot })
    }

    /// Passes the slot that [`slot`](Self::slot) has returned, with its value, to the reader.
    #[inline]
    pub(crate) fn send(&mut self) {
        if self.is_full() {
            return;
        }
        self.next = after(self.next, self.slots);
        self.written = self.written.wrapping_add(1);
        self.ring.written.store(self.written, Ordering::Release);
    }
}

impl<T> Reader<T> {
    /// The number of values that were written and not read.
    #[inline]
    pub(crate) fn waiting(&self) -> usize {
        self.ring.written.load(Ordering::Acquire).wrapping_sub(self.read)
    }

    /// The number of values read since the ring was made. The count wraps around.
    pub(crate) fn read(&self) -> usize {
        self.read
    }

    /// Whether the ring has no value to read.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting() == 0
    }

    /// A reference to the first value, which stays in its slot.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.is_empty() {
            return None;
        }
        let slot = self.ring.slot(self.first)?.to_read();
        // SAFETY: the slot has a value, so it belongs to the reader until `take`, and `self` is borrowed for as long as
        // the slot.
        unsafe { &*slot }.as_ref()
    }

    /// Takes out the first value, and gives its slot back to the writer.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let slot = self.ring.slot(self.first)?.to_write();
        // SAFETY: the slot has a value, so it belongs to the reader, and `self` is borrowed exclusively.
        let value = unsafe { &mut *slot }.take();
        self.give_back();
        value
    }

    /// Drops the first value in its slot, and gives the slot back to the writer, even if the value's `Drop` panics.
    #[inline(always)]
    pub(crate) fn discard(&mut self) {
        if self.is_empty() {
            return;
        }
        let Some(slot) = self.ring.slot(self.first).map(UnsafeCell::to_write) else { return };
        let _given_back = GiveBack(self);
        // SAFETY: the slot has a value, so it belongs to the reader, and `self` is borrowed exclusively. The guard gives the
        // slot back after this assignment.
        unsafe { *slot = None };
    }

    #[inline]
    fn give_back(&mut self) {
        self.first = after(self.first, self.slots);
        self.read = self.read.wrapping_add(1);
        self.ring.read.store(self.read, Ordering::Release);
    }
}

/// A guard whose drop gives the reader's first slot back to the writer.
struct GiveBack<'a, T>(&'a mut Reader<T>);

impl<T> Drop for GiveBack<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.give_back();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    fn write<T>(writer: &mut Writer<T>, value: T) -> bool {
        let Some(slot) = writer.slot() else { return false };
        *slot = Some(value);
        writer.send();
        true
    }

    #[test]
    fn values_are_read_in_order_and_a_full_ring_takes_none() {
        for capacity in 1..4 {
            let (mut writer, mut reader) = ring(capacity);
            for round in 0..10 {
                for value in 0..capacity {
                    assert!(write(&mut writer, round * 10 + value));
                }
                assert!(writer.is_full() && !write(&mut writer, 99));
                let waiting = (writer.waiting(), reader.waiting());
                assert_eq!(waiting, (capacity as usize, capacity as usize));
                for value in 0..capacity {
                    assert_eq!(reader.first(), Some(&(round * 10 + value)));
                    assert_eq!(reader.take(), Some(round * 10 + value));
                }
                assert!(reader.is_empty() && reader.first().is_none() && reader.take().is_none());
            }
        }
    }

    #[test]
    fn a_value_that_is_not_sent_is_not_read_and_stays_the_writers() {
        let (mut writer, mut reader) = ring(1);
        *writer.slot().unwrap() = Some(String::from("a"));
        assert!(reader.is_empty() && reader.first().is_none() && reader.take().is_none());
        assert_eq!(writer.slot().unwrap().take().unwrap(), "a");
        *writer.slot().unwrap() = Some(String::from("b"));
        writer.send();
        writer.send();
        assert!(writer.slot().is_none());
        assert_eq!(reader.take().unwrap(), "b");
        assert!(reader.is_empty());
    }

    /// A value that panics when it is dropped.
    struct Panics;

    impl Drop for Panics {
        fn drop(&mut self) {
            std::panic::panic_any(());
        }
    }

    #[test]
    fn a_value_that_panics_on_drop_gives_its_slot_back() {
        let (mut writer, mut reader) = ring(1);
        assert!(write(&mut writer, Some(Panics)));
        let discarded = catch_unwind(AssertUnwindSafe(|| reader.discard()));
        assert!(discarded.is_err() && reader.is_empty() && !writer.is_full());
        assert!(write(&mut writer, None));
        assert!(reader.take().is_some_and(|value| value.is_none()));
    }

    #[test]
    fn values_are_dropped_once_with_the_ring() {
        let value = Arc::new(());
        let (mut writer, mut reader) = ring(3);
        for _ in 0..3 {
            assert!(write(&mut writer, value.clone()));
        }
        reader.discard();
        reader.discard();
        assert_eq!((Arc::strong_count(&value), reader.waiting()), (2, 1));
        assert!(write(&mut writer, value.clone()) && write(&mut writer, value.clone()));
        drop(reader.take());
        *writer.slot().unwrap() = Some(value.clone());
        assert_eq!(Arc::strong_count(&value), 4);
        drop(writer);
        assert_eq!(Arc::strong_count(&value), 4);
        drop(reader);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn two_threads_pass_every_value_once() {
        const VALUES: usize = 20_000;
        for capacity in [1, 3] {
            let (mut writer, mut reader) = ring(capacity);
            thread::scope(|scope| {
                scope.spawn(move || {
                    for value in 0..VALUES {
                        while !write(&mut writer, Box::new(value)) {
                            thread::yield_now();
                        }
                    }
                });
                for value in 0..VALUES {
                    while reader.first().is_none() {
                        thread::yield_now();
                    }
                    assert_eq!(reader.first().map(|first| **first), Some(value));
                    assert_eq!(reader.take().map(|first| *first), Some(value));
                }
            });
        }
    }
}
