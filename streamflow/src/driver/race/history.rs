//! Who has touched which bytes: the accesses that a later one must come after.

use super::site::Passage;
use super::uses::{Access, Race, Uses};
use crate::driver::MemoryRange;

/// Freed allocations that are remembered, until their memory is allocated again.
pub(super) const FREED: usize = 1024;

/// Passages through ports that are remembered of one allocation.
const PASSAGES: usize = 8;

/// Places of the table that finds an allocation by its address.
const RECENT: usize = 256;

/// One allocation.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) range: MemoryRange,
    freed: bool,
    uses: Uses,
    passages: Passages,
}

/// The latest passages through ports.
#[derive(Debug, Default)]
struct Passages {
    latest: Vec<Passage>,
    next: usize,
}

impl Block {
    /// Passages through ports.
    pub(super) fn passages(&self) -> &[Passage] {
        &self.passages.latest
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
        let block =
            Block { range, freed: false, uses: Uses::new(range), passages: Passages::default() };
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
            block.uses = Uses::new(MemoryRange::default());
            self.by_address.remove(place - 1);
            self.vacant.push(index);
            place -= 1;
        }
    }

    /// The allocation that an address lies in.
    #[inline(always)]
    fn find(&mut self, address: u64) -> Option<u32> {
        let (known, index) = self.recent[(address >> 8) as usize % RECENT];
        // A block that has become another one meanwhile does not contain the address.
        if known == address
            && let Some(block) = self.blocks.get(index as usize)
            && contains(block.range, address)
        {
            return Some(index);
        }
        self.search(address)
    }

    #[cold]
    fn search(&mut self, address: u64) -> Option<u32> {
        let after = self.by_address.partition_point(|(start, _)| *start <= address);
        let (_, index) = *self.by_address.get(after.checked_sub(1)?)?;
        if !contains(self.blocks[index as usize].range, address) {
            return None;
        }
        self.recent[(address >> 8) as usize % RECENT] = (address, index);
        Some(index)
    }

    /// The allocation that a range lies in.
    pub(super) fn find_block(&self, range: MemoryRange) -> Option<&Block> {
        self.blocks.iter().find(|block| contains(block.range, range.address))
    }

    /// Checks an access that is not to be remembered.
    pub(super) fn check(&mut self, access: &Access, clock: &[u64], races: &mut Vec<Race>) {
        if access.range.bytes == 0 {
            return;
        }
        match self.find(access.range.address) {
            Some(block) => self.blocks[block as usize].uses.check(access, clock, races),
            None => self.unknown += 1,
        }
    }

    /// Checks an access by the owner of `clock`, and remembers it.
    #[inline(always)]
    pub(super) fn access(&mut self, access: Access, clock: &[u64], races: &mut Vec<Race>) {
        if access.range.bytes == 0 {
            return;
        }
        let Some(block) = self.find(access.range.address) else {
            self.unknown += 1;
            return;
        };
        let block = &mut self.blocks[block as usize];
        self.forgotten += block.uses.access(access, block.range, clock, races);
    }

    /// Notes that memory passed a port.
    pub(super) fn pass(&mut self, passage: Passage) {
        let Some(index) = self.find(passage.range.address) else { return };
        let Passages { latest, next } = &mut self.blocks[index as usize].passages;
        match latest.get_mut(*next) {
            Some(oldest) => *oldest = passage,
            None => latest.push(passage),
        }
        *next = (*next + 1) % PASSAGES;
    }
}

#[inline(always)]
fn contains(range: MemoryRange, address: u64) -> bool {
    address.wrapping_sub(range.address) < range.bytes
}
