//! An executable graph of the simulator, and its parts.

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
    /// The graph's streams. Nodes on one stream execute in their order in `nodes`.
    pub(super) streams: Vec<RawStream>,
    /// An event that a launch records on its stream before the first node, and then on each of the graph's streams after the
    /// last node there.
    pub(super) border: RawEvent,
    /// Whether any memory that a copy, a fill or a library's call of the graph uses was given back since the graph was made.
    pub(super) is_stale: bool,
}

impl Graph {
    /// Whether a copy, a fill or a library's call of the graph uses memory in `range`.
    pub(super) fn names(&self, range: MemoryRange) -> bool {
        self.nodes.iter().any(|node| match &node.work {
            Work::Copy(copy) => copy.source.overlaps(range) || copy.target.overlaps(range),
            Work::Fill(filled, _) => filled.overlaps(range),
            // A library's call may consist of copies and fills, so all its accesses count.
            Work::Library { takes, .. } => takes.touches.iter().any(|touch| touch.meets(range)),
            Work::Kernel { .. } | Work::Recycle(_) => false,
        })
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) stream: usize,
    /// The indices of the nodes on other streams that must execute before this node.
    pub(super) after: SmallVec<[usize; 2]>,
    pub(super) work: Work,
    /// The event that a launch records after this node; `None` if no node on another stream comes after this node.
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

/// The arguments of a body in a graph, copied to the stream's queues at each launch.
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

    /// Copies the arguments to the queues of a stream, for the body that is queued next.
    pub(super) fn give(&self, stream: &mut Stream) -> Takes {
        let takes = stream.take(&self.params, self.touches.iter().copied());
        Takes { bytes: self.bytes, ..takes }
    }
}
