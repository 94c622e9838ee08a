//! Tasks that a thread adds to a list, and that the reaper thread or a pool executes later.

use super::counts::Count;
use super::list::Node;

/// Work that the reaper thread or a pool executes once.
pub(crate) trait Task: Send {
    /// Executes the task. The caller holds no lock. Returns the task if it must be tried again.
    fn execute(self: Box<Self>) -> Option<Box<dyn Task>>;

    /// The count that includes the memory of this task until the task is done.
    fn count(&self) -> Count;
}

/// An entry of a list of tasks.
pub(crate) type Entry = Node<Box<dyn Task>>;

/// Creates the list entry of a task.
pub(crate) fn entry(task: impl Task + 'static) -> Box<Entry> {
    Node::new(Box::new(task))
}
