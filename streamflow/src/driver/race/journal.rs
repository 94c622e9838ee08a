//! The list of calls that one thread notes without a lock.

use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// A line of a journal. [`op`](super::op) has its encoding.
pub(super) type Line = [AtomicU64; 4];

/// A bounded list with one writer, which takes no lock, and readers that hold one.
///
/// A free lock costs some 10 ns, for its locked instruction; publishing a line is a plain store. `published`
/// is stored with release and loaded with acquire: a thread that gets something from the writer also sees
/// the lines that the writer published before.
///
/// The journal is not a ring. A writer that finds it full takes the lock, reads the remaining lines and
/// clears it; no reader is active then.
///
/// The words are written and read one by one. Copying a line in larger pieces than it was written in makes
/// the processor wait until the pieces have reached the cache (Intel's optimization manual, *Store
/// forwarding*).
pub(super) struct Journal {
    lines: Box<[Line]>,
    published: AtomicUsize,
}

impl Journal {
    /// An empty journal of `lines` lines, fewer than 65536.
    pub(super) fn new(lines: u16) -> Self {
        let line = |_| [0; 4].map(AtomicU64::new);
        Self { lines: (0..lines).map(line).collect(), published: AtomicUsize::new(0) }
    }

    /// Adds `lines` lines, which `write` fills in. Whether there was room.
    ///
    /// # Safety
    /// The caller is the writer, of which there is one at a time.
    #[inline(always)]
    pub(super) unsafe fn append(&self, lines: usize, write: impl FnOnce(&[Line])) -> bool {
        let from = self.published.load(Ordering::Relaxed);
        let Some(free) = self.lines.get(from..).and_then(|free| free.get(..lines)) else {
            return false;
        };
        write(free);
        self.published.store(from + lines, Ordering::Release);
        true
    }

    /// The published lines after the first `read`.
    ///
    /// # Safety
    /// The caller holds the lock for as long as it reads.
    #[inline]
    pub(super) unsafe fn after(&self, read: usize) -> &[Line] {
        let published = self.published.load(Ordering::Acquire);
        self.lines.get(read..published).unwrap_or_default()
    }

    /// Empties the journal.
    ///
    /// # Safety
    /// The caller is the writer and holds the lock.
    pub(super) unsafe fn clear(&self) {
        // The lock makes the store visible to the next thread that takes it.
        self.published.store(0, Ordering::Relaxed);
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

    /// Writes `COUNT` blocks of lines that contain the block's number. Returns how often it had to clear the
    /// journal.
    fn write(journal: &Journal, read: &Mutex<Read>) -> usize {
        let mut cleared = 0;
        for number in 1..=COUNT {
            let lines = 1 + (number % 5) as usize;
            // SAFETY: the only writer.
            while !unsafe { journal.append(lines, |free| filled(free, number)) } {
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
            let lines = unsafe { journal.after(self.position) };
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
        assert!(unsafe { journal.after(last().position) }.is_empty());
    }

    #[test]
    fn lines_that_do_not_fit_are_refused_together() {
        let journal = Journal::new(4);
        // SAFETY: there is no other thread.
        unsafe {
            assert!(!journal.append(5, |_| unreachable!()));
            assert!(journal.append(3, |free| filled(free, 1)));
            assert!(!journal.append(2, |_| unreachable!()));
            assert!(journal.append(1, |free| filled(free, 2)));
            assert_eq!((journal.after(0).len(), journal.after(3).len()), (4, 1));
            journal.clear();
            assert!(journal.after(0).is_empty());
            assert!(journal.append(4, |free| assert_eq!(free.len(), 4)));
        }
    }
}
