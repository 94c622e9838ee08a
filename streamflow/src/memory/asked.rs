//! The findings of the latest queries about free blocks.

/// The most allocations without a query after a query has found the device behind: they wait for the uses of their
/// blocks.
const MOST_TO_SKIP: usize = 16;

/// The latest [queries](super::queries) about the free blocks of one size.
#[derive(Default)]
pub(super) struct Asked {
    /// The number of allocations that skip the query.
    to_skip: usize,
    /// The number of blocks after the one that the next query is about: later ones in the list.
    pub(super) behind: usize,
    /// The stream of the last answered query, if that was about another stream than the list's own.
    pub(super) end: Option<u32>,
}

impl Asked {
    /// Whether to skip this query; counts the skipped one.
    pub(super) fn skip(&mut self) -> bool {
        let skips = self.to_skip > 0;
        self.to_skip -= usize::from(skips);
        skips
    }

    /// Notes that the device was not even done with the oldest block.
    pub(super) fn set_behind(&mut self, blocks: usize) {
        self.to_skip = blocks.min(MOST_TO_SKIP);
    }

    /// Notes that the device was done with the block. `end` is the stream that the query was about, if it was another
    /// one than the list's own.
    pub(super) fn set_answer(&mut self, end: Option<u32>) {
        self.end = end;
    }
}
