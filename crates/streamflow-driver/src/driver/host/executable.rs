//! The parts of an executable graph.

use smallvec::SmallVec;

use super::queue::Touch;
use crate::driver::{CopyOp, DeviceId, MemoryRange, Param, RawEvent, RawStream};

/// An executable graph.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) device: DeviceId,
    pub(super) nodes: Vec<Node>,
    /// Its streams. The nodes of one are in order.
    pub(super) streams: Vec<RawStream>,
    /// Recorded before the first node, and by each stream after its last one.
    pub(super) border: RawEvent,
    /// Whether memory of a copy or a fill was given back since the graph was made.
    pub(super) is_stale: bool,
}

impl Graph {
    /// Whether a copy or a fill is for some of this memory.
    pub(super) fn names(&self, range: MemoryRange) -> bool {
        self.nodes.iter().any(|node| match &node.work {
            Work::Copy(copy) => copy.source.overlaps(range) || copy.target.overlaps(range),
            Work::Fill(filled, _) => filled.overlaps(range),
            Work::Kernel { .. } | Work::Recycle(_) => false,
        })
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) stream: usize,
    /// The nodes on other streams that it comes after.
    pub(super) after: SmallVec<[usize; 2]>,
    pub(super) work: Work,
    /// Recorded after it, if a node on another stream comes after it.
    pub(super) event: Option<RawEvent>,
}

#[derive(Debug)]
pub(super) enum Work {
    Kernel { function: u32, params: Box<[Param]>, touches: Box<[Touch]>, bytes: u64 },
    Copy(CopyOp),
    Fill(MemoryRange, u8),
    Recycle(MemoryRange),
}
