//! A record of one stream, and what it covers: records of other streams.

/// Entries of a clock; streams whose numbers are equal modulo this share an entry. Streams that work together were mostly
/// made together, so their numbers differ in the lowest bits.
#[cfg(not(loom))]
pub(super) const ENTRIES: usize = 8;
/// In a model, so few that two of four streams share an entry.
#[cfg(loom)]
pub(super) const ENTRIES: usize = 2;

/// A clock at one moment.
pub(super) type Snapshot = [Entry; ENTRIES];

/// "The stream has waited for this record of that stream", in one word, so that it is read and written as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    /// Records are numbered from 1.
    pub(super) const NONE: Self = Self(0);
    const RECORD_BITS: u32 = 44;
    pub(super) const RECORD: u64 = (1 << Self::RECORD_BITS) - 1;
    /// The last number would not do: the word after all of its records is [`NONE`](Self::NONE).
    const STREAMS: u32 = (1 << (u64::BITS - Self::RECORD_BITS)) - 1;

    /// [`NONE`](Self::NONE) for numbers that don't fit, which costs waits that were not needed.
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

    /// 0 for no record.
    #[inline]
    pub(super) fn record(self) -> u64 {
        self.0 & Self::RECORD
    }

    /// How many words after this one are of later records of its stream.
    #[inline]
    pub(super) fn later(self) -> u64 {
        Self::RECORD - self.record()
    }
}

/// A record that an event of the ring holds, and what its stream had waited for by then. Work that waits for the event
/// comes after all of that: the event may hold a later record of the stream meanwhile, and that comes after this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub(super) number: u64,
    /// The event of the ring that holds it. Without a meaning for a record outside of the ring.
    pub(super) slot: usize,
    pub(super) covered: Snapshot,
}

impl Default for Record {
    fn default() -> Self {
        Self { number: 0, slot: 0, covered: [Entry::NONE; ENTRIES] }
    }
}
