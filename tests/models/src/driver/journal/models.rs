//! Models of the race checker's journal (invariant 5 of `crates/streamflow-driver/src/driver/race/README.md`).

use std::sync::{Arc, PoisonError};

use loom::thread;

use super::list::Journal;
use crate::explore::explore;
use crate::sync::{AtomicBool, Mutex, Ordering};

/// How many lines the journal of the models can hold.
const LINES: u16 = 2;

/// A reader's progress: its position in the journal, and the numbers in the lines that it has read.
#[derive(Default)]
struct Read {
    position: usize,
    numbers: Vec<u64>,
}

impl Read {
    /// Reads the lines after the reader's position. The caller holds the lock around `self`.
    fn remaining(&mut self, journal: &Journal) {
        // SAFETY: `self` is behind the lock.
        let lines = unsafe { journal.after(self.position) }.lines;
        self.position += lines.len();
        for line in lines {
            let words = line.each_ref().map(|word| word.load(Ordering::Relaxed));
            assert!(words.iter().all(|word| *word == words[0]), "a line is read in part");
            self.numbers.push(words[0]);
        }
    }
}

/// Appends `lines` lines that contain `number`. If the journal is full, reads and clears it first.
fn append(journal: &Journal, read: &Mutex<Read>, lines: usize, number: u64) {
    let write = |lines: &[super::list::Line]| {
        for word in lines.iter().flatten() {
            word.store(number, Ordering::Relaxed);
        }
    };
    // SAFETY: only one thread of each model appends.
    while !unsafe { journal.append(lines, false, write) } {
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        read.remaining(journal);
        read.position = 0;
        // SAFETY: only this thread writes the journal, and it holds the lock.
        unsafe { journal.clear() };
    }
}

/// A thread appends more lines than fit, and another one reads.
#[test]
pub(crate) fn lines_are_read_once_and_in_order() {
    explore(|| {
        let shared = Arc::new((Journal::new(LINES), Mutex::new(Read::default())));
        let other = shared.clone();
        let writer = thread::spawn(move || {
            (1..=3).for_each(|number| append(&other.0, &other.1, 1, number));
        });
        shared.1.lock().unwrap().remaining(&shared.0);
        writer.join().unwrap();
        let mut read = shared.1.lock().unwrap();
        read.remaining(&shared.0);
        assert_eq!(read.numbers, [1, 2, 3], "lines are lost, or read twice or in another order");
    });
}

/// Lines appended by one call must become visible to the reader together.
#[test]
pub(crate) fn lines_of_one_call_are_read_together() {
    explore(|| {
        let shared = Arc::new((Journal::new(LINES), Mutex::new(Read::default())));
        let other = shared.clone();
        let writer = thread::spawn(move || append(&other.0, &other.1, 2, 7));
        let mut read = shared.1.lock().unwrap();
        read.remaining(&shared.0);
        assert!(read.numbers.is_empty() || read.numbers == [7, 7], "a call is read in part");
        drop(read);
        writer.join().unwrap();
    });
}

/// A thread that receives a value from the writer must see the lines that the writer published before it sent the value.
#[test]
pub(crate) fn lines_are_seen_by_a_thread_that_got_something() {
    explore(|| {
        let shared =
            Arc::new((Journal::new(LINES), Mutex::new(Read::default()), AtomicBool::new(false)));
        let other = shared.clone();
        let writer = thread::spawn(move || {
            append(&other.0, &other.1, 1, 1);
            other.2.store(true, Ordering::Release);
        });
        if shared.2.load(Ordering::Acquire) {
            let mut read = shared.1.lock().unwrap();
            read.remaining(&shared.0);
            assert_eq!(read.numbers, [1], "a published line is missed");
        }
        writer.join().unwrap();
    });
}

/// A reader that finds in the journal that a driver call has returned must see the effects of that call.
#[test]
pub(crate) fn a_call_is_open_until_it_has_returned() {
    explore(|| {
        let shared = Arc::new((Journal::new(LINES), Mutex::new(()), AtomicBool::new(false)));
        let other = shared.clone();
        let writer = thread::spawn(move || {
            let (journal, _, taken) = &*other;
            // SAFETY: this thread is the only writer.
            assert!(unsafe { journal.append(1, true, |_| ()) });
            taken.store(true, Ordering::Relaxed);
            // SAFETY: this thread is the only writer.
            unsafe { journal.close() };
        });
        let (journal, lock, taken) = &*shared;
        let held = lock.lock().unwrap();
        // SAFETY: the lock is held.
        let published = unsafe { journal.after(0) };
        if !published.lines.is_empty() && !published.is_open {
            assert!(taken.load(Ordering::Relaxed), "a call is closed before it has returned");
        }
        drop(held);
        writer.join().unwrap();
    });
}
