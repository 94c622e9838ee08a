//! Graphs at the seam: work with explicit edges, made once and launched by one call.

use super::{CopyOp, Launch, LibraryCall, MemoryRange, RawGraph};

/// A node of a graph: some work, and the nodes that it comes after.
#[derive(Debug, Clone, Copy)]
pub struct GraphNode<'a> {
    /// What it does.
    pub work: GraphWork<'a>,
    /// The indices of earlier nodes that must have executed before.
    pub after: &'a [u32],
}

/// What a node of a graph does, with parameters that never change.
#[derive(Debug, Clone, Copy)]
pub enum GraphWork<'a> {
    /// As [`Driver::launch`](super::Driver::launch).
    Launch(Launch<'a>),
    /// As [`Driver::copy`](super::Driver::copy), of a kind that doesn't block the host, and within one device.
    Copy(CopyOp),
    /// As [`Driver::fill`](super::Driver::fill).
    Fill {
        /// The memory.
        range: MemoryRange,
        /// What is written to each byte.
        byte: u8,
    },
    /// As [`Observer::recycle`](super::Observer::recycle).
    Recycle {
        /// The memory.
        range: MemoryRange,
    },
    /// The work of a library's call, which is captured while the graph is made. The body for a device is called once, with a
    /// stream that is being captured. A body that queues nothing
    /// there is an error.
    Library(&'a LibraryCall<'a>),
    /// The work of another graph, which has one node. The other one may be destroyed afterwards.
    Graph(RawGraph),
}
