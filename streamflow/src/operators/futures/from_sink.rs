//! `FromSink`: a source that an asynchronous task feeds.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_sink::Sink;

use super::PortItem;
use super::node::{PortNode, Waits};
use super::queue::{GraphEnd, Queue, State};
use crate::context::ExecutionContext;
use crate::error::{Error, failure};
use crate::operator::{Answer, Compute, Condition};
use streamflow_macros::operator;

/// A source that sends the messages that a task gives to its [`PortSink`], in the same order. Its node must have
/// `#[when(condition(numbers.arrived()))]`, for an operator `numbers`; without it, the run fails at its start. The
/// [module](super) has an example of a whole graph.
///
/// The node ends when the sink is closed or dropped and all its messages are sent. A node that ends before its run does, as by
/// `count(3)`, receives no more messages from the sink: a task that waits for room gets an error when the run has ended.
#[operator(no_new, unlisted)]
pub struct FromSink<M: PortItem> {
    /// The messages that the task has given to the sink.
    #[output]
    message: M,
    from: GraphEnd<M>,
}

impl<M: PortItem> FromSink<M> {
    /// Makes the source, for a graph, and the sink, for a task. `capacity` is how many messages may wait between the two.
    ///
    /// # Errors
    /// [`Error::Handle`] if the capacity is 0, or too large for the memory.
    #[track_caller]
    pub fn channel(capacity: usize) -> Result<(Self, PortSink<M>), Error> {
        let lost = "no run has taken them; before a run is stopped, await the sink's `close`";
        // The function for the end of a run adds nothing: messages that no run has received stay in the queue for the next run.
        let queue = Queue::new("PortSink", lost, capacity, |_| ())?;
        Ok((Self { from: GraphEnd(queue.clone()) }, PortSink(queue)))
    }

    /// Returns the condition that the source's node needs: it holds while a message of the task waits in the queue.
    pub fn arrived(&self) -> impl Condition + use<M> {
        let check = |state: &State<M>| match state.entries.is_empty() {
            false => Answer::Ready,
            true if state.is_closed => Answer::Never,
            true => Answer::Waiting,
        };
        let reasons = ["a message of its `PortSink`", "its `PortSink` is closed"];
        Waits { queue: self.from.0.clone(), check, reasons }
    }
}

#[diagnostic::do_not_recommend]
impl<M: PortItem> Compute for FromSink<M> {
    fn start(&mut self, _: Self::StreamNames<'_>, cx: &ExecutionContext) -> failure::Result<()> {
        NODE.start(&self.from.0, cx)
    }

    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> failure::Result<()> {
        match self.from.0.advance(|state| state.entries.pop_front()) {
            Some(message) => io.message.emit(message),
            None => Err(NODE.unmet(cx, "has a tick without a message")),
        }
    }
}

const NODE: PortNode = PortNode {
    is: "a `FromSink`",
    condition: "arrived()",
    without: "does not wait for its `PortSink`",
};

impl<M: PortItem> fmt::Debug for FromSink<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FromSink").field(&self.from).finish()
    }
}

/// The sink of a [`FromSink`]. A task may send to it before the run begins, as long as there is room.
///
/// `poll_ready` waits for room. `poll_flush` never waits and never fails, since a message that is queued needs no further work of
/// the task. `poll_close` closes the sink at its first call, and waits until the graph has received all messages. Dropping the
/// sink also closes it, without waiting.
///
/// After the end of a run, `poll_ready` and `start_send` return [`Error::SinkOver`] and accept no message, until a call such as
/// `spawn` makes the next run. After the graph was dropped, they always return this error. `poll_close` returns this error if
/// messages are left in the queue, with their number. The next run receives these messages first. If there is no next run, they
/// are dropped when the graph and the sink are dropped, and a warning in the log has their number and the call that made the
/// sink.
#[must_use = "the source ends when its sink is dropped"]
pub struct PortSink<M>(Arc<Queue<M>>);

impl<M> State<M> {
    fn closed() -> Error {
        let problem = "it is closed; send before `poll_close`";
        Error::Handle { handle: "PortSink", problem }
    }

    /// Returns whether the sink accepts messages now, or will when it has room. An error says why it does not.
    fn takes(&self) -> Result<(), Error> {
        match self.is_over() {
            _ if self.is_closed => Err(Self::closed()),
            true => Err(Error::SinkOver { left: self.entries.len() }),
            false => Ok(()),
        }
    }
}

impl<M> Sink<M> for PortSink<M> {
    type Error = Error;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll(cx, |state| match state.takes() {
            Ok(()) if state.is_full() => None,
            taken => Some(taken),
        })
    }

    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), Error> {
        let mut message = Some(message);
        let sent = self.0.change(|state| {
            let was_empty = state.entries.is_empty();
            let taken = state.takes().and_then(|()| {
                if state.is_full() {
                    let problem = "it is full; wait for `poll_ready` before each message";
                    return Err(Error::Handle { handle: "PortSink", problem });
                }
                state.entries.extend(message.take());
                Ok(())
            });
            // The node waits for a message only if the queue was empty, so only then wake the scheduler.
            (taken, was_empty)
        });
        // A message that was refused is dropped only now, after the lock was released.
        drop(message);
        sent
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        // An error here would tell a `send` that its message was refused, although the message is in the queue.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.close();
        self.0.poll(cx, |state| match state.entries.len() {
            0 => Some(Ok(())),
            left => state.is_over().then_some(Err(Error::SinkOver { left })),
        })
    }
}

impl<M> Drop for PortSink<M> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<M> fmt::Debug for PortSink<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
