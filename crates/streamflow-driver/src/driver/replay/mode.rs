//! The state of a pass, and what happens to the calls of a segment.

use crate::driver::passes::PassDone;

/// The pass of a thread.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) thread: u64,
    pub(super) mode: Mode,
    pub(super) done: PassDone,
}

/// What happens to the calls of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are held back: they are those of the trace at the cursor so far.
    Follow,
    /// They are held back, and are those of no lane: the end of the segment makes one.
    Gather,
    /// They are sent, and kept to be compared.
    Keep,
    /// They are sent.
    Send,
}

impl Mode {
    /// Whether calls are held back.
    pub(super) fn holds(self) -> bool {
        matches!(self, Self::Follow | Self::Gather)
    }
}

/// What the caller does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Held,
    /// It is sent now.
    Send,
}
