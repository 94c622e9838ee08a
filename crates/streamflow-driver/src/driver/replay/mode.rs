//! The state of a pass, and the treatment of a segment's calls.

use crate::driver::passes::PassDone;

/// A pass that is under way, and the thread that makes its calls.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) thread: u64,
    pub(super) mode: Mode,
    pub(super) done: PassDone,
}

/// How the calls of a segment are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Calls are held back: so far they equal the first calls of the trace at the cursor.
    Follow,
    /// Calls are held back, and no lane's trace equals them: the end of the segment makes a lane of them.
    Gather,
    /// Calls are sent, and stored as a trace that later segments are compared with.
    Keep,
    /// Calls are sent.
    Send,
}

impl Mode {
    /// Whether calls are held back.
    pub(super) fn holds(self) -> bool {
        matches!(self, Self::Follow | Self::Gather)
    }
}

/// What the caller of a call must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Held,
    /// The caller sends the call now.
    Send,
}
