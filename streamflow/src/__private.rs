//! For the code that the macros write, and not for programs: any version may change these items.
//!
//! The items are hidden, and the module is not: rustc writes an item of a hidden module with its path in each message.
//!
//! An item that the documentation hides has no public path but the one here, as `.ci/items.py` checks, so no expansion can
//! name it by another. An item that several macros need is in the group of the first.

mod version;

// Every macro checks the version.
#[doc(hidden)]
pub use crate::__streamflow_version as version;

// `#[derive(Message)]`, for the messages of `#[operator]` too.
#[doc(hidden)]
pub use crate::message::{
    Description,
    inlet::Inlet,
    named::{FromTensors, Tensors},
    owners::{Owned, Sole},
    payload::Payload,
    place::{Host, Place},
    receive::{Many, Receive, ReceiveEach},
    travels::Message,
    visit::MemoryVisitor,
};
#[doc(hidden)]
pub use crate::port::edge_copy::{Either, FieldList, Fields, Neither};
#[doc(hidden)]
pub use crate::{Error, HostData, Shared, Tensor};

// `#[operator]`: ports, the hooks' arguments, the checks of written types, parameters.
#[doc(hidden)]
pub use crate::context::StreamName;
#[doc(hidden)]
pub use crate::message::owners::{Reads, Shares, Takes};
#[doc(hidden)]
pub use crate::operator::checked::{
    Argument, Checked, FieldType, Fits, HostDataOf, IsElement, IsMessage, IsOpenMessage, Otherwise,
    PortOf, State,
};
#[doc(hidden)]
pub use crate::operator::{Operator, node::Node};
#[doc(hidden)]
pub use crate::param::{
    cell::ParamCell,
    graph::NoParams,
    limits::Limits,
    node::{Exchange, OperatorParams, ParamMaker},
};
#[doc(hidden)]
pub use crate::port::{
    In, Out, Unset,
    ends::{Ports, ReceivingEnd, SendingEnd},
    info::{InputPort, OutputPort, PortInfo, PortSize},
    input::Input,
    output::Output,
};
#[doc(hidden)]
pub use crate::{Compute, Element, ExecutionContext, Flush, Flushed, Result};

// `graph!`: the struct and its run, nodes, edges, conditions, the checks of `graph::check`.
#[doc(hidden)]
pub use crate::context::single_stream::SingleStream;
#[doc(hidden)]
pub use crate::graph::check::{
    EdgeEnd, check_devices, check_green, check_host_done, check_pool, check_pool_use, check_second,
    check_sizes, check_streams, check_transfer, check_worker, verify_devices, verify_green,
    verify_pool, verify_streams,
};
#[doc(hidden)]
pub use crate::graph::connected::{GraphPorts, NodePorts, check_inputs, check_outputs};
#[doc(hidden)]
pub use crate::graph::plan::assign::finish;
#[doc(hidden)]
pub use crate::graph::{
    Graph,
    state::{GraphParts, RunState},
};
#[doc(hidden)]
pub use crate::memory::Allocator;
#[doc(hidden)]
pub use crate::message::QueuePolicy;
#[doc(hidden)]
pub use crate::message::queue::EdgeOptions;
#[doc(hidden)]
pub use crate::operator::condition::{AsyncHandle, BooleanHandle, Conditions, make as when};
#[doc(hidden)]
pub use crate::operator::{
    any_node::AnyNode,
    checked::{CheckedNode, exists},
    factory::{OperatorFactory, clone_for_restart},
    node::{any_node, evaluate, in_own_frame, not_made, ports, restarting},
    options::{NodeOptions, NodeStreams},
    recovery::OnFailure,
};
#[doc(hidden)]
pub use crate::param::graph::GraphParams;
#[doc(hidden)]
pub use crate::port::connect::{
    begin, connect, connect_copy, connect_shared, connect_transfer, discard, edge, when_message,
    when_room, when_stream_done,
};
#[doc(hidden)]
pub use crate::schedule::calls::{end_run, run, run_for, tick};
#[doc(hidden)]
pub use crate::schedule::{Report, RunFor, Stepped};
#[doc(hidden)]
pub use crate::stream::StreamPool;
#[doc(hidden)]
pub use crate::{CudaStreamPool, Failure, Platform, device};

// `#[kernel]`.
#[doc(hidden)]
pub use crate::kernel::expansion::{Shown, requirement, scalar, slice, slice_mut, strided};
#[doc(hidden)]
pub use crate::kernel::{
    Kernel,
    axes::Axes,
    coverage::Coverage,
    info::{KernelInfo, ParamInfo, ParamKind},
    passing::Passing,
    registered::{KERNELS, Registered},
};
#[doc(hidden)]
pub use crate::memory::{DeviceSlice, Scalar, TensorView, TensorViewMut};
#[doc(hidden)]
pub use linkme;
#[doc(hidden)]
pub use streamflow_driver::driver::HostArgs;

// No macro: the bounds and the arguments of the items above. Beside them, rustc's texts name these by their last part.
#[doc(hidden)]
pub use crate::message::owners::Several;
#[doc(hidden)]
pub use crate::message::place::{CarriesStream, Plain};
#[doc(hidden)]
pub use crate::message::receive::Read;
#[doc(hidden)]
pub use crate::port::connect::{
    Accepts, Awaited, AwaitedSource, AwaitedTarget, Edge, EdgeSource, EdgeTarget, Feeds,
};
#[doc(hidden)]
pub use crate::port::edge_copy::{CopyFields, CopyOnEdge, CopyPart, TransferOnEdge};
#[doc(hidden)]
pub use crate::port::outlet::Outlet;
#[doc(hidden)]
pub use crate::port::output::{Initial, Sends, Unchosen};
#[doc(hidden)]
pub use crate::port::states::{HasMessage, MayMiss, Open, StreamReady, Unreceived, Unsynchronized};
#[doc(hidden)]
pub use crate::port::stream_policy::{
    Adopted, Allocated, AllocatedOrAdopted, FindStream, OrDefault, ToDefault,
};
#[doc(hidden)]
pub use crate::schedule::running::{OwnedGraph, SpawnBorrowed};

// No macro: the tests of this workspace see by these inside.
#[doc(hidden)]
pub use crate::kernel::launched::kernels;
#[doc(hidden)]
pub use crate::library::claims::{TakeClaim, take_claims_by};
#[doc(hidden)]
pub use crate::operators::{
    convolve_2d::convolve_2d, normalize::normalize, reduce::sum_rows, resample::resample,
    window::multiply_rows,
};
