//! One access, and what the checks find wrong with it.

use crate::driver::report::RaceKind;
use crate::driver::{AccessMode, MemoryRange};

/// One access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(super) range: MemoryRange,
    pub(super) mode: AccessMode,
    pub(super) argument: &'static str,
    pub(super) origin: Origin,
}

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

    #[inline(always)]
    pub(super) fn is_before(&self, clock: &[u64]) -> bool {
        clock.get(self.origin.stream as usize).copied().unwrap_or(0) >= self.origin.epoch
    }
}

/// The stream of an access by the host itself.
pub(super) const HOST: u32 = u32::MAX;

/// Two accesses of which the later one is wrong, or both.
#[derive(Debug)]
pub(super) struct Race {
    pub(super) kind: RaceKind,
    /// The other access; or the free; or how memory began that was not written since, with the bytes that were not.
    pub(super) earlier: Access,
    pub(super) later: Access,
}

/// What the checks have found since it was last reported, and counts of what they could not see.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) races: Vec<Race>,
    /// Accesses that are no longer remembered although others could still race with them.
    pub(super) forgotten: u64,
    /// Accesses to memory that was not allocated through the checker.
    pub(super) unknown: u64,
}

impl Findings {
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, kind: RaceKind, earlier: &Access, later: Access) {
        self.races.push(Race { kind, earlier: *earlier, later });
    }
}
