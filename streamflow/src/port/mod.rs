//! Ports: what an operator sees of its edges during one tick.
//!
//! [`In`] and [`Out`] change their type as they are used, so that a wrong order of calls does not
//! compile: a message is received before its stream is, its device data is out of reach before its
//! stream was received, and a message is emitted once, on a stream that was chosen before. The types
//! vanish: a port is as large as the pointers in it.

mod connect;
mod copy;
mod how;
mod inlet;
mod input;
mod outlet;
mod output;
mod queue;
mod receive;
mod stream_ref;
#[cfg(test)]
mod tests;
#[cfg(streamflow_zero_cost)]
pub mod zero_cost;

pub use connect::{
    Accepts, Awaited, AwaitedEnd, Edge, Feeds, InputEnd, InputPort, OutputEnd, OutputPort, Owned,
    PortInfo, Reads, Shares, Takes, begin, connect, connect_copy, connect_shared, connect_transfer,
    discard, edge, when_stream_done,
};
pub use copy::{CopyOnEdge, CopyPart, CopyParts, MadeOf, Parts, TransferOnEdge};
pub use how::{
    Adopted, Allocated, AllocatedOrAdopted, How, MayMiss, Open, OrDefault, ToDefault,
    Unsynchronized,
};
pub use inlet::{AnyInput, Handled, Inlet, PortSize, Supply};
pub use input::{HasMessage, In, Input, Pending, Received, StreamReady, Unreceived};
pub use outlet::{AnyOutput, Outlet, Ports};
pub use output::{Initial, Internal, On, Out, Output, Sends, Unchosen, Unset};
pub use queue::{EdgeOptions, Policy};
pub use receive::{CarriesStream, Many, Plain, Read, Receive, ReceiveEach};
pub use stream_ref::{StreamRef, Synchronized};
