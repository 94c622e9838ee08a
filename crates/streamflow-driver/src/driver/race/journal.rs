//! The journal: a list of calls that one thread notes without a lock.

use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// A line of a journal. The module [`op`](super::op) encodes calls as lines.
pub(super) type Line = [AtomicU64; 4];

/// A bounded list with one writer, without a lock, and readers that hold a lock.
///
/// Taking a free lock costs some 10 ns, for its atomic instruction; publishing a line is a plain store. `published`
/// is stored with release and loaded with acquire: a thread that gets something from the writer also sees
/// the lines that the writer published before.
///
/// The last call may be *open*: its lines are published, and the driver's function has not returned yet.
///
/// The journal is not a ring. A writer that finds it full takes the lock, reads the remaining lines and
/// clears it; no reader is active then.
///
/// The words are written and read one by one. Copying a line in larger pieces than it was written in makes
/// the processor wait until the pieces have reached the cache (Intel's optimization manual, *Store
/// forwarding*).
pub(super) struct Journal {
    lines: Box<[Line]>,
    /// Twice the number of published lines, plus 1 while the last call is open. Number and flag are in one word, so a reader
    /// never takes a closed call for an open one.
    published: AtomicUsize,
}

const OPEN: usize = 1;

/// Lines that were published, and whether the last call is open.
pub(super) struct Published<'a> {
    pub(super) lines: &'a [Line],
    pub(super) is_open: bool,
}

impl Journal {
    /// An empty journal of `lines` lines, fewer than 65536.
    pub(super) fn new(lines: u16) -> Self {
        let line = |_| [0; 4].map(AtomicU64::new);
        Self { lines: (0..lines).map(line).collect(), published: AtomicUsize::new(0) }
    }

    /// Adds a call of `lines` lines, and calls `write` to fill them in. An `open` call stays open until it is
    /// [closed](Self::close). Returns `false`, and adds nothing, if there is no room or another call is open.
    ///
    /// # Safety
    /// The caller is the only writer at this time.
    #[inline(always)]
    pub(super) unsafe fn append(
        &self,
        lines: usize,
        open: bool,
        write: impl FnOnce(&[Line]),
    ) -> bool {
        let published = self.published.load(Ordering::Relaxed);
        let from = published / 2;
        let free = self.lines.get(from..).and_then(|free| free.get(..lines));
        let Some(free) = free.filter(|_| published & OPEN == 0) else { return false };
        write(free);
        self.published.store(2 * (from + lines) + usize::from(open), Ordering::Release);
        true
    }

    /// Closes the open call: it has returned.
    ///
    /// # Safety
    /// The caller is the writer.
    #[inline(always)]
    pub(super) unsafe fn close(&self) {
        let published = self.published.load(Ordering::Relaxed);
        self.published.store(published & !OPEN, Ordering::Release);
    }

    /// The published lines after the first `read`.
    ///
    /// # Safety
    /// The caller holds the lock for as long as it reads.
    #[inline]
    pub(super) unsafe fn after(&self, read: usize) -> Published<'_> {
        let published = self.published.load(Ordering::Acquire);
        let lines = self.lines.get(read..published / 2).unwrap_or_default();
        Published { lines, is_open: published & OPEN != 0 }
    }

    /// Empties the journal. An open call stays open.
    ///
    /// # Safety
    /// The caller is the writer and holds the lock.
    pub(super) unsafe fn clear(&self) {
        // The lock makes the store visible to the next thread that takes the lock.
        let published = self.published.load(Ordering::Relaxed);
        self.published.store(published & OPEN, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::{Mutex, PoisonError};
    use std::thread;

    use super::*;

    const COUNT: u64 = 20_000;

    fn filled(lines: &[Line], with: u64) {
        for word in lines.iter().flatten() {
            word.store(with, Ordering::Relaxed);
        }
    }

    /// Writes `COUNT` groups of lines; each line contains the number of its group. Returns how often the journal was full and
    /// had to be cleared.
    fn write(journal: &Journal, read: &Mutex<Read>) -> usize {
        let mut cleared = 0;
        for number in 1..=COUNT {
            let lines = 1 + (number % 5) as usize;
            // SAFETY: the only writer.
            while !unsafe { journal.append(lines, false, |free| filled(free, number)) } {
                let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
                read.remaining(journal);
                read.position = 0;
                cleared += 1;
                // SAFETY: the only writer, and it holds the lock.
                unsafe { journal.clear() };
            }
        }
        cleared
    }

    #[derive(Default)]
    struct Read {
        position: usize,
        /// The last number that was read, and how many lines contained it.
        number: u64,
        lines: u64,
    }

    impl Read {
        /// Reads the remaining lines. The caller holds the lock.
        fn remaining(&mut self, journal: &Journal) {
            // SAFETY: `self` is behind the lock.
            let lines = unsafe { journal.after(self.position) }.lines;
            self.position += lines.len();
            for line in lines {
                let words = line.each_ref().map(|word| word.load(Ordering::Relaxed));
                if self.lines == 0 || self.lines == 1 + self.number % 5 {
                    (self.number, self.lines) = (self.number + 1, 0);
                }
                assert_eq!(words, [self.number; 4]);
                self.lines += 1;
            }
            // Lines that are appended together become visible together.
            assert!(self.number == 0 || self.lines == 1 + self.number % 5);
        }
    }

    #[test]
    fn lines_are_read_once_and_in_order() {
        let journal = Journal::new(64);
        let read = Mutex::new(Read::default());
        let last = || read.lock().unwrap_or_else(PoisonError::into_inner);
        thread::scope(|scope| {
            let readers = [(); 2].map(|()| {
                scope.spawn(|| {
                    while last().number < COUNT {
                        last().remaining(&journal);
                        thread::yield_now();
                    }
                })
            });
            assert!(write(&journal, &read) > 0, "it was never full");
            assert!(readers.into_iter().all(|reader| reader.join().is_ok()));
        });
        assert_eq!(last().number, COUNT);
        // SAFETY: no other thread is left.
        assert!(unsafe { journal.after(last().position) }.lines.is_empty());
    }

    #[test]
    fn lines_that_do_not_fit_are_refused_together() {
        let journal = Journal::new(4);
        // SAFETY: there is no other thread.
        unsafe {
            assert!(!journal.append(5, false, |_| unreachable!()));
            assert!(journal.append(3, false, |free| filled(free, 1)));
            assert!(!journal.append(2, false, |_| unreachable!()));
            assert!(journal.append(1, false, |free| filled(free, 2)));
            assert_eq!((journal.after(0).lines.len(), journal.after(3).lines.len()), (4, 1));
            journal.clear();
            assert!(journal.after(0).lines.is_empty());
            assert!(journal.append(4, false, |free| assert_eq!(free.len(), 4)));
        }
    }

    #[test]
    fn nothing_is_appended_to_an_open_call() {
        let journal = Journal::new(4);
        // SAFETY: there is no other thread.
        unsafe {
            assert!(journal.append(1, true, |free| filled(free, 1)));
            assert!(journal.after(0).is_open);
            assert!(!journal.append(1, false, |_| unreachable!()));
            journal.clear();
            assert!(journal.after(0).is_open && journal.after(0).lines.is_empty());
            journal.close();
            assert!(!journal.after(0).is_open);
            assert!(journal.append(1, false, |free| filled(free, 2)));
            assert!(!journal.after(0).is_open);
        }
    }
}
