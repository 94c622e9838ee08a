//! Ports: what an operator sees of its edges during one tick.
//!
//! [`In`] and [`Out`] change their type as they are used, so that a wrong order of calls does not
//! compile: a message is received before its stream is, its device data is out of reach before its
//! stream was received, and a message is emitted once, on a stream that was chosen before. The types
//! vanish: a port is as large as the pointers in it.

mod connect;
mod edge_copy;
mod ends;
mod info;
mod input;
mod outlet;
mod output;
mod states;
mod stream_policy;
#[cfg(test)]
mod tests;
#[cfg(streamflow_zero_cost)]
pub mod zero_cost;

pub use crate::context::{StreamRef, Synchronized};
pub use crate::message::{
    CarriesStream, EdgeOptions, Inlet, Many, Owned, Plain, Policy, Read, Reads, Receive,
    ReceiveEach, Shares, Takes,
};
pub use connect::{
    Accepts, Awaited, AwaitedTarget, Edge, EdgeSource, EdgeTarget, Feeds, begin, connect,
    connect_copy, connect_shared, connect_transfer, discard, edge, when_stream_done,
};
pub use edge_copy::{CopyOnEdge, CopyPart, CopyParts, MadeOf, Parts, TransferOnEdge};
pub use ends::{Ports, ReceivingEnd, SendingEnd};
pub use info::{InputPort, OutputPort, PortInfo, PortSize};
pub use input::{In, Input};
pub use outlet::Outlet;
pub use output::{Initial, Internal, On, Out, Output, Sends, Unchosen, Unset};
pub use states::{
    HasMessage, MayMiss, Open, Pending, Received, StreamReady, Unreceived, Unsynchronized,
};
pub use stream_policy::{Adopted, Allocated, AllocatedOrAdopted, FindStream, OrDefault, ToDefault};
