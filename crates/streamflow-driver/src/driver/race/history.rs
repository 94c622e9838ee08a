//! The history: the allocations, each with the earlier accesses that a later access is compared with.

use std::collections::VecDeque;

use super::access::{Access, Findings, Origin};
use super::clock::Clock;
use super::site::PortUse;
use super::uses::Uses;
use crate::driver::{self, MemoryRange, Rows};

/// The most freed allocations that are remembered. A freed allocation is forgotten, too, when its memory is allocated again.
const MAX_FREED: usize = 1024;

/// The most uses by ports that are remembered for one allocation.
const MAX_PORT_USES: usize = 8;

/// The number of reads for which a new allocation has room at first.
const READS: usize = 8;

/// The number of slots of the cache that finds an allocation by an address within it.
const CACHE_SLOTS: usize = 256;

/// The content of an empty slot of the cache. No memory has address 0.
const NO_BLOCK: (u64, u32) = (0, u32::MAX);

/// An allocation with its accesses. The allocation may be freed.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) range: MemoryRange,
    uses: Uses,
    port_uses: PortUses,
    /// The merged clocks of the declared foreign accesses. At each of them other code got the memory's address, and the work
    /// of that code comes after the clock.
    left_after: Clock,
}

/// The latest uses of an allocation by ports, as a ring.
#[derive(Debug, Default)]
struct PortUses {
    latest: Vec<PortUse>,
    next: usize,
}

impl Block {
    /// The latest uses of the memory by ports, as an input or an output, in no order.
    pub(super) fn port_uses(&self) -> &[PortUse] {
        &self.port_uses.latest
    }
}

/// All allocations that are remembered, with their accesses.
#[derive(Debug)]
pub(super) struct History {
    blocks: Vec<Block>,
    /// The indices in `blocks` that are free for new allocations.
    vacant_indices: Vec<u32>,
    /// The address and the index in `blocks` of each allocation, sorted by address. No two allocations overlap.
    by_address: Vec<(u64, u32)>,
    /// The addresses of the freed allocations, the oldest first.
    freed: VecDeque<u64>,
    /// The number of reads for which each allocation in use has room.
    reads: usize,
    /// The cache: the addresses that were searched for last, each with the index of the allocation that contains it.
    cache: Box<[(u64, u32); CACHE_SLOTS]>,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            blocks: Vec::new(),
            vacant_indices: Vec::new(),
            by_address: Vec::new(),
            freed: VecDeque::new(),
            reads: READS,
            cache: Box::new([NO_BLOCK; CACHE_SLOTS]),
        }
    }

    /// Adds memory that was just allocated. Earlier allocations at these addresses are removed: the driver allocates memory
    /// again only after its `free`.
    pub(super) fn allocate(&mut self, range: MemoryRange) {
        if range.bytes == 0 {
            return;
        }
        self.remove(range);
        let (uses, port_uses) = (Uses::new(range, self.reads), PortUses::default());
        let block = Block { range, uses, port_uses, left_after: Clock::default() };
        let index = match self.vacant_indices.pop() {
            Some(index) => {
                self.blocks[index as usize] = block;
                index
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        };
        let position = self.by_address.partition_point(|(start, _)| *start < range.address);
        self.by_address.insert(position, (range.address, index));
    }

    /// Makes room for `most_reads` reads in each allocation, if one allocation has had so many. The order in which memory is
    /// recycled depends on the device, so another allocation may need the same room only after many ticks.
    #[inline(always)]
    pub(super) fn make_room(&mut self, most_reads: usize) {
        if most_reads > self.reads {
            self.make_more_room(most_reads);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_more_room(&mut self, most_reads: usize) {
        self.reads = most_reads.next_power_of_two();
        let in_use = self.blocks.iter_mut().filter(|block| !block.uses.is_freed());
        in_use.for_each(|block| block.uses.make_room(self.reads));
    }

    /// Whether a range lies within one allocation that is not freed.
    pub(super) fn is_in_use(&mut self, range: MemoryRange) -> bool {
        let block = self.find_cached(range.address);
        block.is_some_and(|block| !block.uses.is_freed() && range.end() <= block.range.end())
    }

    /// Notes that the content of the range `begin.range` is undefined from now on: the memory was allocated or passed to a
    /// new owner.
    pub(super) fn begin_content(&mut self, begin: Access, found: &mut Findings) {
        if let Some(block) = self.find_cached(begin.range.address) {
            block.uses.begin_content(begin, found);
        }
    }

    /// Counts the bytes of a range as written from now on: other code has their address and may write them.
    pub(super) fn end_blank(&mut self, range: MemoryRange, found: &mut Findings) {
        if let Some(block) = self.find_cached(range.address) {
            block.uses.end_blank(range, found);
        }
    }

    /// Notes that other code got the memory's address. The work of that code comes after `clock`.
    pub(super) fn leave(&mut self, range: MemoryRange, clock: &Clock) {
        if let Some(block) = self.find_cached(range.address) {
            block.left_after.merge(clock);
        }
    }

    /// Notes that memory comes back from other code, to a thread with the clock `known`. An access that comes before the
    /// clocks at which the memory left, or before `known`, comes before all later uses.
    pub(super) fn come_back(&mut self, range: MemoryRange, known: &Clock, found: &mut Findings) {
        if let Some(block) = self.find_cached(range.address) {
            block.left_after.merge(known);
            block.uses.come_back(range, block.range, block.left_after.entries());
            block.uses.end_blank(range, found);
        }
    }

    /// Notes a free. The allocation stays remembered for a while, so that accesses after the free are found.
    pub(super) fn free(&mut self, free: Access, found: &mut Findings) {
        let Some(block) = self.find_cached(free.range.address) else { return };
        if block.uses.is_freed() {
            return;
        }
        block.uses.free(free);
        let start = block.range.address;
        self.freed.push_back(start);
        if self.freed.len() > MAX_FREED
            && let Some(address) = self.freed.front().copied()
        {
            found.forgotten += 1;
            self.remove(MemoryRange { address, bytes: 1 });
        }
    }

    /// Removes the allocations that overlap a range, and their accesses.
    pub(super) fn remove(&mut self, range: MemoryRange) {
        let mut position = self.by_address.partition_point(|(start, _)| *start < range.end());
        while position > 0 {
            let (start, index) = self.by_address[position - 1];
            let block = &mut self.blocks[index as usize];
            if !block.range.overlaps(range) {
                break;
            }
            if block.uses.is_freed() {
                self.freed.retain(|freed| *freed != start);
            }
            block.range = MemoryRange::default();
            block.uses = Uses::new(MemoryRange::default(), 0);
            let cached = self.cache.iter_mut().filter(|(_, known)| *known == index);
            cached.for_each(|known| *known = NO_BLOCK);
            self.by_address.remove(position - 1);
            self.vacant_indices.push(index);
            position -= 1;
        }
    }

    /// Returns the allocation that contains an address, from the cache or by a search.
    #[inline(always)]
    fn find_cached(&mut self, address: u64) -> Option<&mut Block> {
        let (known, index) = self.cache[cache_slot(address)];
        let index = if known == address { index } else { self.search_and_cache(address)? };
        self.blocks.get_mut(index as usize)
    }

    /// The slow path of [`find_cached`](Self::find_cached): a binary search, and an entry in the cache.
    #[cold]
    #[inline(never)]
    fn search_and_cache(&mut self, address: u64) -> Option<u32> {
        let after = self.by_address.partition_point(|(start, _)| *start <= address);
        let (_, index) = *self.by_address.get(after.checked_sub(1)?)?;
        if !contains(self.blocks[index as usize].range, address) {
            return None;
        }
        self.cache[cache_slot(address)] = (address, index);
        Some(index)
    }

    /// Returns the allocation that contains the start of a range, by a linear search. Called only to make a report, so speed
    /// does not matter.
    pub(super) fn find_uncached(&self, range: MemoryRange) -> Option<&Block> {
        self.blocks.iter().find(|block| contains(block.range, range.address))
    }

    /// Compares an access with the earlier ones, and does not remember it.
    pub(super) fn check(&mut self, access: &Access, clock: &[u64], found: &mut Findings) {
        if access.range.bytes == 0 {
            return;
        }
        match self.find_cached(access.range.address) {
            Some(block) => block.uses.check(access, clock, found),
            None => found.unknown += 1,
        }
    }

    /// Compares an access with the earlier ones, and remembers it. `clock` is the clock of the stream that makes the access.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        access: &driver::Access,
        rows: Option<impl Into<Rows>>,
        origin: &Origin,
        clock: &[u64],
        found: &mut Findings,
    ) {
        match self.find_cached(access.range.address) {
            Some(block) => block.uses.access(access, rows, origin, &block.range, clock, found),
            None => found.unknown += u64::from(access.range.bytes > 0),
        }
    }

    /// Remembers that memory came in or went out through a port.
    pub(super) fn remember_port(&mut self, port_use: PortUse) {
        let Some(block) = self.find_cached(port_use.range.address) else { return };
        let PortUses { latest, next } = &mut block.port_uses;
        match latest.get_mut(*next) {
            Some(oldest) => *oldest = port_use,
            None => latest.push(port_use),
        }
        *next = (*next + 1) % MAX_PORT_USES;
    }
}

/// Returns the slot of the cache for an address. The slot is chosen by the high bits of a product, because the low bits of
/// large allocations' addresses are all equal.
#[inline(always)]
fn cache_slot(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % CACHE_SLOTS
}

fn contains(range: MemoryRange, address: u64) -> bool {
    address.wrapping_sub(range.address) < range.bytes
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::access::NO_ROWS;
    use super::*;
    use crate::driver::report::RaceKind;
    use crate::driver::{AccessMode, RowLevel, Rows};

    const WHOLE: MemoryRange = MemoryRange { address: 0x7000, bytes: 4096 };

    /// Makes accesses on streams that nothing orders. Returns the number of races that were found.
    fn races(history: &mut History, accesses: &[(u32, AccessMode, MemoryRange)]) -> usize {
        let mut found = Findings::default();
        for (stream, mode, range) in accesses.iter().copied() {
            let origin = Origin { epoch: 1, tick: 0, stream, site: 0 };
            let mut clock = [0; 4];
            clock[stream as usize] = 1;
            let access = driver::Access { range, mode, argument: "", rows: None };
            history.access(&access, NO_ROWS, &origin, &clock, &mut found);
        }
        assert_eq!((found.unknown, found.forgotten), (0, 0));
        found.races.len()
    }

    /// As [`races`], for accesses with gaps. The last number of an access is the bytes of a row, one in each 64 bytes; 0
    /// means no gaps. Returns the kinds of the races.
    fn gapped(
        history: &mut History,
        accesses: &[(u32, AccessMode, MemoryRange, u64)],
    ) -> Vec<RaceKind> {
        let mut found = Findings::default();
        for (stream, mode, range, row) in accesses.iter().copied() {
            let origin = Origin { epoch: 1, tick: 0, stream, site: 0 };
            let mut clock = [0; 4];
            clock[stream as usize] = 1;
            let level = RowLevel { count: range.bytes.div_ceil(64), pitch: 64 };
            let rows = Rows::new(row, (row > 0).then_some(level));
            let access = driver::Access { range, mode, argument: "", rows: None };
            history.access(&access, rows, &origin, &clock, &mut found);
        }
        found.races.iter().map(|race| race.kind).collect()
    }

    /// A GPU recycles memory later than the simulator does. So an allocation may get as many reads as another one only after
    /// many ticks, and should not allocate then.
    #[test]
    fn memory_has_room_for_as_many_reads_as_other_memory_had() {
        let mut history = History::new();
        let other = MemoryRange { address: WHOLE.end(), bytes: 4096 };
        let later = MemoryRange { address: other.end(), bytes: 4096 };
        [WHOLE, other].into_iter().for_each(|range| history.allocate(range));
        let mut found = Findings::default();
        for stream in 0..9 {
            let origin = Origin { epoch: 1, tick: 0, stream, site: 0 };
            let mode = AccessMode::Read;
            let access = driver::Access { range: WHOLE, mode, argument: "", rows: None };
            history.access(&access, NO_ROWS, &origin, &[], &mut found);
            history.make_room(found.most_reads);
        }
        history.allocate(later);
        let room = |range: MemoryRange| history.find_uncached(range).map(|it| it.uses.room());
        assert_eq!([WHOLE, other, later].map(room), [Some(16); 3]);
    }

    #[test]
    fn accesses_with_gaps_race_where_their_rows_overlap() {
        use AccessMode::{Read, Write};
        let columns = |from: u64, to: u64| part(from, 64 * 63 + to);
        let (left, right, middle) = (columns(0, 32), columns(32, 64), columns(31, 33));
        let mut history = History::new();
        history.allocate(WHOLE);
        assert_eq!(gapped(&mut history, &[(0, Write, left, 32), (1, Write, right, 32)]), []);
        assert_eq!(gapped(&mut history, &[(2, Read, middle, 2)]), [RaceKind::Unordered; 2]);
        assert_eq!(gapped(&mut history, &[(1, Read, left, 32)]), [RaceKind::Unordered]);
        // An access without gaps races with each access whose rows it overlaps, and with none if it lies within the gaps.
        assert_eq!(gapped(&mut history, &[(0, Write, part(64, 96), 0)]), [RaceKind::Unordered; 2]);
        let mut history = History::new();
        history.allocate(WHOLE);
        let gap = part(64 + 32, 128);
        assert_eq!(gapped(&mut history, &[(0, Write, left, 32), (1, Write, gap, 0)]), []);
        // Many accesses of one stream to the same rows are remembered as one access.
        let again = vec![(0, Write, left, 32); 1000];
        assert_eq!(gapped(&mut history, &again), []);
        // Control: if the gaps are not declared, the two accesses race.
        let mut history = History::new();
        history.allocate(WHOLE);
        assert_eq!(
            gapped(&mut history, &[(0, Write, left, 0), (1, Write, right, 0)]),
            [RaceKind::Unordered]
        );
    }

    #[test]
    fn gaps_are_neither_written_nor_read() {
        use AccessMode::{Read, Write};
        let origin = Origin { epoch: 1, tick: 0, stream: 0, site: 0 };
        let mut history = History::new();
        history.allocate(WHOLE);
        let begin = Access { range: WHOLE, mode: Write, argument: "", rows: None, origin };
        history.begin_content(begin, &mut Findings::default());
        // Each row is written by itself. A read of all rows then finds their bytes written, and the gaps unwritten.
        for row in 0..64 {
            assert_eq!(gapped(&mut history, &[(0, Write, part(64 * row, 64 * row + 32), 0)]), []);
        }
        let columns = |from: u64, to: u64| part(from, 64 * 63 + to);
        assert_eq!(gapped(&mut history, &[(0, Read, columns(0, 32), 32)]), []);
        assert_eq!(gapped(&mut history, &[(0, Read, columns(0, 33), 33)]), [RaceKind::Unwritten]);
        assert_eq!(gapped(&mut history, &[(0, Read, columns(0, 32), 0)]), [RaceKind::Unwritten]);
        assert_eq!(gapped(&mut history, &[(0, Write, columns(32, 64), 32)]), []);
        assert_eq!(gapped(&mut history, &[(0, Read, WHOLE, 0)]), []);
    }

    fn part(from: u64, to: u64) -> MemoryRange {
        MemoryRange { address: WHOLE.address + from, bytes: to - from }
    }

    #[test]
    fn accesses_to_one_piece_and_to_several_are_checked() {
        use AccessMode::{Read, Write};
        let mut history = History::new();
        history.allocate(WHOLE);
        let piece = part(0, 256);
        assert_eq!(
            races(&mut history, &[(0, Write, piece), (0, Read, piece), (0, Write, piece)]),
            0
        );
        assert_eq!(races(&mut history, &[(1, Read, piece)]), 1, "the write");
        // From this access on the memory is used in parts, and the piece is one of the parts.
        assert_eq!(races(&mut history, &[(2, Write, part(128, 512))]), 2, "the write, the read");
        assert_eq!(races(&mut history, &[(2, Write, piece), (0, Read, part(0, 128))]), 3);
        // A write of the whole allocation makes the whole allocation the one piece.
        assert_eq!(races(&mut history, &[(2, Write, WHOLE)]), 1, "the read");
        assert_eq!(
            races(&mut history, &[(2, Read, WHOLE), (2, Write, piece), (2, Read, piece)]),
            0
        );
        assert_eq!(races(&mut history, &[(1, Read, WHOLE)]), 2, "both writes");
        // A new allocation at the same address begins without accesses, so nothing races.
        history.allocate(part(0, 512));
        assert_eq!(races(&mut history, &[(0, Write, part(0, 512)), (0, Read, piece)]), 0);
    }

    /// A part is written after the whole allocation. An access within the part that comes after the part's write also comes
    /// after the whole write. An access outside of the part is compared with the whole write itself.
    #[test]
    fn an_access_beside_the_part_that_was_written_must_come_after_the_whole_write() {
        use AccessMode::{Read, Write};
        for mode in [Read, Write] {
            let mut history = History::new();
            history.allocate(WHOLE);
            let ordered = [(0, Write, WHOLE), (0, Write, part(0, 256))];
            assert_eq!(races(&mut history, &ordered), 0);
            assert_eq!(races(&mut history, &[(1, mode, part(256, 512))]), 1, "the whole write");
        }
    }

    #[test]
    fn an_access_of_no_bytes_is_ignored() {
        use AccessMode::{Read, Write};
        let mut history = History::new();
        history.allocate(WHOLE);
        let nothing = part(0, 0);
        let parts = [(0, Write, part(0, 256)), (0, Write, part(256, 512)), (1, Read, nothing)];
        assert_eq!(races(&mut history, &parts), 0);
        assert_eq!(races(&mut history, &[(0, Write, WHOLE), (1, Write, nothing)]), 0);
    }
}
