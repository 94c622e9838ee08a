//! The operators at the ports of a graph. They emit messages from Python, and pass messages to Python.
//!
//! These operators call no code of Python, so a graph never waits for the interpreter lock. An operator in Python is code between
//! two ports. [`FlushToPython`] tells this code when its inputs have ended.

use std::fmt;
use std::sync::Arc;

use streamflow::context::Waker;
use streamflow::message::{Device, Value};
use streamflow::operator::{Answer, Condition};
use streamflow::port::Receive;
use streamflow::prelude::*;
use streamflow::stream::Point;
use streamflow::time::Timestamp;

use super::queue::Queue;

/// A message that a Python program has pushed.
pub(crate) struct Pushed<M> {
    pub(crate) message: M,
    pub(crate) metadata: Vec<(String, Value)>,
    pub(crate) sequence: Option<u64>,
}

/// A message that a Python program can take.
pub(crate) struct Taken<M: Message> {
    pub(crate) message: Shared<M>,
    /// The point at which the message's work is complete.
    pub(crate) ready: Point,
    pub(crate) metadata: Vec<(String, Value)>,
    pub(crate) sequence: Option<u64>,
}

/// An input of a graph, to which Python pushes messages of type `M`. [`export!`](crate::export) makes the input and passes it to
/// the graph. The graph must have a node with the operator [`operator`](Self::operator) and the condition [`ready`](Self::ready).
pub struct InputPort<M> {
    pub(crate) queue: Arc<Queue<Pushed<M>>>,
}

/// An output of a graph, from which Python takes messages of type `M`. [`export!`](crate::export) makes the output and passes it
/// to the graph. The graph must have a node with the operator [`operator`](Self::operator) and the condition
/// [`room`](Self::room).
pub struct OutputPort<M: Message> {
    pub(crate) queue: Arc<Queue<Taken<M>>>,
}

impl<M> Clone for InputPort<M> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone() }
    }
}

impl<M: Message> Clone for OutputPort<M> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone() }
    }
}

impl<M> InputPort<M> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { queue: Arc::new(Queue::new(capacity)) }
    }
}

impl<M: Message> OutputPort<M> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { queue: Arc::new(Queue::new(capacity)) }
    }
}

impl<M> InputPort<M>
where
    M: Message<Place = Device> + for<'t> Receive<'t, Message = M>,
{
    /// Returns the operator that emits the messages pushed by Python at its output `message`.
    pub fn operator(&self) -> FromPython<M> {
        FromPython { ends: Ends(self.queue.clone()) }
    }
}

impl<M: Message + Sync> InputPort<M> {
    /// Returns the condition for the node of [`operator`](Self::operator): `#[when(condition(x.ready()))]`. The condition holds
    /// while a message waits, and never again once the program has closed the port and all messages were emitted.
    pub fn ready(&self) -> impl Condition + use<M> {
        HasEntry(self.queue.clone())
    }
}

impl<M: Message<Place = Device>> OutputPort<M> {
    /// Returns the operator that passes the messages at its input `message` to Python.
    pub fn operator(&self) -> ToPython<M> {
        ToPython { ends: Ends(self.queue.clone()) }
    }

    /// Returns an operator like [`operator`](Self::operator), for an operator in Python that holds messages back. When all nodes
    /// before this node have ended, the program learns that: `for tensor in graph.y` ends, although the run goes on. The program
    /// then sends the messages that it has held back.
    ///
    /// The node has a [`Flush`], so the report [counts](streamflow::schedule::NodeReport::flush_ticks) one tick of `flush` for
    /// it. If the run was stopped before that tick, the report [names](streamflow::schedule::NodeReport::unflushed) the node.
    pub fn flush_operator(&self) -> FlushToPython<M> {
        FlushToPython { ends: Ends(self.queue.clone()) }
    }

    /// Returns the condition for the node of [`operator`](Self::operator): `#[when(condition(y.room()))]`. The condition holds
    /// while the port has room for another message, and never again once the program has closed the port.
    pub fn room(&self) -> impl Condition + use<M> {
        HasRoom(self.queue.clone())
    }
}

/// A guard of a port's queue. When the graph stops or drops the operator, the guard tells the queue that the run has ended.
struct Ends<E>(Arc<Queue<E>>);

impl<E> Drop for Ends<E> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The operator that emits the messages which Python pushes, made by [`InputPort::operator`].
#[operator(no_new, unlisted, streams(emit))]
pub struct FromPython<M>
where
    M: Message<Place = Device> + for<'t> Receive<'t, Message = M>,
{
    /// The pushed messages.
    #[output]
    message: M,
    ends: Ends<Pushed<M>>,
}

#[diagnostic::do_not_recommend]
impl<M> Compute for FromPython<M>
where
    M: Message<Place = Device> + for<'t> Receive<'t, Message = M>,
{
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let Some(pushed) = self.ends.0.pop() else { return Err(no_condition("ready")) };
        let stream = cx.allocate_cuda_stream(io.emit)?;
        let mut out = io.message;
        if let Some(number) = pushed.sequence {
            out = out.sequence(number);
        }
        // Python wrote the message on the stream of its Python port. `emit_with` orders `stream` after that work.
        out.set_cuda_stream(&stream).emit_with(pushed.message, |metadata| {
            for (name, value) in pushed.metadata {
                metadata.set(name, value);
            }
        })
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.ends.0.end();
        // The messages that were not emitted are dropped, so that their memory returns to its owners. The port counts them.
        self.ends.0.give_up();
        Ok(())
    }
}

/// Passes the message of a tick to Python. This is a macro, since the inputs of `ToPython` and `FlushToPython` differ in type.
macro_rules! hand_over {
    ($input:expr, $ends:expr, $cx:expr) => {{
        let received = $input.receive();
        let metadata = received.metadata();
        let sequence = metadata.and_then(|metadata| metadata.sequence());
        let values = metadata.into_iter().flat_map(|metadata| metadata.iter());
        let metadata = values.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let (message, stream) = received.receive_cuda_stream($cx)?;
        let ready = stream.record()?;
        let handed = $ends.0.hand_over(Taken { message, ready, metadata, sequence });
        handed.map_err(|_| no_condition("room"))
    }};
}

/// The operator that passes its messages to Python, made by [`OutputPort::operator`].
#[operator(no_new, unlisted)]
pub struct ToPython<M: Message<Place = Device>> {
    /// Messages that Python will take.
    #[input]
    message: Shared<M>,
    ends: Ends<Taken<M>>,
}

#[diagnostic::do_not_recommend]
impl<M: Message<Place = Device>> Compute for ToPython<M> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        hand_over!(io.message, self.ends, cx)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.ends.0.end();
        Ok(())
    }
}

/// The operator that passes its messages to Python, and then the end of its inputs, made by [`OutputPort::flush_operator`].
#[operator(no_new, unlisted, flush)]
pub struct FlushToPython<M: Message<Place = Device>> {
    /// Messages that Python will take.
    #[input]
    message: Shared<M>,
    ends: Ends<Taken<M>>,
}

#[diagnostic::do_not_recommend]
impl<M: Message<Place = Device>> Compute for FlushToPython<M> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        hand_over!(io.message, self.ends, cx)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.ends.0.end();
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<M: Message<Place = Device>> Flush for FlushToPython<M> {
    /// Tells the program that the inputs have ended. No message is left to send, since `compute` runs for each message.
    fn flush(&mut self, _: Self::FlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        self.ends.0.flushed();
        Ok(Flushed::Done)
    }
}

/// The error of a port's node that has run although its condition is missing.
fn no_condition(name: &str) -> Failure {
    Failure::msg(format!(
        "the node of a port has no condition that waits for Python; write `#[when(condition(port.{name}()))]` at it"
    ))
}

struct HasEntry<E>(Arc<Queue<E>>);

impl<E: Send + 'static> Condition for HasEntry<E> {
    fn check(&mut self, _: Timestamp) -> Answer {
        self.0.has_entry()
    }

    fn start(&mut self, waker: &Waker) {
        self.0.begin(waker);
    }

    fn reason(&self) -> String {
        "the Python program has not pushed a message".to_owned()
    }
}

struct HasRoom<E>(Arc<Queue<E>>);

impl<E: Send + 'static> Condition for HasRoom<E> {
    fn check(&mut self, _: Timestamp) -> Answer {
        self.0.has_room()
    }

    fn start(&mut self, waker: &Waker) {
        self.0.begin(waker);
    }

    fn reason(&self) -> String {
        "the Python program has not taken the last messages".to_owned()
    }
}

impl<M> fmt::Debug for InputPort<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputPort").finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for OutputPort<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputPort").finish_non_exhaustive()
    }
}
