//! The notes of blocks and pools about other code.

use std::sync::Arc;

use super::list::List;
use super::task::Task;
use crate::sync::AtomicUsize;

/// A value that keeps memory of other code alive. Dropping it gives the memory back.
pub(in crate::memory) struct Owner(
    #[expect(dead_code, reason = "it is only dropped")] Box<dyn Send>,
);

impl Owner {
    pub(super) fn new(owner: impl Send + 'static) -> Self {
        Self(Box::new(owner))
    }
}

/// The part of a pool that concerns other code.
#[derive(Default)]
pub(in crate::memory) struct Border {
    /// Memory that other code had, and that it has returned.
    pub(super) lent: List<Box<dyn Task>>,
    /// How many functions that give memory back are queued on the reclaim stream.
    pub(super) returning: Arc<AtomicUsize>,
}
