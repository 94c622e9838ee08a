//! The state of a pass, and what happens to the calls of a segment.

use std::sync::Arc;

use super::lane::Lanes;
use super::report::PassDone;

/// The pass of a thread.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) thread: u64,
    pub(super) nodes: Arc<[Arc<str>]>,
    pub(super) mode: Mode,
    pub(super) done: PassDone,
}

/// What happens to the calls of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are held back: they are those of these lanes so far.
    Hold(Lanes),
    /// They are sent, and kept to be compared.
    Keep,
    /// They are sent.
    Send,
}

/// What the caller does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Held,
    /// It is sent now.
    Send,
}
