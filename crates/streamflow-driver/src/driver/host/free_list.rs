//! Free memory, and the choice of the free memory that an allocation gets.

use std::collections::BTreeMap;

use super::memory::ALIGNMENT;
use super::point::Point;

/// The unit of sizes in a pool that splits memory: each size is a multiple, so a block can be split at any multiple.
const UNIT: u64 = 512;

/// The unit in which a pool takes memory from the system: each size is a multiple of it. CUDA takes 2 MiB or more. With a
/// smaller unit, a small test already splits and merges memory.
const PORTION: u64 = 64 << 10;

/// The free memory of an arena, in one of two forms.
#[derive(Debug)]
pub(super) enum FreeList {
    /// Blocks, by size. Each block is reused as a whole.
    Blocks(BTreeMap<u64, Vec<FreeBlock>>),
    /// Segments, by address. If less than a segment is needed, it is split. If more is needed, adjacent segments are used
    /// together.
    Segments(BTreeMap<u64, Segment>),
}

#[derive(Debug)]
pub(super) struct FreeBlock {
    address: u64,
    /// The point in stream order at which the block was freed; `None` if the block was free at once, without stream order.
    freed: Option<Point>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    bytes: u64,
    /// The point in stream order at which the segment was freed; `None` if it was free at once, without stream order.
    freed: Option<Point>,
}

impl Default for FreeList {
    fn default() -> Self {
        Self::Blocks(BTreeMap::new())
    }
}

impl FreeList {
    /// Returns an empty list: of segments, which are split and merged, if `splits`, else of blocks.
    pub(super) fn splitting(splits: bool) -> Self {
        if splits { Self::Segments(BTreeMap::new()) } else { Self::default() }
    }

    /// The size of the block for an allocation of `bytes`: at least one unit, so that an empty allocation has an address of
    /// its own. Blocks that are reused as a whole have eight sizes per power of two, so at most an eighth is wasted.
    pub(super) fn block_size(&self, bytes: u64) -> Option<u64> {
        let bytes = bytes.max(1);
        match self {
            Self::Blocks(_) => {
                bytes.checked_next_multiple_of(((1 << bytes.ilog2()) / 8).max(ALIGNMENT))
            }
            Self::Segments(_) => bytes.checked_next_multiple_of(UNIT),
        }
    }

    /// The number of bytes to take from the system when no free memory fits a block of `size` bytes.
    pub(super) fn portion(&self, size: u64) -> Option<u64> {
        match self {
            Self::Blocks(_) => Some(size),
            Self::Segments(_) => size.checked_add(self.gap())?.checked_next_multiple_of(PORTION),
        }
    }

    /// The number of bytes at the end of a portion that are never handed out. Without them, two portions at adjacent
    /// addresses would be merged, and a pointer to one portion is not valid in the other.
    pub(super) fn gap(&self) -> u64 {
        match self {
            Self::Blocks(_) => 0,
            Self::Segments(_) => UNIT,
        }
    }

    /// Takes `size` bytes of free memory, and returns their address. `ordered` and `executed` test a free: whether the
    /// allocation comes after it in stream order, and whether it has executed.
    ///
    /// Among blocks, the rule is that of `cuMemAllocAsync`: first a block with an `ordered` free, then a block with an
    /// `executed` free. Among segments, the first sequence of adjacent ones is taken that is large enough and whose frees
    /// are `ordered` or `executed`.
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

    /// Adds memory that was freed at the point `freed`.
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

/// Takes `size` bytes from the first sequence of adjacent segments that is large enough and in which each segment `is_free`.
/// The remainder of the last segment stays free.
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
