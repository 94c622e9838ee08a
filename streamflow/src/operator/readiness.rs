//! The readiness of a node, and the change that a tick made.

/// Whether a node can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// The node can run.
    Ready,
    /// The node can run when an event outside of the graph has happened: a stream has reached a point, a moment has
    /// come, or another thread has changed something. The [`Waits`](super::Waits) name the event.
    Waiting,
    /// A message is missing at an input, or room at an output, for the operator or for a condition.
    Blocked,
    /// The node has dropped messages without a partner, and did not check further. The producers of these messages may go on.
    Dropped,
    /// The node will not run again.
    Done,
}

/// The outcome of a node's turn in a pass of the scheduler. Its size is that of a pointer: a `Result` of a `Step` or a
/// boxed error returns in registers.
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

/// The change that a tick made. Its size is that of a pointer, for the same reason as [`Step`]'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Progress {
    /// The tick took a message, sent one, or ended its node.
    Changed,
    /// The tick changed nothing: the next tick would do the same, unless another node changes something.
    Unchanged,
    /// The tick changed nothing, but the node runs of its own accord: it is a source, or has a condition that lets it
    /// run without a message. Only its operator can find out when it has something to send.
    Empty,
}
