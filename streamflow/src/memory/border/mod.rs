//! The parts of blocks and pools that concern memory of other code: owners, lists of tasks, and counts. The module
//! [`foreign`](super::foreign) builds the exchange of memory from these. Pools use only this module, and not `foreign`.

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
    /// The list of lent memory that other code has returned and the pool has not taken back yet.
    pub(crate) lent: List<Box<dyn Task>>,
    /// The number of host functions on the reclaim stream that are queued and have not passed their owner to the reaper yet.
    pub(crate) returning: Arc<AtomicUsize>,
}
