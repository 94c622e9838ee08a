//! Models of the ring between one writer and one reader (invariants of `streamflow/src/message/queue/ring.rs`). loom
//! reports two accesses of a slot that nothing orders. The ring's counts start at the largest number, so that they wrap.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;

use super::ring::{Reader, Writer, ring};
use crate::explore::explore_sections;
use crate::sync::{UnsafeCell, yield_now};

/// A number whose drop is counted, and must come after the write of the number.
struct Value {
    number: UnsafeCell<usize>,
    dropped: Arc<AtomicUsize>,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.number.to_write();
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl Value {
    fn number(&self) -> usize {
        // SAFETY: loom reports this read if the write does not precede it. Only the drop accesses the number after this
        // read.
        unsafe { *self.number.to_read() }
    }
}

/// Returns the writer and the reader of a ring, and a count of the values that were dropped.
fn ends(capacity: usize) -> (Writer<Value>, Reader<Value>, Arc<AtomicUsize>) {
    let (writer, reader) = ring(capacity as u32);
    (writer, reader, Arc::default())
}

fn write(writer: &mut Writer<Value>, number: usize, dropped: &Arc<AtomicUsize>) -> bool {
    let Some(slot) = writer.slot() else { return false };
    assert!(slot.is_none(), "a slot is written that is not free");
    *slot = Some(Value { number: UnsafeCell::new(number), dropped: dropped.clone() });
    writer.send();
    true
}

/// Reads the next value of the ring and returns its number.
fn read(reader: &mut Reader<Value>) -> Option<usize> {
    let first = reader.first()?.number();
    let taken = reader.take().unwrap().number();
    assert_eq!(first, taken, "the first value is another one");
    Some(taken)
}

/// Runs a thread that writes up to two values while there is room, and a thread that reads the values that it finds. One
/// value has gone through the ring before.
fn pass(capacity: usize) {
    explore_sections(move || {
        let (mut writer, mut reader, dropped) = ends(capacity);
        assert!(write(&mut writer, 0, &dropped) && read(&mut reader) == Some(0));
        let counted = dropped.clone();
        let thread = thread::spawn(move || {
            let mut next = 1;
            for _ in 0..2 {
                next += usize::from(write(&mut writer, next, &counted));
            }
            assert!(writer.waiting() <= capacity, "more values than slots");
            next
        });
        let mut values = Vec::from_iter(read(&mut reader));
        assert!(reader.waiting() <= capacity, "more values than slots");
        let next = thread.join().unwrap();
        values.extend(std::iter::from_fn(|| read(&mut reader)));
        assert!(values.iter().copied().eq(1..next), "values are lost, doubled or out of order");
        assert_eq!(dropped.load(Ordering::Relaxed), next, "values are not dropped once");
    });
}

#[test]
pub(crate) fn values_in_one_slot() {
    pass(1);
}

#[test]
pub(crate) fn values_in_two_slots() {
    pass(2);
}

/// A thread writes more values than the ring has slots, each as soon as there is room. Another thread drops the values in
/// their slots.
#[test]
pub(crate) fn values_that_are_waited_for() {
    explore_sections(|| {
        let (mut writer, mut reader, dropped) = ends(1);
        let counted = dropped.clone();
        let thread = thread::spawn(move || {
            for number in 0..2 {
                while !write(&mut writer, number, &counted) {
                    yield_now();
                }
            }
        });
        for number in 0..2 {
            while reader.is_empty() {
                yield_now();
            }
            assert_eq!(reader.first().unwrap().number(), number);
            reader.discard();
        }
        thread.join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 2, "values are not dropped once");
    });
}

/// Both ends of a ring are dropped while it holds values, one of which was written to a slot and not sent.
#[test]
pub(crate) fn ends_that_are_dropped_with_values_left() {
    explore_sections(|| {
        let (mut writer, mut reader, dropped) = ends(3);
        let counted = dropped.clone();
        let thread = thread::spawn(move || {
            assert!(write(&mut writer, 0, &counted) && write(&mut writer, 1, &counted));
            let value = Value { number: UnsafeCell::new(2), dropped: counted };
            *writer.slot().unwrap() = Some(value);
        });
        assert!(read(&mut reader).is_none_or(|number| number == 0));
        drop(reader);
        thread.join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 3, "values are not dropped once");
    });
}
