//! The node of a `FromSink` or an `IntoStream`: its condition, and the errors if the graph has no such condition at the node.

use std::sync::Arc;

use super::queue::{Queue, State};
use crate::context::{ExecutionContext, Waker};
use crate::error::{Failure, failure};
use crate::operator::{Answer, Condition};
use crate::time::Timestamp;

/// The texts about a kind of node, for errors.
pub(super) struct PortNode {
    /// The name of the operator's type, with its article.
    pub(super) is: &'static str,
    /// The call that makes the condition that the node needs.
    pub(super) condition: &'static str,
    /// What is wrong with a node without `condition`, for the error text.
    pub(super) without: &'static str,
}

impl PortNode {
    /// Checks, at the start of a node, that its condition has begun the run of the queue.
    ///
    /// # Errors
    /// An error if the node does not have the condition of this queue.
    pub(super) fn start<T>(&self, queue: &Queue<T>, cx: &ExecutionContext) -> failure::Result<()> {
        queue.has_begun().then_some(()).ok_or_else(|| self.unmet(cx, self.without))
    }

    #[cold]
    pub(super) fn unmet(&self, cx: &ExecutionContext, problem: &str) -> Failure {
        let (node, Self { is, condition, .. }) = (cx.node(), self);
        Failure::msg(format!(
            "`{node}` {problem}: it is {is}, so write `#[when(condition({node}.{condition}))]` at it, where `{node}` is the \
             operator"
        ))
    }
}

/// The condition of a `FromSink` or an `IntoStream`. It tells the queue when a run begins and ends.
pub(super) struct Waits<T> {
    pub(super) queue: Arc<Queue<T>>,
    pub(super) check: fn(&State<T>) -> Answer,
    /// The reason why the node waits, and the reason why it has ended because the task's end of the queue is closed.
    pub(super) reasons: [&'static str; 2],
}

impl<T: Send + 'static> Condition for Waits<T> {
    fn check(&mut self, _: Timestamp) -> Answer {
        self.queue.look(|state| (self.check)(state))
    }

    fn announced(&mut self) {
        self.queue.announce_run();
    }

    fn start(&mut self, waker: &Waker) {
        self.queue.begin_run(waker);
    }

    fn stop(&mut self) {
        self.queue.end_run();
    }

    fn reason(&self) -> String {
        let is_closed = self.queue.look(|state| state.is_closed);
        self.reasons[usize::from(is_closed)].to_owned()
    }
}
