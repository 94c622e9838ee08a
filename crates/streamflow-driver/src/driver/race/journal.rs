//! The journal: a list in which one thread notes its calls without a lock, and which other threads read under a lock.

use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// A line of a journal: four words. The module [`op`](super::op) encodes calls as lines.
pub(super) type Line = [AtomicU64; 4];

/// A bounded list of lines. One thread writes it without a lock; a thread that reads it holds the checker's lock.
///
/// Taking a free lock costs some 10 ns, for its atomic instruction; publishing a line costs a plain store. `published` is
/// stored with release and loaded with acquire: a thread that receives anything from the writer, such as a message, also
/// sees the lines that the writer had published before.
///
/// The last call may be *open*: its lines are published, and the call of the driver has not returned yet.
///
/// The journal is not a ring. A writer that finds it full takes the lock, reads the lines that were not read yet, and clears
/// the journal; no other thread reads at that time.
///
/// A line is written and read word by word. If it were read in larger pieces than it was written in, the processor would
/// wait until the words have reached the cache (Intel's optimization manual, *Store forwarding*).
pub(super) struct Journal {
    lines: Box<[Line]>,
    /// Twice the number of published lines, plus 1 while the last call is open. The number and the flag are in one word, so
    /// a reader never takes a call that has returned for an open one.
    published: AtomicUsize,
}

const OPEN: usize = 1;

/// Published lines that were not read yet, and whether the last call is open.
pub(super) struct Published<'a> {
    pub(super) lines: &'a [Line],
    pub(super) is_open: bool,
}

impl Journal {
    /// Creates an empty journal with room for `lines` lines.
    pub(super) fn new(lines: u16) -> Self {
        let line = |_| [0; 4].map(AtomicU64::new);
        Self { lines: (0..lines).map(line).collect(), published: AtomicUsize::new(0) }
    }

    /// Publishes a call of `lines` lines; `write` fills them in first. If `open`, the call stays open until it is
    /// [closed](Self::close). Returns `false` and publishes nothing if there is no room, or another call is open.
    ///
    /// # Safety
    /// The calling thread is the only writer at this time.
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

    /// Closes the open call, after the driver has returned.
    ///
    /// # Safety
    /// The calling thread is the writer.
    #[inline(always)]
    pub(super) unsafe fn close(&self) {
        let published = self.published.load(Ordering::Relaxed);
        self.published.store(published & !OPEN, Ordering::Release);
    }

    /// Returns the published lines after the first `read` ones.
    ///
    /// # Safety
    /// The caller holds the checker's lock for as long as it reads the lines.
    #[inline]
    pub(super) unsafe fn after(&self, read: usize) -> Published<'_> {
        let published = self.published.load(Ordering::Acquire);
        let lines = self.lines.get(read..published / 2).unwrap_or_default();
        Published { lines, is_open: published & OPEN != 0 }
    }

    /// Removes all lines. An open call stays open.
    ///
    /// # Safety
    /// The calling thread is the writer and holds the checker's lock.
    pub(super) unsafe fn clear(&self) {
        // The store is relaxed: the lock makes it visible to the next thread that takes the lock.
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

    /// Writes `COUNT` groups of lines; each word of a group is the group's number. Returns how often the journal was full
    /// and was cleared.
    fn write(journal: &Journal, read: &Mutex<Read>) -> usize {
        let mut cleared = 0;
        for number in 1..=COUNT {
            let lines = 1 + (number % 5) as usize;
            // SAFETY: this thread is the only writer.
            while !unsafe { journal.append(lines, false, |free| filled(free, number)) } {
                let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
                read.remaining(journal);
                read.position = 0;
                cleared += 1;
                // SAFETY: this thread is the only writer, and it holds the lock.
                unsafe { journal.clear() };
            }
        }
        cleared
    }

    #[derive(Default)]
    struct Read {
        position: usize,
        /// The number of the group that was read last, and how many of its lines were read.
        number: u64,
        lines: u64,
    }

    impl Read {
        /// Reads the lines that were not read yet. The caller holds the lock.
        fn remaining(&mut self, journal: &Journal) {
            // SAFETY: `self` is behind the lock, so the caller holds the lock.
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
            // The lines of one group become visible together.
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
