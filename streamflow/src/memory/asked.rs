//! The results of the latest queries of the driver about free blocks.

/// The most allocations that make no query after a query has found that the device still uses even the oldest block. These
/// allocations make their streams wait for the uses of their blocks instead.
const MOST_TO_SKIP: usize = 16;

/// The results of the latest [queries](super::queries) about the free blocks of one size.
#[derive(Default)]
pub(super) struct Asked {
    /// The number of coming allocations that make no query.
    to_skip: usize,
    /// The number of blocks that are later in the list than the block about which the next query is.
    pub(super) behind: usize,
    /// The stream about whose block the last query was that found the device done. `None` if that is this list's stream.
    pub(super) end: Option<u32>,
}

impl Asked {
    /// Returns whether this allocation makes no query. If so, decrements `to_skip`.
    pub(super) fn skip(&mut self) -> bool {
        let skips = self.to_skip > 0;
        self.to_skip -= usize::from(skips);
        skips
    }

    /// Notes that the device still uses even the oldest of the `blocks` free blocks, so the next allocations make no query.
    pub(super) fn set_behind(&mut self, blocks: usize) {
        self.to_skip = blocks.min(MOST_TO_SKIP);
    }

    /// Notes that the device no longer uses the block of the last query. `end` is the stream about whose block that query was,
    /// or `None` for the stream of this list.
    pub(super) fn set_answer(&mut self, end: Option<u32>) {
        self.end = end;
    }
}
