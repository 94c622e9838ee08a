//! A record of a stream, with the records of other streams that it covers.

/// The number of entries of a clock. Streams whose numbers are equal modulo `ENTRIES` share an entry. Streams that work together
/// were mostly made one after the other, so their numbers differ modulo `ENTRIES`.
#[cfg(not(loom))]
pub(super) const ENTRIES: usize = 8;
/// In a loom model there are few entries, so that two of the model's four streams share an entry.
#[cfg(loom)]
pub(super) const ENTRIES: usize = 2;

/// A copy of the entries of a clock at one moment.
pub(super) type Snapshot = [Entry; ENTRIES];

/// The number of a stream, and of a record of that stream that another stream has waited for. Both numbers are in one word, so
/// that they are read and written together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    /// The entry for no record. No record has the number 0, since records are numbered from 1.
    pub(super) const NONE: Self = Self(0);
    const RECORD_BITS: u32 = 44;
    pub(super) const RECORD: u64 = (1 << Self::RECORD_BITS) - 1;
    /// The number of streams that an entry can name. The largest stream number of 20 bits is left out: the word that follows the
    /// words of that stream's records would be 0, which is [`NONE`](Self::NONE).
    const STREAMS: u32 = (1 << (u64::BITS - Self::RECORD_BITS)) - 1;

    /// Creates an entry, or [`NONE`](Self::NONE) if a number does not fit. Without the entry, a stream makes waits that it would
    /// not need to make.
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

    /// The number of the record in this entry; 0 for [`NONE`](Self::NONE).
    #[inline]
    pub(super) fn record(self) -> u64 {
        self.0 & Self::RECORD
    }

    /// How many of the words after this one are entries for later records of the same stream.
    #[inline]
    pub(super) fn later(self) -> u64 {
        Self::RECORD - self.record()
    }
}

/// A record whose event is in the ring, with a copy of its stream's clock from the time when the record was made. Work that waits
/// for the event comes after all work that the record covers. The event may hold a later record of the stream by then: that one
/// comes after this one, so it covers the same work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) number: u64,
    /// The slot of the ring with the record's event. The field has no meaning for a record outside of the ring.
    pub(super) slot: usize,
    pub(super) covered: Snapshot,
}

impl Default for Record {
    fn default() -> Self {
        Self { number: 0, slot: 0, covered: [Entry::NONE; ENTRIES] }
    }
}
