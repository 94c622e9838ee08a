//! The results of the latest queries of the driver about free blocks.

/// The most allocations that skip the query after one has found the device still at work on old blocks. These allocations
/// wait for the uses of their blocks instead.
const MOST_TO_SKIP: usize = 16;

/// The latest [queries](super::queries) about the free blocks of one size.
#[derive(Default)]
pub(super) struct Asked {
    /// The number of the next allocations that make no query.
    to_skip: usize,
    /// How many blocks follow, later in the list, the block that the next query is about.
    pub(super) behind: usize,
    /// The stream that the last query with a positive answer was about, if it is not the stream of this list.
    pub(super) end: Option<u32>,
}

impl Asked {
    /// Whether this allocation skips the query. If so, one less is left to skip.
    pub(super) fn skip(&mut self) -> bool {
        let skips = self.to_skip > 0;
        self.to_skip -= usize::from(skips);
        skips
    }

    /// Notes that the device still uses even the oldest of this number of free blocks.
    pub(super) fn set_behind(&mut self, blocks: usize) {
        self.to_skip = blocks.min(MOST_TO_SKIP);
    }

    /// Notes that the device no longer uses the block of the query. `end` is the stream of that query, if it is not the
    /// stream of this list.
    pub(super) fn set_answer(&mut self, end: Option<u32>) {
        self.end = end;
    }
}
