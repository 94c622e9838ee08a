//! `IntoStream`: a node that passes its messages to an asynchronous task.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::PortItem;
use super::node::{PortNode, Waits};
use super::queue::{GraphEnd, Queue, Run, State};
use crate::context::ExecutionContext;
use crate::error::{Error, failure};
use crate::operator::{Answer, Compute, Condition, Flush, Flushed};
use streamflow_macros::operator;

/// A node that passes its messages to a task, which reads them from a [`PortStream`]. The node must have
/// `#[when(condition(numbers.has_room()))]`, for an operator `numbers`; without it, the run fails at its start. The
/// [module](super) has an example of a whole graph.
///
/// A node that ends before its run does, as by `count(3)`, sends no more messages. The nodes before it go on. A task that waits
/// for a message is told of the end only when those nodes have ended, or the run has. When the stream is dropped, the node ends.
/// Messages that are left on the node's edge are in the report of the run, as for any node that has ended. Messages that are left
/// in the stream are dropped with the graph, and a warning in the log has their number and the call that made the stream.
#[operator(no_new, unlisted, flush)]
pub struct IntoStream<M: PortItem> {
    /// The messages that the node passes to the task.
    #[input]
    message: M,
    to: GraphEnd<Entry<M>>,
}

enum Entry<M> {
    Message(M),
    /// The end of a run: all entries before this one are of that run.
    End,
    /// The run was stopped, or has failed, before its end. An `End` follows.
    Cut,
}

impl<M: PortItem> IntoStream<M> {
    /// Makes the node, for a graph, and the stream, for a task. `capacity` is how many messages may wait between the two.
    ///
    /// # Errors
    /// [`Error::Handle`] if the capacity is 0, or too large for the memory.
    #[track_caller]
    pub fn channel(capacity: usize) -> Result<(Self, PortStream<M>), Error> {
        let lost = "no task has read them; read the stream to its end";
        let queue = Queue::new("PortStream", lost, capacity, cut)?;
        Ok((Self { to: GraphEnd(queue.clone()) }, PortStream(queue)))
    }

    /// Returns the condition that the node needs: it holds while the queue to the task has room for a message.
    pub fn has_room(&self) -> impl Condition + use<M> {
        let check = |state: &State<Entry<M>>| match state.is_full() {
            _ if state.is_closed => Answer::Never,
            true => Answer::Waiting,
            false => Answer::Ready,
        };
        let reasons = ["room in its `PortStream`", "its `PortStream` was dropped"];
        Waits { queue: self.to.0.clone(), check, reasons }
    }
}

/// Adds the entries `Cut` and `End` when a run ends in which the node was not flushed.
fn cut<M>(state: &mut State<Entry<M>>) {
    if state.run != Run::Flushed {
        state.mark(Entry::Cut);
        state.mark(Entry::End);
    }
}

#[diagnostic::do_not_recommend]
impl<M: PortItem> Compute for IntoStream<M> {
    fn start(&mut self, _: Self::StreamNames<'_>, cx: &ExecutionContext) -> failure::Result<()> {
        NODE.start(&self.to.0, cx)
    }

    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> failure::Result<()> {
        let mut message = Some(io.message.receive().into_data());
        self.to.0.advance(|state| {
            if !state.is_full() {
                state.entries.extend(message.take().map(Entry::Message));
            }
        });
        match message {
            None => Ok(()),
            Some(_) => Err(NODE.unmet(cx, "has a tick without room in its stream")),
        }
    }
}

const NODE: PortNode = PortNode {
    is: "an `IntoStream`",
    condition: "has_room()",
    without: "does not wait for room in its stream",
};

#[diagnostic::do_not_recommend]
impl<M: PortItem> Flush for IntoStream<M> {
    fn flush(&mut self, _: Self::FlushIo<'_>, _: &ExecutionContext) -> failure::Result<Flushed> {
        self.to.0.advance(|state| {
            state.mark(Entry::End);
            state.run = Run::Flushed;
        });
        Ok(Flushed::Done)
    }
}

impl<M: PortItem> fmt::Debug for IntoStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoStream").field(&self.to).finish()
    }
}

/// The stream of an [`IntoStream`]: it returns the messages in the order of the node's ticks.
///
/// The stream ends, with `None`, when the node has ended and all messages of the run were returned. If the run was stopped or has
/// failed, the stream first returns [`Error::StreamCut`]. The stream ends once for each run: after that, `poll_next` waits for
/// the messages of the next run. When the graph was dropped and all messages were returned, each call returns `None`.
///
/// `poll_next` removes a message from the queue only when it returns that message, so dropping a future of `next` loses no
/// message.
#[must_use = "the node ends when its stream is dropped"]
pub struct PortStream<M>(Arc<Queue<Entry<M>>>);

impl<M> Stream for PortStream<M> {
    type Item = Result<M, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut was_full = false;
        let next = self.0.poll(cx, |state| {
            was_full = state.is_full();
            let next = match state.entries.pop_front() {
                Some(Entry::Message(message)) => return Some(Some(Ok(message))),
                Some(Entry::Cut) => Some(Err(Error::StreamCut)),
                Some(Entry::End) => None,
                None => return (state.run == Run::Gone).then_some(None),
            };
            state.marks -= 1;
            Some(next)
        });
        if was_full {
            // The node waits for room only if the queue was full, so only then wake the scheduler.
            self.0.wake_scheduler();
        }
        next
    }
}

impl<M> Drop for PortStream<M> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<M> fmt::Debug for PortStream<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
