//! The parts of an executable graph.

use smallvec::SmallVec;

use super::queue::{Stream, Takes, Touch};
use crate::driver::{
    Access, CopyOp, DeviceId, LibraryBody, MemoryRange, Param, RawEvent, RawStream,
};

/// An executable graph.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) device: DeviceId,
    pub(super) nodes: Vec<Node>,
    /// The graph's streams. The nodes of one stream are in order.
    pub(super) streams: Vec<RawStream>,
    /// The event that is recorded before the first node, and by each stream after its last node.
    pub(super) border: RawEvent,
    /// Whether memory of a copy, a fill or a library's call was given back since the graph was
    /// made.
    pub(super) is_stale: bool,
}

impl Graph {
    /// Whether a copy, a fill or a library's call uses some of this memory.
    pub(super) fn names(&self, range: MemoryRange) -> bool {
        self.nodes.iter().any(|node| match &node.work {
            Work::Copy(copy) => copy.source.overlaps(range) || copy.target.overlaps(range),
            Work::Fill(filled, _) => filled.overlaps(range),
            // A library's call may copy and fill.
            Work::Library { takes, .. } => takes.touches.iter().any(|touch| touch.meets(range)),
            Work::Kernel { .. } | Work::Recycle(_) => false,
        })
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) stream: usize,
    /// The nodes on other streams that must come before this node.
    pub(super) after: SmallVec<[usize; 2]>,
    pub(super) work: Work,
    /// The event that is recorded after this node, if a node on another stream comes after it.
    pub(super) event: Option<RawEvent>,
}

#[derive(Debug, Clone)]
pub(super) enum Work {
    Kernel { function: u32, takes: Arguments },
    Library { body: LibraryBody, takes: Arguments },
    Copy(CopyOp),
    Fill(MemoryRange, u8),
    Recycle(MemoryRange),
}

/// The arguments of a body.
#[derive(Debug, Clone)]
pub(super) struct Arguments {
    pub(super) params: Box<[Param]>,
    touches: Box<[Touch]>,
    bytes: u64,
}

impl Arguments {
    pub(super) fn new(params: &[Param], accesses: &[Access]) -> Self {
        let touches = accesses.iter().map(Touch::of).collect();
        let bytes = accesses.iter().map(|access| access.range.bytes).sum();
        Self { params: params.into(), touches, bytes }
    }

    /// Passes the arguments to the next body of a stream.
    pub(super) fn give(&self, stream: &mut Stream) -> Takes {
        let takes = stream.take(&self.params, self.touches.iter().copied());
        Takes { bytes: self.bytes, ..takes }
    }
}
