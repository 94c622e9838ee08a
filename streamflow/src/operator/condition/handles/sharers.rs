//! The number of owners of a handle's state: handles, and the conditions of graphs.
//!
//! # Invariants
//!
//! 1. A thread never sees that a condition has existed before it sees that condition.
//! 2. A thread that finds no handle left sees the effects of all of them.

use crate::driver::Listeners;
use crate::sync::{AtomicUsize, Ordering};

/// The handles and the conditions that share a state.
#[derive(Debug)]
pub(super) struct Sharers {
    handles: AtomicUsize,
    /// Twice the number of conditions, plus 1 as soon as there has been one: one word holds both facts.
    conditions: AtomicUsize,
    pub(super) listeners: Listeners,
}

impl Sharers {
    /// Creates the counts of a single handle.
    pub(super) fn new() -> Self {
        Self {
            handles: AtomicUsize::new(1),
            conditions: AtomicUsize::new(0),
            listeners: Listeners::default(),
        }
    }

    pub(super) fn add_handle(&self) {
        self.handles.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a handle that is dropped. Dropping the last handle wakes the schedulers: their nodes wait in vain.
    pub(super) fn remove_handle(&self) {
        if self.handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.listeners.raise();
        }
    }

    /// Whether all handles are dropped.
    pub(super) fn is_abandoned(&self) -> bool {
        self.handles.load(Ordering::Acquire) == 0
    }

    pub(super) fn add_condition(&self) {
        self.conditions.fetch_add(2, Ordering::Relaxed);
        self.conditions.fetch_or(1, Ordering::Relaxed);
    }

    pub(super) fn remove_condition(&self) {
        self.conditions.fetch_sub(2, Ordering::Relaxed);
    }

    /// Whether there were conditions and none of them is left.
    pub(super) fn is_left(&self) -> bool {
        self.conditions.load(Ordering::Relaxed) == 1
    }
}
