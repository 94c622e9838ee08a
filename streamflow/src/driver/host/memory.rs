//! Simulated memory: real host memory at real addresses, kept until the simulator is dropped.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::{BTreeMap, HashMap};
use std::mem::MaybeUninit;
use std::{ptr, slice};

use super::point::Point;
use super::random::mix;
use crate::driver::MemoryRange;

/// The content of newly allocated memory, as repeated 16-bit words: a NaN in `f16`, `f32` and `f64`, so that
/// results computed from it are NaN, too.
pub const POISON_ALLOCATED: u16 = 0xfff1;

/// The content of freed memory, as repeated 16-bit words; also a NaN in all three types.
pub const POISON_FREED: u16 = 0xfff3;

/// CUDA aligns allocations to at least 256 bytes (CUDA C++ Programming Guide, *Device memory
/// accesses*).
const ALIGNMENT: u64 = 256;

/// Blocks of memory, handed out and taken back.
///
/// A block that was freed is never given back to the system while the simulator lives: a use after
/// free then reads poison and not unmapped memory.
#[derive(Debug, Default)]
pub(super) struct Arena {
    /// All memory from the system, in order of allocation.
    owned: Vec<(u64, Layout)>,
    /// Free blocks by size.
    free: BTreeMap<u64, Vec<FreeBlock>>,
    /// Blocks in use by address.
    live: HashMap<u64, LiveBlock>,
    /// Bytes of the blocks in use.
    used: u64,
}

#[derive(Debug)]
struct FreeBlock {
    address: u64,
    /// The point at which it was freed; `None` if it was freed immediately.
    freed: Option<Point>,
}

#[derive(Debug)]
struct LiveBlock {
    /// The requested size.
    bytes: u64,
    /// The block's size.
    size: u64,
}

impl Arena {
    /// A block of at least `bytes`, or `None` if more than `limit` would be in use.
    ///
    /// The rule of `cuMemAllocAsync`: first a block whose free was submitted to the same stream,
    /// then one whose free has executed, then a new one. `same` and `executed` test the point of a free.
    pub(super) fn allocate(
        &mut self,
        bytes: u64,
        limit: u64,
        same: impl Fn(&Point) -> bool,
        executed: impl Fn(&Point) -> bool,
    ) -> Option<u64> {
        let size = block_size(bytes)?;
        let used = self.used.checked_add(size).filter(|used| *used <= limit)?;
        let blocks = self.free.entry(size).or_default();
        let found =
            blocks.iter().rposition(|block| block.freed.as_ref().is_some_and(&same)).or_else(
                || blocks.iter().rposition(|block| block.freed.as_ref().is_none_or(&executed)),
            );
        let address = match found {
            Some(index) => blocks.swap_remove(index).address,
            None => self.fresh(size)?,
        };
        self.used = used;
        self.live.insert(address, LiveBlock { bytes, size });
        Some(address)
    }

    /// Takes a block back. `false` if there is none in use at `address` with `bytes`.
    pub(super) fn free(&mut self, address: u64, bytes: u64, freed: Option<Point>) -> bool {
        let Some(block) = self.live.get(&address).filter(|block| block.bytes == bytes) else {
            return false;
        };
        let size = block.size;
        self.live.remove(&address);
        self.used -= size;
        self.free.entry(size).or_default().push(FreeBlock { address, freed });
        true
    }

    /// Whether `address` names a block in use of `bytes`.
    pub(super) fn is_live(&self, address: u64, bytes: u64) -> bool {
        self.live.get(&address).is_some_and(|block| block.bytes == bytes)
    }

    /// The block that contains an address, by its number in order of creation, and the offset in it.
    pub(super) fn locate(&self, address: u64) -> Option<(usize, u64)> {
        self.owned.iter().enumerate().find_map(|(block, (start, layout))| {
            let offset = address.checked_sub(*start)?;
            (offset < layout.size() as u64).then_some((block, offset))
        })
    }

    /// A hash of the content of all blocks, free ones too, in order of creation. For device memory.
    pub(super) fn digest(&self) -> u64 {
        self.owned.iter().fold(0, |digest, &(address, layout)| {
            let range = MemoryRange { address, bytes: layout.size() as u64 };
            // SAFETY: the arena owns the block and has poisoned all of it, and device memory is only
            // touched under the simulator's lock, which the caller holds.
            mix(digest ^ unsafe { content(range) })
        })
    }

    fn fresh(&mut self, size: u64) -> Option<u64> {
        let bytes = usize::try_from(size).ok()?;
        let layout = Layout::from_size_align(bytes, ALIGNMENT as usize).ok()?;
        // SAFETY: `block_size` never returns 0.
        let block = unsafe { alloc(layout) };
        if block.is_null() {
            return None;
        }
        let address = block.expose_provenance() as u64;
        // Poisoned immediately, so that work that executes before its allocation reads poison, too.
        // SAFETY: the block was just allocated with this size, and has no other owner.
        unsafe { poison(address, size, POISON_FREED) };
        self.owned.push((address, layout));
        Some(address)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for (address, layout) in self.owned.drain(..) {
            // SAFETY: the block came from `alloc` with this layout and is freed once. The simulator is being
            // dropped, so no queued work can use it any more.
            unsafe { dealloc(pointer(address), layout) };
        }
    }
}

/// The size of the block for `bytes`: at least one unit of alignment, so that an empty range has an
/// address of its own, and eight sizes per power of two, so that blocks are reused with at most an eighth
/// wasted.
fn block_size(bytes: u64) -> Option<u64> {
    let bytes = bytes.max(1);
    let step = ((1 << bytes.ilog2()) / 8).max(ALIGNMENT);
    bytes.checked_next_multiple_of(step)
}

/// The pointer of an address.
pub(super) fn pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// A hash of the bytes of a range. One multiplication for eight bytes: it runs after each operation of
/// an exploration, also in debug builds, where the standard library's hash takes ten times as long.
///
/// # Safety
/// The bytes are allocated and initialised, and no other code writes them during the call.
pub(super) unsafe fn content(range: MemoryRange) -> u64 {
    let start = pointer(range.address).cast_const();
    // SAFETY: as the caller says.
    let bytes: &[u8] = unsafe { slice::from_raw_parts(start, range.bytes as usize) };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = range.bytes;
    for word in words {
        hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
    }
    rest.iter().fold(hash, |hash, byte| mix(hash ^ u64::from(*byte)))
}

/// Overwrites bytes with a pattern. Its low byte is at even addresses.
///
/// # Safety
/// The bytes are allocated, and no other code touches them during the call. They need not be
/// initialised.
pub(super) unsafe fn poison(address: u64, bytes: u64, pattern: u16) {
    if bytes == 0 {
        return;
    }
    // SAFETY: as the caller says; `MaybeUninit` because new memory is not initialised.
    let bytes: &mut [MaybeUninit<u8>] =
        unsafe { slice::from_raw_parts_mut(pointer(address).cast(), bytes as usize) };
    let [low, high] = pattern.to_le_bytes();
    // SAFETY: eight `MaybeUninit<u8>` at an aligned address are one `MaybeUninit<u64>`.
    let (head, words, tail) = unsafe { bytes.align_to_mut::<MaybeUninit<u64>>() };
    let word = u64::from_le_bytes([low, high, low, high, low, high, low, high]);
    words.fill(MaybeUninit::new(word));
    for byte in head.iter_mut().chain(tail) {
        let odd = byte.as_ptr().addr() % 2 == 1;
        byte.write(if odd { high } else { low });
    }
}
