//! An access, and the races that the checker finds when it compares accesses.

use crate::driver::report::RaceKind;
use crate::driver::rows::overlap;
use crate::driver::{AccessMode, MemoryRange, Rows};

/// An access to memory, and the work that made it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(super) range: MemoryRange,
    pub(super) mode: AccessMode,
    pub(super) argument: &'static str,
    /// The rows of the range that are accessed; `None` if all bytes are.
    pub(super) rows: Option<Rows>,
    pub(super) origin: Origin,
}

/// The rows of an access without gaps, with the type that generic functions need.
pub(super) const NO_ROWS: Option<Rows> = None;

/// The most rows of an access whose bytes are compared one row at a time with the unwritten bytes.
const MAX_ROWS: u64 = 256;

/// The work that made an access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    /// The epoch of the stream when the work was queued.
    pub(super) epoch: u64,
    /// The tick of the node in whose hook the work was queued.
    pub(super) tick: u64,
    pub(super) stream: u32,
    pub(super) site: u32,
}

impl Access {
    /// Replaces this access by a later one to the same bytes in the same mode.
    #[inline(always)]
    pub(super) fn renew(&mut self, argument: &'static str, origin: &Origin) {
        self.argument = argument;
        self.origin = *origin;
    }

    /// Whether this access and `other` have a byte in common.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        overlap((self.range, self.rows), (other.range, other.rows))
    }

    /// The ranges that are accessed: the whole range, or its rows. With more rows than [`MAX_ROWS`], a write counts as one
    /// of the whole range, so that no written byte counts as unwritten; and a read counts as one of no bytes.
    pub(super) fn pieces(&self) -> impl Iterator<Item = MemoryRange> + use<> {
        let rows = self.rows.filter(|rows| rows.count() <= MAX_ROWS);
        let is_whole = self.rows.is_none() || rows.is_none() && self.mode == AccessMode::Write;
        let whole = is_whole.then_some(self.range);
        let range = self.range;
        whole.into_iter().chain(rows.into_iter().flat_map(move |rows| rows.at(range.address)))
    }

    /// Whether a stream or a thread with this clock comes after the access.
    #[inline(always)]
    pub(super) fn is_before(&self, clock: &[u64]) -> bool {
        clock.get(self.origin.stream as usize).copied().unwrap_or(0) >= self.origin.epoch
    }
}

/// The value of `Origin::stream` for an access by the host itself.
pub(super) const HOST: u32 = u32::MAX;

/// A race between two accesses that nothing orders, or a later access to freed or unwritten memory.
#[derive(Debug)]
pub(super) struct Race {
    pub(super) kind: RaceKind,
    /// The earlier access, or the free. For a read of unwritten bytes: the allocation of the memory or its passing to a new
    /// owner, with the range of those bytes.
    pub(super) earlier: Access,
    pub(super) later: Access,
}

/// The races that were found since the last report, and counts of accesses that could not be compared.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) races: Vec<Race>,
    /// The number of accesses that were forgotten, although later ones could still race with them.
    pub(super) forgotten: u64,
    /// The number of accesses to memory that was not allocated through the checker.
    pub(super) unknown: u64,
    /// The largest number of reads that one piece of memory had between two of its writes.
    pub(super) most_reads: usize,
}

impl Findings {
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, kind: RaceKind, earlier: &Access, later: Access) {
        self.races.push(Race { kind, earlier: *earlier, later });
    }
}
