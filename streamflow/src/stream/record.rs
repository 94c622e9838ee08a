//! A record of one stream, and the records of other streams that it covers.

/// The number of entries of a clock. Streams with numbers equal modulo `ENTRIES` share an entry. Streams that work
/// together were mostly made together, so their numbers differ in the lowest bits.
#[cfg(not(loom))]
pub(super) const ENTRIES: usize = 8;
/// In a model the number is small, so that two of four streams share an entry.
#[cfg(loom)]
pub(super) const ENTRIES: usize = 2;

/// The entries of a clock at one moment.
pub(super) type Snapshot = [Entry; ENTRIES];

/// The number of a stream and of its record that another stream has waited for. Both are in one word, so that they are
/// read and written together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    /// No record: records are numbered from 1.
    pub(super) const NONE: Self = Self(0);
    const RECORD_BITS: u32 = 44;
    pub(super) const RECORD: u64 = (1 << Self::RECORD_BITS) - 1;
    /// The number of streams that an entry can name. The highest number of 20 bits is left out: the word after all of
    /// that stream's records would be [`NONE`](Self::NONE).
    const STREAMS: u32 = (1 << (u64::BITS - Self::RECORD_BITS)) - 1;

    /// Creates an entry, or [`NONE`](Self::NONE) for numbers that don't fit. If an entry is missing, a stream makes waits
    /// that were not needed.
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

    /// How many words after this one stand for later records of the same stream.
    #[inline]
    pub(super) fn later(self) -> u64 {
        Self::RECORD - self.record()
    }
}

/// A record whose event is in the ring, with the clock that its stream had when the record was made. Work that waits for
/// the event comes after everything that the record covers. This is so even if the event holds a later record of the
/// stream by then, since that one comes after this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) number: u64,
    /// The slot of the ring that has the record's event. A record outside of the ring has no slot, and this field has no
    /// meaning then.
    pub(super) slot: usize,
    pub(super) covered: Snapshot,
}

impl Default for Record {
    fn default() -> Self {
        Self { number: 0, slot: 0, covered: [Entry::NONE; ENTRIES] }
    }
}
