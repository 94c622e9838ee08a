//! Whether a node can run, and what it changed when it ran.

/// Whether a node can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// The node can run.
    Ready,
    /// The node can run when an event outside of the graph has happened: a stream has reached a point, a moment has come, or
    /// another thread has changed something. The [`Waits`](super::Waits) say what.
    Waiting,
    /// A message is missing at an input, or room at an output, for the operator or for a condition.
    Blocked,
    /// The node has dropped messages that have no partner, and did not look further. Their producers may go on.
    Dropped,
    /// The node will not run again.
    Done,
}

/// The outcome of a node's turn in a pass of the scheduler. It has the size of a pointer, so that a result of it and an
/// error in a box returns in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Step {
    /// The node has run, and changed something; or it has dropped messages.
    Changed,
    /// The node is not ready, or has run and changed nothing.
    Nothing,
    /// The node could run, but the run is paused or ends.
    Interrupted,
    /// The node could run, but the time of the run is over.
    TimeOver,
}

/// The change that a tick made. It has the size of a pointer, as [`Step`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Progress {
    /// The tick took a message, sent one, or ended its node.
    Changed,
    /// Nothing: the next tick would do the same, unless another node changes something.
    Unchanged,
    /// Nothing, but the node runs of its own accord: a source, or a node with a condition that lets it run without a
    /// message. Only its operator can find out when it has something to send.
    Empty,
}
