//! The ports of a graph as a `Sink` and a `Stream` of asynchronous code, by the feature `futures`.
//!
//! [`FromSink`] is a source that a task feeds by a [`PortSink`], and [`IntoStream`] a node that passes its messages to
//! a task, by a [`PortStream`]. Sink and stream implement the traits of `futures-core` and `futures-sink`, so they run
//! in any executor, and the library needs no executor. Between a task and its node is a queue of a capacity that the
//! program chooses:
//!
//! - A task that finds the queue full waits, and the node wakes it. A node that finds it full waits as well, so a slow
//!   task slows its graph down: memory stays bounded. Each run that ends leaves a mark or two behind the messages of its
//!   stream, until the task has read this end.
//! - A message that is queued stays there until the other side takes it. A future that is dropped half-way, as by a time
//!   limit, loses no message that was queued; a `send` that was still waiting for room has its message itself, and drops
//!   it.
//! - Messages are moved. In the steady state neither side allocates.
//!
//! The graph runs on threads of its own: [`spawn`](crate::Spawn::spawn) makes them, and
//! [`ended`](crate::schedule::Running::ended) waits for the end of the run without blocking. Then
//! [`join`](crate::schedule::Running::join) has the result at once. An error of the run is in that result; a stream that it
//! has cut short ends with [`Error::StreamCut`](crate::Error::StreamCut), and a sink with
//! [`Error::SinkOver`](crate::Error::SinkOver), which has the number of messages that the run has not taken.
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

/// The messages of a [`FromSink`] and an [`IntoStream`]: any [`Message`] of host data that one owner has.
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
