//! The memory of a simulated device, or its page-locked memory: blocks in use, and free memory.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;

use super::free_list::FreeList;
use super::memory::{ALIGNMENT, POISON_FREED, content, pointer, poison};
use super::point::Point;
use crate::driver::MemoryRange;
use crate::splitmix::mix;

/// Allocated blocks and free memory of one device, or its page-locked blocks.
///
/// Freed memory is not returned to the system while the simulator lives, so a use after free reads poison instead of
/// unmapped memory.
#[derive(Debug, Default)]
pub(super) struct Arena {
    /// All memory that the arena got from the system, in order of allocation.
    owned: Vec<(u64, Layout)>,
    /// The index in `owned` of each piece of memory, by its first address.
    by_address: BTreeMap<u64, usize>,
    /// The blocks in use, by their address.
    live: BTreeMap<u64, LiveBlock>,
    /// The number of bytes of all blocks in use.
    used: u64,
    free: FreeList,
}

#[derive(Debug)]
struct LiveBlock {
    /// The number of bytes that the program requested.
    bytes: u64,
    /// The number of bytes of the block, at least `bytes`.
    size: u64,
}

impl Arena {
    /// Returns an empty arena that reuses freed memory by the rules of `free`.
    pub(super) fn new(free: FreeList) -> Self {
        let mut arena = Self::default();
        arena.free = free;
        arena
    }

    /// Returns a block of at least `bytes`, or `None` if more than `limit` would be in use.
    ///
    /// `ordered` tests whether the allocation comes after a free in stream order. `executed` tests whether a free has
    /// executed.
    pub(super) fn allocate(
        &mut self,
        bytes: u64,
        limit: u64,
        ordered: impl Fn(&Point) -> bool,
        executed: impl Fn(&Point) -> bool,
    ) -> Option<u64> {
        let size = self.free.block_size(bytes)?;
        let used = self.used.checked_add(size).filter(|used| *used <= limit)?;
        let address = match self.free.take(size, ordered, executed) {
            Some(address) => address,
            None => self.fresh(size)?,
        };
        self.used = used;
        self.live.insert(address, LiveBlock { bytes, size });
        Some(address)
    }

    /// Takes a block back; the point `freed` is its free in stream order. Returns `false` if no block of `bytes` at
    /// `address` is in use.
    pub(super) fn free(&mut self, address: u64, bytes: u64, freed: Option<Point>) -> bool {
        if !self.is_live(address, bytes) {
            return false;
        }
        let Some(block) = self.live.remove(&address) else { return false };
        self.used -= block.size;
        self.free.put(address, block.size, freed);
        true
    }

    /// Whether a block in use begins at `address` and was requested with `bytes`.
    pub(super) fn is_live(&self, address: u64, bytes: u64) -> bool {
        self.live.get(&address).is_some_and(|block| block.bytes == bytes)
    }

    /// Whether a range lies within a block in use.
    pub(super) fn is_in_use(&self, range: MemoryRange) -> bool {
        let block = self.live.range(..=range.address).next_back();
        block.is_some_and(|(start, block)| is_within(range, *start, block.bytes))
    }

    /// Whether a range lies within memory of this arena, in use or free.
    pub(super) fn owns(&self, range: MemoryRange) -> bool {
        let found = self.by_address.range(..=range.address).next_back();
        found.is_some_and(|(start, index)| {
            is_within(range, *start, self.owned[*index].1.size() as u64)
        })
    }

    /// Finds the piece of memory from the system that contains an address. Returns its index in `owned`, and the offset of
    /// the address.
    pub(super) fn locate(&self, address: u64) -> Option<(usize, u64)> {
        let (start, index) = self.by_address.range(..=address).next_back()?;
        let offset = address - start;
        (offset < self.owned[*index].1.size() as u64).then_some((*index, offset))
    }

    /// A hash of the content of all memory of the arena, whether in use or free, in order of creation. Called only for
    /// device memory.
    pub(super) fn digest(&self) -> u64 {
        self.owned.iter().fold(0, |digest, &(address, layout)| {
            let range = MemoryRange { address, bytes: layout.size() as u64 };
            // SAFETY: the arena owns the memory and has poisoned all of it. Device memory is only touched under the
            // simulator's lock, and the caller holds that lock.
            mix(digest ^ unsafe { content(range) })
        })
    }

    /// Takes new memory from the system and returns a block of it. Bytes beyond the block become free memory.
    fn fresh(&mut self, size: u64) -> Option<u64> {
        let bytes = self.free.portion(size)?;
        let layout =
            Layout::from_size_align(usize::try_from(bytes).ok()?, ALIGNMENT as usize).ok()?;
        // SAFETY: the layout is not empty: a block has at least one byte, and the portion is at least as large as the block.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        let address = start.expose_provenance() as u64;
        // New memory is poisoned at once. So work that wrongly executes before its allocation reads poison, too.
        // SAFETY: the memory was just allocated with this size, and has no other owner.
        unsafe { poison(address, bytes, POISON_FREED) };
        self.by_address.insert(address, self.owned.len());
        self.owned.push((address, layout));
        let left = bytes - self.free.gap() - size;
        if left > 0 {
            self.free.put(address + size, left, None);
        }
        Some(address)
    }
}

fn is_within(range: MemoryRange, start: u64, bytes: u64) -> bool {
    let offset = range.address - start;
    offset <= bytes && range.bytes <= bytes - offset
}

impl Drop for Arena {
    fn drop(&mut self) {
        for (address, layout) in self.owned.drain(..) {
            // SAFETY: the memory came from `alloc` with this layout and is freed once. The simulator is being
            // dropped, so no queued work can use it any more.
            unsafe { dealloc(pointer(address), layout) };
        }
    }
}
