//! Models of the list of objects to give back (invariant 16 of `streamflow/src/memory/README.md`). loom reports an entry
//! that a thread reads before another has written it, and an entry that is never freed.

use std::sync::Arc;

use loom::thread;

use super::list::{List, Node};
use crate::explore::explore;
use crate::sync::UnsafeCell;

/// The content of an entry: a number that its thread writes.
type Entry = UnsafeCell<u32>;

fn add(list: &List<Entry>, number: u32) -> bool {
    list.add(Node::new(UnsafeCell::new(number))).is_ok()
}

fn numbers(taken: Vec<Entry>) -> Vec<u32> {
    taken.into_iter().map(UnsafeCell::into_inner).collect()
}

/// A thread adds two entries, while another thread takes all entries of the list.
#[test]
pub(crate) fn entries_that_are_taken_while_a_thread_adds() {
    explore(|| {
        let list = Arc::new(List::new());
        let other = list.clone();
        let thread = thread::spawn(move || assert!(add(&other, 1) && add(&other, 2)));
        let mut taken = numbers(list.take_all());
        thread.join().unwrap();
        taken.extend(numbers(list.take_all()));
        assert_eq!(taken, [1, 2], "entries are not taken once and in order");
        assert!(list.is_empty());
    });
}

/// Two threads add an entry each.
#[test]
pub(crate) fn entries_of_two_threads() {
    explore(|| {
        let list = Arc::new(List::new());
        let other = list.clone();
        let thread = thread::spawn(move || assert!(add(&other, 1)));
        assert!(add(&list, 2));
        thread.join().unwrap();
        let mut taken = numbers(list.take_all());
        taken.sort_unstable();
        assert_eq!(taken, [1, 2], "entries are not taken once and in order");
    });
}

/// A thread adds an entry, while another thread closes the list. Exactly one of the two threads must end up with the
/// entry.
#[test]
pub(crate) fn an_entry_that_is_added_while_its_list_is_closed() {
    explore(|| {
        let list = Arc::new(List::new());
        let other = list.clone();
        let thread = thread::spawn(move || add(&other, 1));
        let closed = numbers(list.close());
        let is_added = thread.join().unwrap();
        assert_eq!(closed.len(), usize::from(is_added), "an entry is lost, or is there twice");
        let is_closed = !add(&list, 2) && list.take_all().is_empty() && list.close().is_empty();
        assert!(is_closed, "an entry is lost, or is there twice");
    });
}
