//! Who has touched which bytes: the accesses that a later one must come after.

use super::clock::Clock;
use super::site::Passage;
use crate::driver::{AccessMode, MemoryRange};

/// Accesses that are remembered of one allocation. More are possible only when many parts of it are
/// used apart.
pub(super) const ACCESSES: usize = 128;

/// Freed allocations that are remembered, until their memory is allocated again.
pub(super) const FREED: usize = 1024;

/// Passages through ports that are remembered of one allocation.
const PASSAGES: usize = 8;

/// Places of the table that finds an allocation by its address.
const RECENT: usize = 256;

/// One access, by work on a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(super) range: MemoryRange,
    /// The stream's epoch at that time.
    pub(super) epoch: u64,
    /// The node's tick.
    pub(super) tick: u64,
    pub(super) stream: u32,
    pub(super) site: u32,
    pub(super) argument: u16,
    pub(super) mode: AccessMode,
}

/// One allocation.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) range: MemoryRange,
    freed: bool,
    accesses: Vec<Access>,
    passages: [Option<Passage>; PASSAGES],
    next_passage: usize,
}

impl Block {
    /// Passages through ports, the latest first.
    pub(super) fn passages(&self) -> impl Iterator<Item = &Passage> {
        let places = (1..=PASSAGES).map(|back| (self.next_passage + PASSAGES - back) % PASSAGES);
        places.filter_map(|place| self.passages[place].as_ref())
    }
}

/// All allocations, and what was forgotten of them.
#[derive(Debug)]
pub(super) struct History {
    blocks: Vec<Block>,
    vacant: Vec<u32>,
    /// Start, and block, in order: allocations don't overlap.
    by_address: Vec<(u64, u32)>,
    /// Freed blocks, the oldest first, with their start.
    freed: std::collections::VecDeque<(u64, u32)>,
    /// A block that contained an address when it was asked for last.
    recent: Box<[(u64, u32); RECENT]>,
    /// Accesses that are no longer remembered though something could still race with them.
    pub(super) forgotten: u64,
    /// Accesses to memory that was not allocated through here.
    pub(super) unknown: u64,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            blocks: Vec::new(),
            vacant: Vec::new(),
            by_address: Vec::new(),
            freed: std::collections::VecDeque::new(),
            recent: Box::new([(0, u32::MAX); RECENT]),
            forgotten: 0,
            unknown: 0,
        }
    }

    /// Memory that was just allocated. What was there before is over: the driver hands memory out
    /// only after its `free`.
    pub(super) fn allocate(&mut self, range: MemoryRange) {
        if range.bytes == 0 {
            return;
        }
        self.remove(range);
        let block = Block {
            range,
            freed: false,
            accesses: Vec::with_capacity(8),
            passages: [None; PASSAGES],
            next_passage: 0,
        };
        let index = match self.vacant.pop() {
            Some(index) => {
                self.blocks[index as usize] = block;
                index
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        };
        let place = self.by_address.partition_point(|(start, _)| *start < range.address);
        self.by_address.insert(place, (range.address, index));
    }

    /// Memory was freed in stream order; its accesses are remembered for a while.
    pub(super) fn free(&mut self, range: MemoryRange) {
        let Some(index) = self.find(range.address) else { return };
        let block = &mut self.blocks[index as usize];
        block.freed = true;
        self.freed.push_back((block.range.address, index));
        if self.freed.len() > FREED
            && let Some((address, _)) = self.freed.front().copied()
        {
            self.forgotten += 1;
            self.remove(MemoryRange { address, bytes: 1 });
        }
    }

    /// Forgets the allocations that overlap a range: they are over.
    pub(super) fn remove(&mut self, range: MemoryRange) {
        let mut place = self.by_address.partition_point(|(start, _)| *start < range.end());
        while place > 0 {
            let (start, index) = self.by_address[place - 1];
            let block = &mut self.blocks[index as usize];
            if !block.range.overlaps(range) {
                break;
            }
            if block.freed {
                self.freed.retain(|(freed, _)| *freed != start);
            }
            block.range = MemoryRange::default();
            block.accesses = Vec::new();
            self.by_address.remove(place - 1);
            self.vacant.push(index);
            place -= 1;
        }
    }

    /// The allocation that an address lies in.
    #[inline]
    fn find(&mut self, address: u64) -> Option<u32> {
        let place = &mut self.recent[(address >> 8) as usize % RECENT];
        let (known, index) = *place;
        // A block that has become another one meanwhile does not contain the address.
        if known == address
            && let Some(block) = self.blocks.get(index as usize)
            && contains(block.range, address)
        {
            return Some(index);
        }
        let after = self.by_address.partition_point(|(start, _)| *start <= address);
        let (_, index) = *self.by_address.get(after.checked_sub(1)?)?;
        if !contains(self.blocks[index as usize].range, address) {
            return None;
        }
        *place = (address, index);
        Some(index)
    }

    /// The allocation that a range lies in; counts those that lie in none.
    #[inline]
    pub(super) fn block(&mut self, range: MemoryRange) -> Option<u32> {
        let index = self.find(range.address);
        self.unknown += u64::from(index.is_none());
        index
    }

    pub(super) fn get(&self, block: u32) -> &Block {
        &self.blocks[block as usize]
    }

    /// Compares an access with those before it. `clock` is what it comes after; `race` is called for
    /// each access that it does not come after and should.
    pub(super) fn check(
        &self,
        block: u32,
        range: MemoryRange,
        mode: AccessMode,
        clock: &Clock,
        mut race: impl FnMut(&Access),
    ) {
        for before in &self.blocks[block as usize].accesses {
            if before.range.overlaps(range)
                && clock.get(before.stream) < before.epoch
                && (mode == AccessMode::Write || before.mode == AccessMode::Write)
            {
                race(before);
            }
        }
    }

    /// Compares an access as [`check`](Self::check) does, and remembers it, in place of those that
    /// whoever comes after it comes after as well.
    #[inline]
    pub(super) fn access(
        &mut self,
        block: u32,
        access: Access,
        clock: &Clock,
        mut race: impl FnMut(&Access),
    ) {
        let accesses = &mut self.blocks[block as usize].accesses;
        let writes = access.mode == AccessMode::Write;
        let mut place = usize::MAX;
        let mut index = 0;
        while index < accesses.len() {
            let before = &accesses[index];
            index += 1;
            if !before.range.overlaps(access.range) {
                continue;
            }
            let ordered = clock.get(before.stream) >= before.epoch;
            let read = before.mode == AccessMode::Read;
            if !ordered && (writes || !read) {
                race(before);
            }
            // A read takes no write's place: later reads must come after that. A use that a write was
            // not ordered after was reported, and needs no second report.
            if covers(access.range, before.range) && (writes || (read && ordered)) {
                if place == usize::MAX {
                    place = index - 1;
                } else {
                    index -= 1;
                    accesses.swap_remove(index);
                }
            }
        }
        if let Some(place) = accesses.get_mut(place) {
            *place = access;
            return;
        }
        if accesses.len() >= ACCESSES {
            accesses.remove(0);
            self.forgotten += 1;
        }
        accesses.push(access);
    }

    /// Notes that memory passed a port.
    pub(super) fn pass(&mut self, passage: Passage) {
        let Some(index) = self.find(passage.range.address) else { return };
        let block = &mut self.blocks[index as usize];
        block.passages[block.next_passage] = Some(passage);
        block.next_passage = (block.next_passage + 1) % PASSAGES;
    }
}

#[inline]
fn contains(range: MemoryRange, address: u64) -> bool {
    address.wrapping_sub(range.address) < range.bytes
}

#[inline]
fn covers(outer: MemoryRange, inner: MemoryRange) -> bool {
    outer.address <= inner.address && inner.end() <= outer.end()
}
