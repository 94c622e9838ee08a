//! The state that the parameters of a node share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::log::ParamChanges;

/// The state that the parameters of a node share.
#[derive(Debug)]
pub(super) struct NodeState {
    /// The node's name in its graph.
    pub(super) node: String,
    /// Whether a parameter was set since the node last called `begin_taking`. A thread that sets a value stores the value before
    /// this flag, and the node resets the flag before it reads the values, so the node misses no value.
    changed: AtomicBool,
    /// Whether the node was dropped, together with its graph.
    dropped: AtomicBool,
    /// The values that the run has taken over. A thread has the lock while it sets several parameters at once, and the node while
    /// it reads the new values. No code of the user is called under the lock.
    pub(super) changes: Mutex<ParamChanges>,
}

impl NodeState {
    pub(super) fn new(node: &str) -> Self {
        Self {
            node: node.to_owned(),
            changed: AtomicBool::new(false),
            dropped: AtomicBool::new(false),
            changes: Mutex::default(),
        }
    }

    pub(super) fn mark_changed(&self) {
        self.changed.store(true, Ordering::Release);
    }

    /// Whether a parameter was set since the last [`begin_taking`](Self::begin_taking).
    #[inline]
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Resets the flag. The node calls this before it reads the values, so a value that is set during the reads sets the flag
    /// again.
    pub(super) fn begin_taking(&self) {
        self.changed.swap(false, Ordering::Acquire);
    }

    pub(super) fn mark_dropped(&self) {
        self.dropped.store(true, Ordering::Release);
    }

    pub(super) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }
}
