//! A task that the reaper thread or a pool does later.

use super::counts::Count;
use super::list::Node;

/// Work that is done once, by the reaper thread or a pool.
pub(crate) trait Task: Send {
    /// Does the task. No lock is held. Returns the task if it must be tried again.
    fn execute(self: Box<Self>) -> Option<Box<dyn Task>>;

    /// The count that includes the memory of this task until the task is done.
    fn count(&self) -> Count;
}

/// An entry of a list of tasks.
pub(crate) type Entry = Node<Box<dyn Task>>;

/// The entry of a task.
pub(crate) fn entry(task: impl Task + 'static) -> Box<Entry> {
    Node::new(Box::new(task))
}
