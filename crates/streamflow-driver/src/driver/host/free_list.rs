//! Free memory, and the choice of the memory that an allocation takes.

use std::collections::BTreeMap;

use super::memory::ALIGNMENT;
use super::point::Point;

/// A pool's unit: sizes are multiples of it, so that a block can be split at any multiple.
const UNIT: u64 = 512;

/// The unit of the memory that a pool takes from the system: sizes are multiples of it. CUDA takes 2 MiB or more; a
/// smaller portion makes it easier for a small test to split and merge.
const PORTION: u64 = 64 << 10;

/// Free memory.
#[derive(Debug)]
pub(super) enum FreeList {
    /// Blocks by size: each block is reused as a whole.
    Blocks(BTreeMap<u64, Vec<FreeBlock>>),
    /// Segments by address: a segment is split when less of it is needed, and neighbours are used together.
    Segments(BTreeMap<u64, Segment>),
}

#[derive(Debug)]
pub(super) struct FreeBlock {
    address: u64,
    /// The point at which the block was freed; `None` if it was freed immediately.
    freed: Option<Point>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    bytes: u64,
    /// The point at which the segment was freed, as in a block.
    freed: Option<Point>,
}

impl Default for FreeList {
    fn default() -> Self {
        Self::Blocks(BTreeMap::new())
    }
}

impl FreeList {
    /// Returns an empty list, of memory that is split and merged if `splits`.
    pub(super) fn splitting(splits: bool) -> Self {
        if splits { Self::Segments(BTreeMap::new()) } else { Self::default() }
    }

    /// The size of the block for `bytes`: at least one unit, so that an empty range has an address of its own. Blocks
    /// that are reused as a whole have eight sizes per power of two, so that at most an eighth is wasted.
    pub(super) fn block_size(&self, bytes: u64) -> Option<u64> {
        let bytes = bytes.max(1);
        match self {
            Self::Blocks(_) => {
                bytes.checked_next_multiple_of(((1 << bytes.ilog2()) / 8).max(ALIGNMENT))
            }
            Self::Segments(_) => bytes.checked_next_multiple_of(UNIT),
        }
    }

    /// The number of bytes to take from the system for a block of `size` bytes.
    pub(super) fn portion(&self, size: u64) -> Option<u64> {
        match self {
            Self::Blocks(_) => Some(size),
            Self::Segments(_) => size.checked_add(self.gap())?.checked_next_multiple_of(PORTION),
        }
    }

    /// The bytes at the end of a portion that are never handed out. Without them, two portions that happen to be
    /// neighbours would be merged, and a pointer to one portion is not valid in the other.
    pub(super) fn gap(&self) -> u64 {
        match self {
            Self::Blocks(_) => 0,
            Self::Segments(_) => UNIT,
        }
    }

    /// Takes a free block of `size` bytes, and returns its address.
    ///
    /// Whole blocks follow the rule of `cuMemAllocAsync`: first a block with a free that comes before in stream order,
    /// then a block with a free that has executed. Among segments, the first is taken at which enough neighbours were
    /// freed in either of these ways.
    pub(super) fn take(
        &mut self,
        size: u64,
        ordered: impl Fn(&Point) -> bool,
        executed: impl Fn(&Point) -> bool,
    ) -> Option<u64> {
        match self {
            Self::Blocks(by_size) => {
                let blocks = by_size.entry(size).or_default();
                let found = blocks
                    .iter()
                    .rposition(|block| block.freed.as_ref().is_some_and(&ordered))
                    .or_else(|| {
                        let is_free =
                            |block: &FreeBlock| block.freed.as_ref().is_none_or(&executed);
                        blocks.iter().rposition(is_free)
                    })?;
                Some(blocks.swap_remove(found).address)
            }
            Self::Segments(segments) => {
                take_run(segments, size, |at| at.is_none_or(|at| ordered(&at) || executed(&at)))
            }
        }
    }

    /// Takes memory back.
    pub(super) fn put(&mut self, address: u64, bytes: u64, freed: Option<Point>) {
        match self {
            Self::Blocks(by_size) => {
                by_size.entry(bytes).or_default().push(FreeBlock { address, freed });
            }
            Self::Segments(segments) => {
                segments.insert(address, Segment { bytes, freed });
            }
        }
    }
}

/// Takes `size` bytes from the first neighbours that are free for the allocation and together large enough. The rest
/// of the last neighbour stays free.
fn take_run(
    segments: &mut BTreeMap<u64, Segment>,
    size: u64,
    is_free: impl Fn(Option<Point>) -> bool,
) -> Option<u64> {
    let (mut start, mut end) = (0, 0);
    let mut last = None;
    for (&address, segment) in segments.iter() {
        if !is_free(segment.freed) {
            end = 0;
            continue;
        }
        if end != address {
            start = address;
        }
        end = address + segment.bytes;
        if end - start >= size {
            last = Some(segment.freed);
            break;
        }
    }
    let freed = last?;
    while let Some((&address, _)) = segments.range(start..end).next() {
        segments.remove(&address);
    }
    if end - start > size {
        segments.insert(start + size, Segment { bytes: end - start - size, freed });
    }
    Some(start)
}
