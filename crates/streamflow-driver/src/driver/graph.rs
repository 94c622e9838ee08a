//! Graphs in the form that a driver takes: work with explicit edges, made once and launched by one call.

use super::{CopyOp, Launch, LibraryCall, MemoryRange, RawGraph};

/// A node of a graph: its work, and the nodes that it comes after.
#[derive(Debug, Clone, Copy)]
pub struct GraphNode<'a> {
    /// The work of the node.
    pub work: GraphWork<'a>,
    /// The indices of earlier nodes that must have executed before this node.
    pub after: &'a [u32],
}

/// The work of a graph's node, with parameters that never change, except a kernel launch's by `set_graph_kernel`.
#[derive(Debug, Clone, Copy)]
pub enum GraphWork<'a> {
    /// A kernel launch, as [`Driver::launch`](super::Driver::launch).
    Launch(Launch<'a>),
    /// A copy, as [`Driver::copy`](super::Driver::copy), of a kind that doesn't block the host, and within one device.
    Copy(CopyOp),
    /// A fill, as [`Driver::fill`](super::Driver::fill).
    Fill {
        /// The memory.
        range: MemoryRange,
        /// The value that is written to each byte.
        byte: u8,
    },
    /// A change of owner, as [`Observer::recycle`](super::Observer::recycle).
    Recycle {
        /// The memory.
        range: MemoryRange,
    },
    /// The work of a library's call, captured while the graph is made. The body for a device is called once, with a stream
    /// that is being captured. A body that queues nothing on that stream is an error.
    Library(&'a LibraryCall<'a>),
    /// The work of another graph, as one node. The other graph may be destroyed afterwards.
    Graph(RawGraph),
}
