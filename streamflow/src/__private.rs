//! Items for the code that the macros write. Programs must not use them: any version may change them.
//!
//! The items are hidden in the documentation, and the module is not: in each message, rustc writes an item of a hidden module
//! with that module's path.
//!
//! An item that the documentation hides has no public path except the one in this module, as `.ci/items.py` checks. So the
//! macros' code can name it by no other path. An item that several macros need is listed with the first of them.

mod version;

// Every macro's code checks the version of this crate.
#[doc(hidden)]
pub use crate::__streamflow_version as version;

// For `#[derive(Message)]`, and for the messages of `#[operator]`.
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

// For `#[operator]`: ports, the arguments of hooks, the checks of types as the program writes them, parameters.
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
pub use crate::operator::declaration::{
    Declaration, DeclaredEdge, DeclaredEnd, DeclaredNode, DeclaredPort,
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

// For `graph!`: the struct and its run, nodes, edges, conditions, and the checks of `graph::check`.
#[doc(hidden)]
pub use crate::context::single_stream::SingleStream;
#[doc(hidden)]
pub use crate::error::type_name::short_type_name;
#[doc(hidden)]
pub use crate::graph::arrays::{
    ReachedPort, check_array, check_same_edge, check_second_of_array, length_of,
};
#[doc(hidden)]
pub use crate::graph::borders::{check_elements, check_second_border, check_second_output};
#[doc(hidden)]
pub use crate::graph::check::{
    EdgeEnd, check_adopting, check_border, check_devices, check_goes_on, check_green,
    check_host_done, check_one_node, check_pool, check_pool_use, check_second, check_sizes,
    check_streams, check_streams_inside, check_transfer, check_worker, verify_devices,
    verify_green, verify_pool, verify_streams,
};
#[doc(hidden)]
pub use crate::graph::connected::{GraphPorts, Named, NodePorts, check_inputs, check_outputs};
#[doc(hidden)]
pub use crate::graph::diagram::Diagram;
#[doc(hidden)]
pub use crate::graph::loops::{
    Turns, check_edges_of_loop, check_index, check_loop, check_one_turn,
};
#[doc(hidden)]
pub use crate::graph::plan::assign::finish;
#[doc(hidden)]
pub use crate::graph::reach::{Reach, Turning};
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
    array::{ArrayValue, array_values},
    checked::{CheckedNode, exists},
    factory::{OperatorFactory, clone_for_restart},
    inside::{Inside, Lent, store_made},
    node::{evaluate, in_own_frame, not_made},
    node_type::{
        GraphValue, MadeNode, NodeType, NotMadeOfItself, Restartable, RunsAsNode, list_nodes,
        ports, restarting,
    },
    options::{NodeOptions, NodeStreams},
    recovery::OnFailure,
};
#[doc(hidden)]
pub use crate::param::graph::GraphParams;
#[doc(hidden)]
pub use crate::port::array::element;
#[doc(hidden)]
pub use crate::port::connect::{
    begin, connect, connect_copy, connect_shared, connect_transfer, discard, edge, when_message,
    when_room, when_stream_done,
};
#[doc(hidden)]
pub use crate::port::exported::{
    Exported, ExportedInput, ExportedOutput, InnerEnd, edge_name, export, export_shared, import,
    import_shared,
};
#[doc(hidden)]
pub use crate::port::interface::{
    InterfaceInput, InterfaceOutput, Wiring, promise_input, promise_output,
};
#[doc(hidden)]
pub use crate::port::lend::lend;
#[doc(hidden)]
pub use crate::port::outside::VisitPorts;
#[doc(hidden)]
pub use crate::schedule::calls::{end_run, run, run_for, tick};
#[doc(hidden)]
pub use crate::schedule::{Report, RunFor, Stepped};
#[doc(hidden)]
pub use crate::stream::StreamPool;
#[doc(hidden)]
pub use crate::{CudaStreamPool, Failure, Platform, device};

// For `#[kernel]`.
#[doc(hidden)]
pub use crate::kernel::expansion::{
    Shown, requirement, scalar, slice, slice_mut, slice_mut_of, slice_of, strided,
};
#[doc(hidden)]
pub mod body {
    pub use crate::kernel::body::*;
}
#[doc(hidden)]
pub mod expression {
    pub use crate::kernel::expression::*;
}
#[doc(hidden)]
pub use crate::kernel::{
    Kernel,
    axes::Axes,
    combine::ScanKernel,
    coverage::Coverage,
    info::{CudaBody, EmbeddedImage, KernelInfo, ParamInfo, ParamKind},
    map::{MapArgs, MapInput, MapKernel, MapOutput, MapTable, Operands},
    map_operator::broadcast,
    passing::Passing,
    places::{Tiles, in_places},
    reduce::{Described, ReduceKernel},
    registered::{KERNELS, Registered},
    scan::Scanned,
};
#[doc(hidden)]
pub use crate::memory::{DeviceSlice, Scalar, TensorView, TensorViewMut};
#[doc(hidden)]
pub use linkme;
#[doc(hidden)]
pub use streamflow_driver::driver::HostArgs;

// Used by no macro. The items above have these as bounds or arguments, so rustc's messages name them by their last part.
#[doc(hidden)]
pub use crate::message::owners::Several;
#[doc(hidden)]
pub use crate::message::place::{CarriesStream, Plain};
#[doc(hidden)]
pub use crate::message::receive::Read;
#[doc(hidden)]
pub use crate::port::array::{ArrayOfPorts, OnePort};
#[doc(hidden)]
pub use crate::port::connect::{
    Accepts, Awaited, AwaitedSource, AwaitedTarget, Edge, EdgeSource, EdgeTarget, Feeds,
};
#[doc(hidden)]
pub use crate::port::edge_copy::{CopyFields, CopyOnEdge, CopyPart, TransferOnEdge};
#[doc(hidden)]
pub use crate::port::exported::{
    AcceptsInside, Admits, ExportOf, Gives, GivesInlets, GivesOutlet, ImportTo, Reaches,
};
#[doc(hidden)]
pub use crate::port::lend::Lend;
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

// Used by no macro. The tests of this workspace reach internal parts by these items.
#[doc(hidden)]
pub use crate::kernel::launched::kernels;
#[doc(hidden)]
pub use crate::library::claims::{TakeClaim, take_claims_by};
#[doc(hidden)]
pub use crate::operators::{
    convolve_2d::convolve_2d, normalize::normalize, resample::resample, window::multiply_rows,
};
#[doc(hidden)]
pub use crate::testing::launches::compare_launches;
