//! The ports of a graph as a `Sink` and a `Stream` of asynchronous code. This module needs the feature `futures`.
//!
//! [`FromSink`] is a source to which a task sends messages by a [`PortSink`]. [`IntoStream`] is a node that passes its messages
//! to a task, which reads them from a [`PortStream`]. The sink and the stream implement the traits of `futures-core` and
//! `futures-sink`, so they work in any executor, and the library needs none. Between a task and its node is a queue of a capacity
//! that the program chooses:
//!
//! - A task that finds the queue full waits until the node wakes it. A node that finds the queue full waits, too, so a slow task
//!   slows its graph down, and memory stays bounded. Each run that ends adds one or two entries behind the messages of its
//!   stream, which tell the task of the end and stay until the task has read them.
//! - A message that is queued stays in the queue until the other side removes it. Dropping a future half-way, as by a time limit,
//!   loses no queued message. The future of a `send` that was still waiting for room owns its message, and drops it.
//! - Messages are moved, not copied. Once the queue is made, neither the task nor the node allocates for a message.
//!
//! The graph runs on threads of its own, which [`spawn`](crate::Spawn::spawn) makes. [`ended`](crate::schedule::Running::ended)
//! waits for the end of the run without blocking a thread. After that, [`join`](crate::schedule::Running::join) returns the
//! result of the run at once. The result has the run's error, if it failed. A stream of a failed run ends with
//! [`Error::StreamCut`](crate::Error::StreamCut), and a sink with [`Error::SinkOver`](crate::Error::SinkOver), which has the
//! number of messages that the run has not received.
//!
//! ```
//! use std::pin::pin;
//! use std::task::{Context, Poll, Waker};
//!
//! use futures_core::Stream as _;
//! use futures_sink::Sink as _;
//! use streamflow::operators::futures::{FromSink, IntoStream};
//! use streamflow::prelude::*;
//!
//! # #[operator]
//! # struct Double {
//! #     #[input]
//! #     number: u64,
//! #     #[output]
//! #     doubled: u64,
//! # }
//! # impl Compute for Double {
//! #     fn compute(&mut self, io: DoubleIo<'_>, _: &ExecutionContext) -> Result<()> {
//! #         io.doubled.emit(2 * io.number.receive().into_data())
//! #     }
//! # }
//! graph! {
//!     struct Service(numbers: FromSink<u64>, doubles: IntoStream<u64>) {
//!         #[when(condition(numbers.arrived()))]
//!         let numbers: FromSink<u64> = numbers;
//!         let double: Double = Double::new();
//!         #[when(condition(doubles.has_room()))]
//!         let doubles: IntoStream<u64> = doubles;
//!         numbers.message >> double.number;
//!         double.doubled >> doubles.message;
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let (from, sink) = FromSink::channel(4)?;
//! let (to, stream) = IntoStream::channel(4)?;
//! let mut graph = Service::new(&Platform::host().build()?, from, to)?;
//!
//! // A program has an executor, and writes `sink.send(21).await?`: the example `tokio` is one. Here is what that calls.
//! let mut task = Context::from_waker(Waker::noop());
//! let (mut sink, mut stream) = (pin!(sink), pin!(stream));
//! assert!(matches!(sink.as_mut().poll_ready(&mut task), Poll::Ready(Ok(()))));
//! sink.as_mut().start_send(21)?;
//! assert!(sink.as_mut().poll_close(&mut task).is_pending());
//!
//! graph.run()?;
//! assert!(matches!(sink.as_mut().poll_close(&mut task), Poll::Ready(Ok(()))));
//! assert!(matches!(stream.as_mut().poll_next(&mut task), Poll::Ready(Some(Ok(42)))));
//! assert!(matches!(stream.as_mut().poll_next(&mut task), Poll::Ready(None)));
//! # Ok(())
//! # }
//! ```

use crate::message::{Host, Message, Receive, ReceiveEach};

mod from_sink;
mod into_stream;
mod node;
mod queue;

pub use from_sink::{FromSink, PortSink};
pub use into_stream::{IntoStream, PortStream};

/// Implemented for the messages that a [`FromSink`] or an [`IntoStream`] can have: each [`Message`] of host data with one owner.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't go between a task and a graph: it is not host data of one owner",
    label = "not a message of host data",
    note = "upload and download device data in operators, as `Vec<f32>`; put `#[derive(Message)]` on a struct, or wrap other host \
            data in `HostData<_>`"
)]
pub trait PortItem:
    Message<Place = Host, Item = Self> + for<'t> Receive<'t, Message = Self> + for<'t> ReceiveEach<'t>
{
}

#[diagnostic::do_not_recommend]
impl<M> PortItem for M where
    M: Message<Place = Host, Item = M> + for<'t> Receive<'t, Message = M> + for<'t> ReceiveEach<'t>
{
}
