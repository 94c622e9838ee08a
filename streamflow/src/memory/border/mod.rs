//! The notes of blocks and pools about other code, and the parts of which [`foreign`](super::foreign) makes its exchange
//! with it: pools have these, and know nothing of that exchange.

pub(crate) mod counts;
pub(crate) mod list;
pub(crate) mod task;

use std::sync::Arc;

use self::list::List;
use self::task::Task;
use crate::sync::AtomicUsize;

pub use counts::{ForeignCounts, foreign_counts};

/// A value that keeps memory of other code alive. Dropping it gives the memory back.
pub(crate) struct Owner(#[expect(dead_code, reason = "it is only dropped")] Box<dyn Send>);

impl Owner {
    pub(crate) fn new(owner: impl Send + 'static) -> Self {
        Self(Box::new(owner))
    }
}

/// The part of a pool that concerns other code.
#[derive(Default)]
pub(crate) struct Border {
    /// Memory that other code had, and that it has returned.
    pub(crate) lent: List<Box<dyn Task>>,
    /// How many functions that give memory back are queued on the reclaim stream.
    pub(crate) returning: Arc<AtomicUsize>,
}
