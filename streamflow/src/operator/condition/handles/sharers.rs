//! Counts the owners of a handle's state: the handles, and the conditions of nodes.
//!
//! # Invariants
//!
//! 1. A thread that sees that a condition has existed also sees that condition in the count, unless it was removed.
//! 2. A thread that reads that no handle exists sees all that was done through the handles.

use crate::driver::Listeners;
use crate::sync::{AtomicUsize, Ordering};

/// The counts of the handles and of the conditions that share one state.
#[derive(Debug)]
pub(super) struct Sharers {
    handles: AtomicUsize,
    /// Twice the number of conditions, plus 1 once any condition has existed: one atomic word has these two facts.
    conditions: AtomicUsize,
    pub(super) listeners: Listeners,
}

impl Sharers {
    /// Creates the counts for the first handle: one handle, no conditions.
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

    /// Counts one handle fewer. Dropping the last handle wakes the schedulers, since no handle can permit their nodes to run any
    /// more.
    pub(super) fn remove_handle(&self) {
        if self.handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.listeners.raise();
        }
    }

    /// Returns whether all handles were dropped.
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

    /// Returns whether conditions have existed and all of them were removed.
    pub(super) fn is_left(&self) -> bool {
        self.conditions.load(Ordering::Relaxed) == 1
    }
}
