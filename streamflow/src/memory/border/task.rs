//! Work that is done later, on the reaper thread or by a pool.

use super::counts::Count;
use super::list::Node;

/// A task that is done once, later.
pub(crate) trait Task: Send {
    /// Does the task. No lock is held. Returns the task if it must be tried again.
    fn execute(self: Box<Self>) -> Option<Box<dyn Task>>;

    /// The count that includes the task until it is done.
    fn count(&self) -> Count;
}

/// An entry of a list of tasks.
pub(crate) type Entry = Node<Box<dyn Task>>;

/// The entry of a task.
pub(crate) fn entry(task: impl Task + 'static) -> Box<Entry> {
    Node::new(Box::new(task))
}
