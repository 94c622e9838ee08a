//! The accesses of one allocation that a later one must come after.

use crate::driver::{self, AccessMode, MemoryRange};

/// How many accesses are remembered per allocation. There can be more only when many parts of it are used
/// separately.
const MAX_ACCESSES: usize = 128;

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
    fn renew(&mut self, argument: &'static str, origin: &Origin) {
        self.argument = argument;
        self.origin = *origin;
    }

    #[inline(always)]
    fn is_before(&self, clock: &[u64]) -> bool {
        clock.get(self.origin.stream as usize).copied().unwrap_or(0) >= self.origin.epoch
    }
}

/// The stream of an access by the host itself.
pub(super) const HOST: u32 = u32::MAX;

/// Two accesses that conflict, and whose later one does not come after the earlier one.
#[derive(Debug)]
pub(super) struct Race {
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
    fn add(&mut self, earlier: &Access, later: Access) {
        self.races.push(Race { earlier: *earlier, later });
    }
}

/// The accesses of one allocation.
///
/// Most memory is only ever used as one piece, always the same bytes. While that holds, a new access is
/// compared with the last write and the reads since then. Otherwise the accesses are kept in a list.
#[derive(Debug)]
pub(super) struct Uses {
    /// The one piece that is used; no bytes where several are used.
    piece: MemoryRange,
    in_parts: bool,
    /// Whether the piece was written since `whole_write`.
    written: bool,
    /// The write of the whole allocation that the others come after: it was allocated, passed to a new owner, or
    /// written in full.
    whole_write: Access,
    /// The last write of the piece; if it was not `written`, a copy of `whole_write`.
    write: Access,
    /// The reads of the piece since then; or, if the memory is used in parts, all accesses.
    others: Vec<Access>,
}

impl Uses {
    /// Of an allocation without accesses.
    pub(super) fn new(whole: MemoryRange) -> Self {
        // All work comes after epoch 0.
        let origin = Origin { epoch: 0, tick: 0, stream: 0, site: 0 };
        let whole_write = Access { range: whole, mode: AccessMode::Write, argument: "", origin };
        let (piece, others) = (MemoryRange::default(), Vec::with_capacity(8));
        Self { piece, in_parts: false, written: false, whole_write, write: whole_write, others }
    }

    /// The accesses to compare an access to `range` with, and perhaps some that don't overlap it.
    fn candidates(&self, range: MemoryRange) -> impl Iterator<Item = &Access> {
        // An access that comes after the piece's write comes after the whole write.
        let implied = self.written && covers(self.piece, range);
        let (whole, write) = (!self.in_parts && !implied, !self.in_parts && self.written);
        let (whole, write) = (whole.then_some(&self.whole_write), write.then_some(&self.write));
        whole.into_iter().chain(write).chain(&self.others)
    }

    /// Finds the earlier accesses that conflict with `later` and that `clock`, of the stream or thread that makes
    /// it, does not come after.
    pub(super) fn check(&self, later: &Access, clock: &[u64], found: &mut Findings) {
        for earlier in self.candidates(later.range) {
            let conflict = later.mode == AccessMode::Write || earlier.mode == AccessMode::Write;
            if conflict && earlier.range.overlaps(later.range) && !earlier.is_before(clock) {
                found.add(earlier, *later);
            }
        }
    }

    /// Checks an access to a part of the allocation `whole` and remembers it. It replaces the accesses that it
    /// implies: work that comes after the new one comes after them, too.
    ///
    /// The [`Access`] is built only on rare paths: built earlier, it would keep its fields in memory, and not in
    /// registers, on the hot path.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        driver::Access { range, mode, argument }: driver::Access,
        origin: &Origin,
        whole: &MemoryRange,
        clock: &[u64],
        found: &mut Findings,
    ) {
        let access = || Access { range, mode, argument, origin: *origin };
        if range.address != self.piece.address || range.bytes != self.piece.bytes {
            return self.access_another_piece(access(), *whole, clock, found);
        }
        if !self.write.is_before(clock) {
            let last = if self.written { &self.write } else { &self.whole_write };
            found.add(last, access());
        }
        match mode {
            AccessMode::Read => {
                for read in &mut self.others {
                    if read.is_before(clock) {
                        return read.renew(argument, origin);
                    }
                }
                self.remember(access(), found);
            }
            AccessMode::Write => {
                for read in &self.others {
                    if !read.is_before(clock) {
                        found.add(read, access());
                    }
                }
                self.others.clear();
                self.write.renew(argument, origin);
                self.written = true;
            }
        }
    }

    /// As [`access`](Self::access), for another range than the one piece.
    #[cold]
    #[inline(never)]
    fn access_another_piece(
        &mut self,
        access: Access,
        whole: MemoryRange,
        clock: &[u64],
        found: &mut Findings,
    ) {
        if access.range.bytes == 0 {
            return;
        }
        if access.mode == AccessMode::Write && covers(access.range, whole) {
            self.check(&access, clock, found);
            self.others.clear();
            self.whole_write = access;
            self.write = access;
            (self.in_parts, self.written, self.piece) = (false, false, access.range);
            return;
        }
        if !self.in_parts && !self.written && self.others.is_empty() {
            self.piece = access.range;
            self.write = Access { range: access.range, ..self.whole_write };
            let Access { range, mode, argument, origin } = access;
            let access = driver::Access { range, mode, argument };
            return self.access(access, &origin, &whole, clock, found);
        }
        self.check(&access, clock, found);
        if !self.in_parts {
            (self.in_parts, self.piece) = (true, MemoryRange::default());
            self.others.push(self.whole_write);
            if self.written {
                self.others.push(self.write);
            }
        }
        // A read replaces no write: later reads must come after that write. A write replaces also accesses that
        // it does not come after: these were reported, and need no second report.
        self.others.retain(|before| {
            let replaced = access.mode == AccessMode::Write
                || (before.mode == AccessMode::Read && before.is_before(clock));
            !(replaced && covers(access.range, before.range))
        });
        self.remember(access, found);
    }

    #[cold]
    #[inline(never)]
    fn remember(&mut self, access: Access, found: &mut Findings) {
        if self.others.len() >= MAX_ACCESSES {
            self.others.remove(0);
            found.forgotten += 1;
        }
        self.others.push(access);
    }
}

#[inline(always)]
fn covers(outer: MemoryRange, inner: MemoryRange) -> bool {
    outer.address <= inner.address && inner.end() <= outer.end()
}
