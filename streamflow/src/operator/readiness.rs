//! Whether a node can run, and what a tick has changed.

/// Whether a node can run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// The node can run.
    Ready,
    /// The node can run after an event outside of the graph: a stream reaches a point, a moment comes, or another thread changes
    /// something. The [`Waits`](super::Waits) have the event.
    Waiting,
    /// The operator or a condition lacks a message at an input, or room at an output.
    Blocked,
    /// A condition has dropped messages without a partner, and was not checked further. The producers of these messages may go
    /// on.
    Dropped,
    /// The node will not run again in this run.
    Done,
}

/// What the node did when the scheduler visited it. The type is as large as a pointer, so that a `Result` of a `Step` or a boxed
/// error returns in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Step {
    /// The node ran a tick that changed something, or it dropped messages.
    Changed,
    /// The node was not ready, or its tick changed nothing.
    Nothing,
    /// The node could run, but the run is paused or ending.
    Interrupted,
    /// The node could run, but the time of the run is over.
    TimeOver,
}

/// What a tick has changed. The type is as large as a pointer, for the same reason as [`Step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Progress {
    /// The tick received a message, sent one, or ended its node.
    Changed,
    /// The tick changed nothing. The next tick would do the same, unless another node changes something before it.
    Unchanged,
    /// The tick changed nothing, but the node runs without messages: it is a source, or it has a condition that lets it run
    /// without one. Only its operator can find out when it has something to send.
    Empty,
}
