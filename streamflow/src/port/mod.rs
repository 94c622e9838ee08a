//! Ports: the inputs and outputs of operators, and the edges between them.
//!
//! [`In`] and [`Out`] are the ports in one tick. Each call on a port changes the port's type, so a wrong order of calls does not
//! compile. A message is received before its stream, and its device data can be used only with that stream. A message is emitted
//! once, on a stream that was chosen before. The types cost nothing: a port is as large as the pointers in it. The
//! [glossary](crate::guide::glossary#an-input-and-an-output) lists the names of ports.
//!
//! # How a message travels
//!
//! The steps from [`emit`](Out::emit) to the consumer's [`receive_cuda_stream`](In::receive_cuda_stream), by file:
//!
//! 1. `port/output.rs`: `Out::emit` finds the stream on which to send, and passes the message to its `Outlet`.
//! 2. `port/outlet.rs`: `Outlet::emit` makes that stream wait for all work that wrote the message (`message/visit.rs`). Then it
//!    stores the message in an `Envelope` (`message/payload.rs`), with the *point* on the stream at which the message's data is
//!    ready.
//! 3. `operator/runner/tick.rs`: when the operator's `compute` has returned, `NodeRunner::tick` records an event on each stream
//!    that the operator used (`close` in `context/own_streams.rs`; a graph with only one stream needs no event). After that it
//!    publishes: `Outlet::publish` pushes the message to the queues of its edges (`message/queue.rs`). After an error in
//!    `compute` it drops the message instead.
//! 4. `schedule/greedy.rs`: the scheduler finds that the consumer is ready, since its inputs have messages (`can_run` in
//!    `operator/runner/tick.rs`), and calls the consumer's tick. `Parts::compute` in `operator/node.rs` calls the operator's
//!    `__streamflow_io`, which makes an `In` of each `Input`. `#[operator]` generates that function
//!    (`streamflow-macros/src/operator/expand.rs`).
//! 5. `port/input.rs`: `In::receive` takes the message from the queue (`message/inlet.rs`).
//! 6. `port/input.rs`: `In::receive_cuda_stream` passes the point to `receive_stream` in `context/streams.rs`, which makes the
//!    consumer's internal stream wait for the point. `stream/order.rs` decides whether this wait needs a call of the driver, and
//!    with which event. After that, `message/receive.rs` opens the data as the type that the input declares.
//!
//! # Why one wait per message is enough
//!
//! The consumer's stream waits for one record per message, even if several streams wrote the message:
//!
//! - On emit, the stream on which the message is sent comes after all writers of the message: `Out::emit` → `message::order` →
//!   `block.order(Read)`. The message's point is taken after that (step 2). The point is recorded when the hook ends, and the
//!   message is sent only then (step 3). So the record covers all writes.
//! - On receive, the consumer's stream waits for that record (step 6). So the consumer's work comes after all writes.
//! - A consumer that only reads the message needs no other wait. A consumer that takes the message and writes to it must also
//!   come after other reads of it: by earlier consumers, or by the producer. The launch that writes waits for these reads:
//!   `memory::access::queue` calls `block.order(Write)`.

pub(crate) mod array;
pub(crate) mod connect;
pub(crate) mod edge_copy;
pub(crate) mod ends;
pub(crate) mod exported;
pub(crate) mod info;
pub(crate) mod input;
pub(crate) mod interface;
pub(crate) mod lend;
pub(crate) mod outlet;
pub(crate) mod output;
pub(crate) mod outside;
pub(crate) mod states;
pub(crate) mod stream_policy;
#[cfg(test)]
mod tests;
#[cfg(streamflow_zero_cost)]
#[doc(hidden)]
pub mod zero_cost;

pub use crate::message::receive::{Many, Receive};
pub(crate) use ends::{Ports, ReceivingEnd, SendingEnd};
pub(crate) use info::{InputPort, OutputPort, PortInfo, PortSize};
pub use input::In;
pub(crate) use input::Input;
pub(crate) use output::Output;
pub use output::{On, Out, Unset};
pub use states::{Pending, Received};
