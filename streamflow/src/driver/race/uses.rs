//! The accesses of one allocation that a later one must come after.

use crate::driver::{self, AccessMode, MemoryRange};

/// Accesses that are remembered of one allocation. More are possible only when many parts of it are
/// used apart.
pub(super) const ACCESSES: usize = 128;

/// One access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(super) range: MemoryRange,
    pub(super) mode: AccessMode,
    pub(super) argument: &'static str,
    pub(super) by: By,
}

/// Whose access it is: work on a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct By {
    /// The stream's epoch at that time.
    pub(super) epoch: u64,
    /// The node's tick.
    pub(super) tick: u64,
    pub(super) stream: u32,
    pub(super) site: u32,
}

impl Access {
    /// Becomes another access to the same bytes in the same mode.
    #[inline(always)]
    fn renew(&mut self, argument: &'static str, by: &By) {
        self.argument = argument;
        self.by = *by;
    }

    #[inline(always)]
    fn is_before(&self, clock: &[u64]) -> bool {
        clock.get(self.by.stream as usize).copied().unwrap_or(0) >= self.by.epoch
    }
}

/// The stream of an access by the host itself.
pub(super) const HOST: u32 = u32::MAX;

/// Two accesses, of which the later one does not come after the other and should.
#[derive(Debug)]
pub(super) struct Race {
    pub(super) earlier: Access,
    pub(super) later: Access,
}

/// What checks have found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) races: Vec<Race>,
    /// Accesses that are no longer remembered though something could still race with them.
    pub(super) forgotten: u64,
    /// Accesses to memory that was not allocated through here.
    pub(super) unknown: u64,
}

impl Found {
    #[cold]
    #[inline(never)]
    fn add(&mut self, earlier: &Access, later: Access) {
        self.races.push(Race { earlier: *earlier, later });
    }
}

/// Who has used an allocation.
///
/// Most memory is only ever used in one piece. So long as that is so, its last write and the reads since
/// then are all that there is to compare with. Otherwise the accesses stand in a list.
#[derive(Debug)]
pub(super) struct Uses {
    /// The piece, if there is but one; else no bytes.
    piece: MemoryRange,
    in_parts: bool,
    written: bool,
    /// The last write of all of it: its allocation, or that it passed to a new owner.
    birth: Access,
    /// The last write of the piece; if it was not `written`, its birth.
    write: Access,
    /// The reads of the piece since then; or, if it is used in parts, all accesses.
    others: Vec<Access>,
}

impl Uses {
    /// Of an allocation that nobody has used.
    pub(super) fn new(whole: MemoryRange) -> Self {
        // Everything comes after epoch 0.
        let by = By { epoch: 0, tick: 0, stream: 0, site: 0 };
        let birth = Access { range: whole, mode: AccessMode::Write, argument: "", by };
        let (piece, others) = (MemoryRange::default(), Vec::with_capacity(8));
        Self { piece, in_parts: false, written: false, birth, write: birth, others }
    }

    /// All that an access to `range` is to be compared with, and perhaps more.
    fn all(&self, range: MemoryRange) -> impl Iterator<Item = &Access> {
        // Who comes after the write comes after the birth.
        let implied = self.written && covers(self.piece, range);
        let (birth, write) = (!self.in_parts && !implied, !self.in_parts && self.written);
        let (birth, write) = (birth.then_some(&self.birth), write.then_some(&self.write));
        birth.into_iter().chain(write).chain(&self.others)
    }

    /// Finds the accesses that `clock`, of the owner of an access, does not come after and should.
    pub(super) fn check(&self, later: &Access, clock: &[u64], found: &mut Found) {
        for earlier in self.all(later.range) {
            let conflict = later.mode == AccessMode::Write || earlier.mode == AccessMode::Write;
            if conflict && earlier.range.overlaps(later.range) && !earlier.is_before(clock) {
                found.add(earlier, *later);
            }
        }
    }

    /// Checks an access to memory that is `whole`, and remembers it, in place of those that whoever comes
    /// after it comes after as well.
    ///
    /// An access is put together only where it is rarely needed: in memory it keeps the hot path from
    /// having its fields in registers.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        driver::Access { range, mode, argument }: driver::Access,
        by: &By,
        whole: &MemoryRange,
        clock: &[u64],
        found: &mut Found,
    ) {
        let access = || Access { range, mode, argument, by: *by };
        if range.address != self.piece.address || range.bytes != self.piece.bytes {
            return self.another(access(), *whole, clock, found);
        }
        if !self.write.is_before(clock) {
            let last = if self.written { &self.write } else { &self.birth };
            found.add(last, access());
        }
        match mode {
            AccessMode::Read => {
                for read in &mut self.others {
                    if read.is_before(clock) {
                        return read.renew(argument, by);
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
                self.write.renew(argument, by);
                self.written = true;
            }
        }
    }

    /// As [`access`](Self::access), of another piece.
    #[cold]
    #[inline(never)]
    fn another(&mut self, access: Access, whole: MemoryRange, clock: &[u64], found: &mut Found) {
        if access.range.bytes == 0 {
            return;
        }
        if access.mode == AccessMode::Write && covers(access.range, whole) {
            self.check(&access, clock, found);
            self.others.clear();
            self.birth = access;
            self.write = access;
            (self.in_parts, self.written, self.piece) = (false, false, access.range);
            return;
        }
        if !self.in_parts && !self.written && self.others.is_empty() {
            self.piece = access.range;
            self.write = Access { range: access.range, ..self.birth };
            let Access { range, mode, argument, by } = access;
            let access = driver::Access { range, mode, argument };
            return self.access(access, &by, &whole, clock, found);
        }
        self.check(&access, clock, found);
        if !self.in_parts {
            (self.in_parts, self.piece) = (true, MemoryRange::default());
            self.others.push(self.birth);
            if self.written {
                self.others.push(self.write);
            }
        }
        // A read takes no write's place: later reads must come after that. A use that a write was not
        // ordered after was reported, and needs no second report.
        self.others.retain(|before| {
            let replaced = access.mode == AccessMode::Write
                || (before.mode == AccessMode::Read && before.is_before(clock));
            !(replaced && covers(access.range, before.range))
        });
        self.remember(access, found);
    }

    #[cold]
    #[inline(never)]
    fn remember(&mut self, access: Access, found: &mut Found) {
        if self.others.len() >= ACCESSES {
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
