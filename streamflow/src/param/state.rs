//! The state that the parameters of a node share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::log::ParamChanges;

/// The state that the parameters of a node share.
#[derive(Debug)]
pub(super) struct NodeState {
    /// The node's name in its graph.
    pub(super) node: String,
    /// Whether a parameter was set since the node last looked. The flag is stored after the value and read before it,
    /// so no value is missed.
    changed: AtomicBool,
    /// Whether the node was dropped, with its graph.
    dropped: AtomicBool,
    /// The values that the run has taken over. The lock is held by a thread that sets several parameters at once, and
    /// by the node while it finds them. No code of the user is called under it.
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

    /// Whether a parameter was set since [`begin_taking`](Self::begin_taking).
    #[inline]
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Resets the flag, before the values are read: values that are set from now on raise it again.
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
