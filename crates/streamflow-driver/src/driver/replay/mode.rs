//! The pass that is under way, and the mode in which the calls of a segment are treated.

use crate::driver::passes::PassDone;

/// A pass that is under way, with the number of the thread that makes its calls.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) thread: u64,
    pub(super) mode: Mode,
    pub(super) done: PassDone,
}

/// The treatment of a segment's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Calls are held back: so far they equal the first calls of the trace at the cursor.
    Follow,
    /// Calls are held back, though no lane's trace begins with them. The end of the segment makes a lane of them.
    Gather,
    /// Calls are sent, and also stored as a trace with which later segments are compared.
    Keep,
    /// Calls are sent, and not stored.
    Send,
}

impl Mode {
    /// Whether calls are held back in this mode.
    pub(super) fn holds(self) -> bool {
        matches!(self, Self::Follow | Self::Gather)
    }
}

/// The result of the slow path: whether the call is held back, or its caller must send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Held,
    /// The caller sends the call now.
    Send,
}
