//! An access, and what the checks find wrong with it.

use crate::driver::report::RaceKind;
use crate::driver::rows::overlap;
use crate::driver::{AccessMode, MemoryRange, Rows};

/// An access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(super) range: MemoryRange,
    pub(super) mode: AccessMode,
    pub(super) argument: &'static str,
    /// Which bytes of the range, if not all.
    pub(super) rows: Option<Rows>,
    pub(super) origin: Origin,
}

/// The rows of an access that has none.
pub(super) const NO_ROWS: Option<Rows> = None;

/// Up to how many rows the checker remembers which bytes of an access with gaps are written.
const MAX_ROWS: u64 = 256;

/// The work that makes an access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    /// The stream's epoch when the work was queued.
    pub(super) epoch: u64,
    /// The node's tick.
    pub(super) tick: u64,
    pub(super) stream: u32,
    pub(super) site: u32,
}

impl Access {
    /// Replaces the access by a later one to the same bytes in the same mode.
    #[inline(always)]
    pub(super) fn renew(&mut self, argument: &'static str, origin: &Origin) {
        self.argument = argument;
        self.origin = *origin;
    }

    /// Whether the two have a byte in common.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        overlap((self.range, self.rows), (other.range, other.rows))
    }

    /// The bytes that are accessed: the range or its rows. Of more rows than [`MAX_ROWS`] it is the range for a write, so
    /// that no byte counts as unwritten that is not, and nothing for a read.
    pub(super) fn pieces(&self) -> impl Iterator<Item = MemoryRange> + use<> {
        let rows = self.rows.filter(|rows| rows.count() <= MAX_ROWS);
        let is_whole = self.rows.is_none() || rows.is_none() && self.mode == AccessMode::Write;
        let whole = is_whole.then_some(self.range);
        let range = self.range;
        whole.into_iter().chain(rows.into_iter().flat_map(move |rows| rows.at(range.address)))
    }

    #[inline(always)]
    pub(super) fn is_before(&self, clock: &[u64]) -> bool {
        clock.get(self.origin.stream as usize).copied().unwrap_or(0) >= self.origin.epoch
    }
}

/// The stream of an access by the host itself.
pub(super) const HOST: u32 = u32::MAX;

/// Two accesses. The later one is wrong, or both are.
#[derive(Debug)]
pub(super) struct Race {
    pub(super) kind: RaceKind,
    /// The other access; or the free; or how memory began that was not written since, with the bytes that were not.
    pub(super) earlier: Access,
    pub(super) later: Access,
}

/// The races that the checks have found since they were last reported, and counts of what they could not see.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) races: Vec<Race>,
    /// Accesses that are no longer remembered although others could still race with them.
    pub(super) forgotten: u64,
    /// Accesses to memory that was not allocated through the checker.
    pub(super) unknown: u64,
    /// The most reads that one piece of memory had at once since its last write.
    pub(super) most_reads: usize,
}

impl Findings {
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, kind: RaceKind, earlier: &Access, later: Access) {
        self.races.push(Race { kind, earlier: *earlier, later });
    }
}
