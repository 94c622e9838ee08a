//! The node of a port: its condition, and the errors where a graph does not have it.

use std::sync::Arc;

use super::queue::{Queue, State};
use crate::context::{ExecutionContext, Waker};
use crate::error::{Failure, failure};
use crate::operator::{Answer, Condition};
use crate::time::Timestamp;

/// A kind of port, for errors.
pub(super) struct PortNode {
    /// The operator's type, with its article.
    pub(super) is: &'static str,
    /// The call that makes the condition of the node.
    pub(super) condition: &'static str,
    /// The problem of a node without `condition`, for the error text.
    pub(super) without: &'static str,
}

impl PortNode {
    /// Starts a node, after its condition has begun the run of the queue.
    ///
    /// # Errors
    /// The node does not have that condition.
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

/// The condition of a port's node. The run of the queue begins and ends with it.
pub(super) struct Waits<T> {
    pub(super) queue: Arc<Queue<T>>,
    pub(super) check: fn(&State<T>) -> Answer,
    /// The reasons to wait, and to end since the task's side is closed.
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
