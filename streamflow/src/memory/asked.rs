//! The findings of the latest queries about free blocks.

/// After the device was found behind, the stream waits for the uses of so many blocks without a query.
const MOST_TO_SKIP: usize = 16;

/// The latest [queries](super::queries) about the free blocks of one size.
#[derive(Default)]
pub(super) struct Asked {
    /// Skip the query for this many allocations.
    to_skip: usize,
    /// How many later blocks there are behind the one that the next query is about.
    pub(super) behind: usize,
    /// The stream that was asked last, if it was another one.
    pub(super) end: Option<u32>,
}

impl Asked {
    /// Whether to skip this query, which counts.
    pub(super) fn skip(&mut self) -> bool {
        let skips = self.to_skip > 0;
        self.to_skip -= usize::from(skips);
        skips
    }

    /// Notes that the device was done with nothing.
    pub(super) fn note_behind(&mut self, blocks: usize) {
        self.to_skip = blocks.min(MOST_TO_SKIP);
    }

    /// Notes that the device was done. `end` is the stream that was asked, if it was another one.
    pub(super) fn note_answer(&mut self, end: Option<u32>) {
        self.end = end;
    }
}
