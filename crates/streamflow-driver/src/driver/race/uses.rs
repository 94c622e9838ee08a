//! The uses of one allocation: the earlier accesses that a later access is compared with.

use super::access::{Access, Findings, NO_ROWS, Origin};
use super::blank::Blank;
use crate::driver::report::RaceKind;
use crate::driver::{self, AccessMode, MemoryRange, Rows};

/// The most accesses that are remembered for one allocation. More are needed only if many parts of it are used separately.
const MAX_ACCESSES: usize = 128;

/// The accesses of one allocation that later ones can race with.
///
/// Most allocations are only ever used as one piece, always the same bytes. While that holds, a new access is compared with
/// the last write and the reads since then. Otherwise all accesses are in one list.
#[derive(Debug)]
pub(super) struct Uses {
    /// The range of the one piece that is used; empty if the allocation is used in several parts.
    piece: MemoryRange,
    in_parts: bool,
    /// Whether the piece, the part of the allocation that `write` and `others` are about, was written after `whole_write`.
    written: bool,
    /// Whether any byte of the piece is in `blank`, and so was never written.
    blank_piece: bool,
    /// The last write of the whole allocation: its allocation, its passing to a new owner, or a write of all its bytes. All
    /// other remembered accesses are later.
    whole_write: Access,
    /// The last write of the piece. Unless `written`, a copy of `whole_write`.
    write: Access,
    /// The reads of the piece since `write`. If the allocation is used in parts: all its accesses, instead.
    others: Vec<Access>,
    /// The bytes that nobody has written since the allocation, or since the memory passed to a new owner.
    blank: Blank,
    /// The free, if the memory was freed; `piece` is then empty.
    freed: Option<Access>,
}

impl Uses {
    /// Returns the uses of an allocation that has no accesses yet, with room for `reads` reads.
    pub(super) fn new(whole: MemoryRange, reads: usize) -> Self {
        // The origin has epoch 0, and all work comes after epoch 0.
        let origin = Origin { epoch: 0, tick: 0, stream: 0, site: 0 };
        let whole_write =
            Access { range: whole, mode: AccessMode::Write, argument: "", rows: None, origin };
        let (piece, others) = (MemoryRange::default(), Vec::with_capacity(reads));
        Self {
            piece,
            in_parts: false,
            written: false,
            blank_piece: false,
            whole_write,
            write: whole_write,
            others,
            blank: Blank::default(),
            freed: None,
        }
    }

    /// Makes room for `reads` reads of the piece, so that remembering them allocates nothing.
    pub(super) fn make_room(&mut self, reads: usize) {
        self.others.reserve(reads.saturating_sub(self.others.len()));
    }

    /// The number of reads for which there is room.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.others.capacity()
    }

    /// Notes that the content of a range is undefined from now on: the memory was allocated or passed to a new owner.
    pub(super) fn begin_content(&mut self, begin: Access, found: &mut Findings) {
        self.blank.add(begin, found);
        self.blank_piece = self.blank.overlaps(self.piece);
    }

    /// Counts the bytes of a range as written from now on: other code may write them.
    pub(super) fn end_blank(&mut self, range: MemoryRange, found: &mut Findings) {
        self.blank.remove(range, found);
        self.blank_piece = self.blank.overlaps(self.piece);
    }

    /// Notes that a range came back from other code. An access within the range that comes before `clock` comes before all
    /// later work. If the access is to the whole allocation `whole`, this holds for all its bytes, even if only a part came
    /// back: an access is not divided.
    pub(super) fn come_back(&mut self, range: MemoryRange, whole: MemoryRange, clock: &[u64]) {
        let kept = [&mut self.whole_write, &mut self.write];
        for access in kept.into_iter().chain(&mut self.others) {
            let is_in_range = covers(range, access.range) || access.range == whole;
            if is_in_range && access.is_before(clock) {
                access.origin.epoch = 0;
            }
        }
    }

    /// Notes that the memory was freed by the access `free`.
    pub(super) fn free(&mut self, free: Access) {
        // Without a piece, each later access takes the slow path, and that finds the free.
        (self.freed, self.piece, self.in_parts) = (Some(free), MemoryRange::default(), true);
    }

    pub(super) fn is_freed(&self) -> bool {
        self.freed.is_some()
    }

    /// Reports an access to freed memory, or a read of bytes that nobody has written: neither is a matter of a missing event
    /// or wait. Returns whether the memory was freed.
    fn check_content(&self, later: &Access, found: &mut Findings) -> bool {
        if let Some(free) = &self.freed {
            found.add(RaceKind::Freed, free, *later);
        } else if later.mode == AccessMode::Read
            && let Some(begin) = later.pieces().find_map(|piece| self.blank.first_in(piece))
        {
            found.add(RaceKind::Unwritten, &begin, *later);
        }
        self.is_freed()
    }

    /// Compares an access to the piece with the unwritten bytes, if the piece has any.
    #[cold]
    #[inline(never)]
    fn access_blank_piece(&mut self, access: &Access, found: &mut Findings) {
        self.check_content(access, found);
        if access.mode == AccessMode::Write {
            self.end_blank(access.range, found);
        }
    }

    /// Returns the earlier accesses with which an access to `range` is compared. Some of them may not overlap the range.
    fn candidates(&self, range: MemoryRange) -> impl Iterator<Item = &Access> {
        // An access that comes after the write of the piece also comes after the write of the whole allocation, so that one
        // is left out.
        let implied = self.written && covers(self.piece, range);
        let (whole, write) = (!self.in_parts && !implied, !self.in_parts && self.written);
        let (whole, write) = (whole.then_some(&self.whole_write), write.then_some(&self.write));
        whole.into_iter().chain(write).chain(&self.others)
    }

    /// Adds a race to `found` for each earlier access that conflicts with `later` and does not come before `clock`, the
    /// clock of the stream or thread that makes the later access.
    pub(super) fn check(&self, later: &Access, clock: &[u64], found: &mut Findings) {
        if !self.check_content(later, found) {
            self.check_order(later, clock, found);
        }
    }

    fn check_order(&self, later: &Access, clock: &[u64], found: &mut Findings) {
        for earlier in self.candidates(later.range) {
            let conflict = later.mode == AccessMode::Write || earlier.mode == AccessMode::Write;
            // The bytes are compared last: clocks are cheaper to compare, and most pairs of accesses are ordered.
            if conflict && !earlier.is_before(clock) && earlier.overlaps(later) {
                found.add(RaceKind::Unordered, earlier, *later);
            }
        }
    }

    /// Compares an access to a part of the allocation `whole` with the earlier ones, and remembers it. The new access
    /// replaces those that it implies: work that comes after the new access also comes after them.
    ///
    /// An [`Access`] is built only on rare paths. If it were built at the start, its fields would be in memory, and not in
    /// registers, on the hot path.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        &driver::Access { range, mode, argument, .. }: &driver::Access,
        rows: Option<impl Into<Rows>>,
        origin: &Origin,
        whole: &MemoryRange,
        clock: &[u64],
        found: &mut Findings,
    ) {
        let access = |rows| Access { range, mode, argument, rows, origin: *origin };
        if range.address != self.piece.address || range.bytes != self.piece.bytes || rows.is_some()
        {
            let access = access(rows.map(Into::into));
            return self.access_another_piece(access, *whole, clock, found);
        }
        let access = || access(None);
        if self.blank_piece {
            self.access_blank_piece(&access(), found);
        }
        if !self.write.is_before(clock) {
            let last = if self.written { &self.write } else { &self.whole_write };
            found.add(RaceKind::Unordered, last, access());
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
                        found.add(RaceKind::Unordered, read, access());
                    }
                }
                self.others.clear();
                self.write.renew(argument, origin);
                self.written = true;
            }
        }
    }

    /// As [`access`](Self::access), for an access to another range than the piece, or with gaps.
    #[cold]
    #[inline(never)]
    fn access_another_piece(
        &mut self,
        access: Access,
        whole: MemoryRange,
        clock: &[u64],
        found: &mut Findings,
    ) {
        if access.range.bytes == 0 || self.check_content(&access, found) {
            return;
        }
        if access.mode == AccessMode::Write {
            access.pieces().for_each(|piece| self.blank.remove(piece, found));
        }
        if access.mode == AccessMode::Write && covers(access.range, whole) && access.rows.is_none()
        {
            self.check_order(&access, clock, found);
            self.others.clear();
            self.whole_write = access;
            self.write = access;
            (self.in_parts, self.written, self.piece) = (false, false, access.range);
            self.blank_piece = false;
            return;
        }
        if !self.in_parts && !self.written && self.others.is_empty() && access.rows.is_none() {
            self.piece = access.range;
            self.blank_piece = false; // The unwritten bytes were compared above.
            self.write = Access { range: access.range, ..self.whole_write };
            let Access { range, mode, argument, origin, .. } = access;
            let access = driver::Access { range, mode, argument, rows: None };
            self.access(&access, NO_ROWS, &origin, &whole, clock, found);
            self.blank_piece = self.blank.overlaps(self.piece);
            return;
        }
        self.check_order(&access, clock, found);
        if !self.in_parts {
            (self.in_parts, self.piece) = (true, MemoryRange::default());
            self.others.push(self.whole_write);
            if self.written {
                self.others.push(self.write);
            }
        }
        // A read replaces no write: later reads must come after the write. A write also replaces accesses that it does not
        // come after: a race with them was reported, and needs no second report.
        self.others.retain(|before| {
            let replaced = access.mode == AccessMode::Write
                || (before.mode == AccessMode::Read && before.is_before(clock));
            let covered = match access.rows {
                None => covers(access.range, before.range),
                Some(_) => access.rows == before.rows && access.range == before.range,
            };
            !(replaced && covered)
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
        if !self.in_parts {
            found.most_reads = found.most_reads.max(self.others.len());
        }
    }
}

#[inline(always)]
fn covers(outer: MemoryRange, inner: MemoryRange) -> bool {
    outer.address <= inner.address && inner.end() <= outer.end()
}
