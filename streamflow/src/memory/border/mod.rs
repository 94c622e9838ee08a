//! The fields that blocks and pools have for memory of other code, and the parts from which [`foreign`](super::foreign)
//! builds the exchange. Pools use only this module, and not `foreign`.

pub(crate) mod counts;
pub(crate) mod list;
pub(crate) mod task;

use std::sync::Arc;

use self::list::List;
use self::task::Task;
use crate::sync::AtomicUsize;

pub use counts::{ForeignCounts, foreign_counts};

/// A value that keeps memory of other code alive. Dropping the value gives the memory back.
pub(crate) struct Owner(#[expect(dead_code, reason = "it is only dropped")] Box<dyn Send>);

impl Owner {
    pub(crate) fn new(owner: impl Send + 'static) -> Self {
        Self(Box::new(owner))
    }
}

/// The part of a pool that concerns other code.
#[derive(Default)]
pub(crate) struct Border {
    /// Memory that other code had and has returned.
    pub(crate) lent: List<Box<dyn Task>>,
    /// The number of queued host functions, on the reclaim stream, that have not given their memory back yet.
    pub(crate) returning: Arc<AtomicUsize>,
}
