//! The accesses of one allocation that a later one must come after.

use crate::driver::{AccessMode, MemoryRange};

/// Accesses that are remembered of one allocation. More are possible only when many parts of it are
/// used apart.
pub(super) const ACCESSES: usize = 128;

/// One access, by work on a stream.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Access {
    pub(super) range: MemoryRange,
    /// The stream's epoch at that time.
    pub(super) epoch: u64,
    /// The node's tick.
    pub(super) tick: u64,
    pub(super) argument: &'static str,
    pub(super) stream: u32,
    pub(super) site: u32,
    pub(super) mode: AccessMode,
}

impl Access {
    /// The same, put together anew. Only for what is rarely called: to have an access in memory keeps
    /// the hot path from having its fields in registers.
    #[inline(always)]
    fn copied(&self) -> Self {
        let Self { range, epoch, tick, argument, stream, site, mode } = *self;
        Self { range, epoch, tick, argument, stream, site, mode }
    }

    /// Becomes another access to the same bytes in the same mode.
    #[inline(always)]
    fn renew(&mut self, access: Self) {
        self.epoch = access.epoch;
        self.tick = access.tick;
        self.argument = access.argument;
        self.stream = access.stream;
        self.site = access.site;
    }

    #[inline(always)]
    fn is_before(&self, clock: &[u64]) -> bool {
        clock.get(self.stream as usize).copied().unwrap_or(0) >= self.epoch
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

/// Who has used an allocation.
///
/// Most memory is only ever used in one piece. So long as that is so, its last write and the reads since
/// then are all that there is to compare with. Otherwise the accesses stand in a list.
#[derive(Debug)]
pub(super) struct Uses {
    /// The piece, if there is but one.
    piece: MemoryRange,
    in_parts: bool,
    written: bool,
    /// The last write of all of it: its allocation, or that it passed to a new owner.
    birth: Access,
    /// The last write of the piece, if it was `written`.
    write: Access,
    /// The reads of the piece since then; or, if it is used in parts, all accesses.
    others: Vec<Access>,
}

impl Uses {
    /// Of an allocation that nobody has used.
    pub(super) fn new(whole: MemoryRange) -> Self {
        // Everything comes after epoch 0.
        let birth = Access {
            range: whole,
            epoch: 0,
            tick: 0,
            argument: "",
            stream: 0,
            site: 0,
            mode: AccessMode::Write,
        };
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

    /// Adds the accesses that `clock`, of the owner of an access, does not come after and should.
    pub(super) fn check(&self, later: &Access, clock: &[u64], races: &mut Vec<Race>) {
        for earlier in self.all(later.range) {
            let conflict = later.mode == AccessMode::Write || earlier.mode == AccessMode::Write;
            if conflict && earlier.range.overlaps(later.range) && !earlier.is_before(clock) {
                races.push(Race { earlier: *earlier, later: *later });
            }
        }
    }

    /// Checks an access and remembers it, in place of those that whoever comes after it comes after as
    /// well. How many are forgotten for lack of space.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        access: Access,
        whole: MemoryRange,
        clock: &[u64],
        races: &mut Vec<Race>,
    ) -> u64 {
        if access.range != self.piece || self.in_parts {
            return self.another(access.copied(), whole, clock, races);
        }
        let last = if self.written { &self.write } else { &self.birth };
        if !last.is_before(clock) {
            found(races, last, access.copied());
        }
        match access.mode {
            AccessMode::Read => {
                for read in &mut self.others {
                    if read.is_before(clock) {
                        read.renew(access);
                        return 0;
                    }
                }
                self.remember(access.copied())
            }
            AccessMode::Write => {
                for read in &self.others {
                    if !read.is_before(clock) {
                        found(races, read, access.copied());
                    }
                }
                self.others.clear();
                self.write.renew(access);
                self.written = true;
                0
            }
        }
    }

    /// As [`access`](Self::access), of another piece.
    #[cold]
    fn another(
        &mut self,
        access: Access,
        whole: MemoryRange,
        clock: &[u64],
        races: &mut Vec<Race>,
    ) -> u64 {
        if access.mode == AccessMode::Write && covers(access.range, whole) {
            self.check(&access, clock, races);
            self.others.clear();
            self.birth = access;
            self.write = access;
            (self.in_parts, self.written, self.piece) = (false, false, access.range);
            return 0;
        }
        if !self.in_parts && !self.written && self.others.is_empty() {
            self.piece = access.range;
            (self.write.range, self.write.mode) = (access.range, AccessMode::Write);
            return self.access_once(access, clock, races);
        }
        self.check(&access, clock, races);
        if !self.in_parts {
            self.in_parts = true;
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
        self.remember(access)
    }

    /// The first access to a piece.
    fn access_once(&mut self, access: Access, clock: &[u64], races: &mut Vec<Race>) -> u64 {
        if !self.birth.is_before(clock) {
            found(races, &self.birth, access);
        }
        match access.mode {
            AccessMode::Read => self.others.push(access),
            AccessMode::Write => {
                self.write.renew(access);
                self.written = true;
            }
        }
        0
    }

    #[inline(never)]
    fn remember(&mut self, access: Access) -> u64 {
        let full = self.others.len() >= ACCESSES;
        if full {
            self.others.remove(0);
        }
        self.others.push(access);
        u64::from(full)
    }
}

#[cold]
fn found(races: &mut Vec<Race>, earlier: &Access, later: Access) {
    races.push(Race { earlier: *earlier, later });
}

#[inline(always)]
fn covers(outer: MemoryRange, inner: MemoryRange) -> bool {
    outer.address <= inner.address && inner.end() <= outer.end()
}
