//! The last write of a block, if it is the only write that later work must come after, in one word. Accesses read the word
//! without a lock.
//!
//! The word contains a point, and no streams that come after it: `stream::seen` answers whether a stream does.

use crate::driver::AccessMode;
use crate::stream::{Ordered, Point};
use crate::sync::{AtomicU64, Ordering};

/// The only write of a block, and whether work has read the memory since. The word is empty if the block has several writes,
/// or if the numbers are too large for one word. For an empty word an access takes the lock.
///
/// A thread changes the word only under the block's lock, but reads the word without the lock. An access borrows the memory,
/// and passing that borrow between threads orders the threads. So an access sees all conflicting uses of the same elements,
/// because the calls that noted these uses have returned before. An access may miss another thread's use of *other*
/// elements, and need not wait for that use. [`covers`](Self::covers) says why such a use is not lost, either.
#[derive(Debug)]
pub(super) struct PackedLastWrite(AtomicU64);

/// The bits of the word, from the highest: the stream's number plus 1, a bit that is set if work has read the memory since
/// the write, and the number of the record. If the field of the stream is 0, the word has no write: the whole word is 0, or
/// it is not 0 because a write has failed (`unwritten.rs`).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(u64);

impl Word {
    const NONE: Self = Self(0);
    const FAILED: Self = Self(1);
    const STREAM_AT: u32 = 44;
    const READ: u64 = 1 << (Self::STREAM_AT - 1);

    #[inline]
    fn write(point: Point) -> Self {
        let stream = u64::from(point.stream()) + 1;
        let fits = stream < 1 << (u64::BITS - Self::STREAM_AT) && point.record() < Self::READ;
        if fits { Self(stream << Self::STREAM_AT | point.record()) } else { Self::NONE }
    }
}

impl PackedLastWrite {
    pub(super) fn none() -> Self {
        Self(AtomicU64::new(Word::NONE.0))
    }

    #[inline]
    fn word(&self) -> Word {
        Word(self.0.load(Ordering::Relaxed))
    }

    /// Whether the word shows that work on the stream comes after all uses that an access of this mode must come after.
    #[inline]
    pub(super) fn is_before(&self, stream: &impl Ordered, mode: AccessMode) -> bool {
        let Word(word) = self.word();
        let (is_read, record) = (word & Word::READ != 0, word & (Word::READ - 1));
        match (word >> Word::STREAM_AT) as u32 {
            0 => false,
            _ if is_read && mode == AccessMode::Write => false,
            written => stream.comes_after(written - 1, record),
        }
    }

    /// Whether a write at `point` need not be noted, because the word already has a write with exactly this point and no later
    /// read. The caller has taken `point` after it has queued the write.
    ///
    /// The result is right even if the word is out of date because another thread has just noted a use of other elements.
    /// That thread can have replaced this point by its own use only after the point's record was begun, and that record
    /// was begun after this write was queued (rule 2 of `stream::order`). So the other thread's use covers this write,
    /// too.
    #[inline]
    pub(super) fn covers(&self, point: Point) -> bool {
        let word = self.word();
        word != Word::NONE && word == Word::write(point)
    }

    /// Notes in the word that work reads the memory after the write. The caller holds the block's lock.
    #[inline]
    pub(super) fn mark_read(&self) {
        let Word(word) = self.word();
        if word != Word::NONE.0 {
            self.0.store(word | Word::READ, Ordering::Relaxed);
        }
    }

    /// Whether the word says that a write of the block has failed.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        let Word(word) = self.word();
        word != Word::NONE.0 && word >> Word::STREAM_AT == 0
    }

    /// Stores that a write of the block has failed. The caller holds the block's lock.
    pub(super) fn fail(&self) {
        self.0.store(Word::FAILED.0, Ordering::Relaxed);
    }

    /// Calls [`set`](Self::set), unless a write of the block has failed.
    #[inline]
    pub(super) fn mark_written(&self, only: Option<Point>, is_read: bool) {
        if !self.has_failed() {
            self.set(only, is_read);
        }
    }

    /// Stores the block's only write, or an empty word if `only` is `None`, and whether the block has reads. The caller holds the
    /// block's lock.
    #[inline]
    pub(super) fn set(&self, only: Option<Point>, is_read: bool) {
        let word = only.map_or(Word::NONE, Word::write);
        let read = if is_read && word != Word::NONE { Word::READ } else { 0 };
        self.0.store(word.0 | read, Ordering::Relaxed);
    }
}
