//! A record of one stream, and the records of other streams that it covers.

/// The number of entries of a clock. Streams with numbers equal modulo `ENTRIES` share an entry. Streams that work
/// together were mostly made together, so their numbers differ in the lowest bits.
#[cfg(not(loom))]
pub(super) const ENTRIES: usize = 8;
/// A small number in a model: two of four streams share an entry.
#[cfg(loom)]
pub(super) const ENTRIES: usize = 2;

/// A clock at one moment.
pub(super) type Snapshot = [Entry; ENTRIES];

/// The number of another stream and of the record of it that was waited for, in one word: it is read and written as a
/// whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    /// No record: records are numbered from 1.
    pub(super) const NONE: Self = Self(0);
    const RECORD_BITS: u32 = 44;
    pub(super) const RECORD: u64 = (1 << Self::RECORD_BITS) - 1;
    /// The number of streams that an entry can name. The highest number of 20 bits is left out: the word after all of
    /// its records would be [`NONE`](Self::NONE).
    const STREAMS: u32 = (1 << (u64::BITS - Self::RECORD_BITS)) - 1;

    /// Creates an entry, or [`NONE`](Self::NONE) for numbers that don't fit. A missing entry costs waits that were not
    /// needed.
    #[inline]
    pub(super) fn new(stream: u32, record: u64) -> Self {
        if stream < Self::STREAMS && record <= Self::RECORD {
            Self(u64::from(stream) << Self::RECORD_BITS | record)
        } else {
            Self::NONE
        }
    }

    #[inline]
    pub(super) fn stream(self) -> u32 {
        (self.0 >> Self::RECORD_BITS) as u32
    }

    /// The number of the record; 0 for [`NONE`](Self::NONE).
    #[inline]
    pub(super) fn record(self) -> u64 {
        self.0 & Self::RECORD
    }

    /// The number of words after this one that stand for later records of the same stream.
    #[inline]
    pub(super) fn later(self) -> u64 {
        Self::RECORD - self.record()
    }
}

/// A record that an event of the ring holds, with the clock of its stream from when the record was made. Work that
/// waits for the event comes after everything that the record covers, even if the event holds a later record of the
/// stream meanwhile: that one comes after this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) number: u64,
    /// The slot of the ring with the event of the record. A record outside of the ring has no slot, and the field no
    /// meaning.
    pub(super) slot: usize,
    pub(super) covered: Snapshot,
}

impl Default for Record {
    fn default() -> Self {
        Self { number: 0, slot: 0, covered: [Entry::NONE; ENTRIES] }
    }
}
