#![doc = include_str!("../../README.md")]

// The macros name this crate by its absolute path, in our own tests too.
#[allow(unused_extern_crates, reason = "only tests and doc tests use the macros here")]
extern crate self as streamflow;

pub mod context;
pub mod driver;
mod error;
pub mod graph;
pub mod guide;
pub mod kernel;
pub mod library;
pub mod memory;
pub mod message;
pub mod operator;
pub mod operators;
pub mod param;
pub mod platform;
pub mod port;
pub mod schedule;
pub mod stream;
pub mod testing;

// The modules below name these by their paths in the crate.
use streamflow_driver::{caught, lock, log, splitmix, sync, turns};

#[doc(inline)]
pub use context::{execution_context::ExecutionContext, stream::Stream, table::Table};
#[doc(inline)]
pub use error::failure::Result;
#[doc(inline)]
pub use error::{Error, Failure};
#[cfg(feature = "half")]
#[doc(inline)]
pub use half::f16;
#[doc(inline)]
pub use kernel::grid::Grid;
#[cfg(not(feature = "half"))]
#[doc(inline)]
pub use memory::element::f16;
#[doc(inline)]
pub use memory::{
    buffer::Buffer, download::Download, element::Element, shared::Shared, tensor::Tensor,
};
#[doc(inline)]
pub use message::{payloads::HostData, travels::Message};
#[doc(inline)]
pub use operator::{
    compute::Compute,
    flush::{Flush, Flushed},
};
#[doc(inline)]
pub use platform::handle::{Platform, device};
#[doc(inline)]
pub use schedule::{choice::Schedule, running::Spawn};
#[doc(inline)]
pub use stream::{cuda_stream::CudaStream, pool::CudaStreamPool};
#[doc(inline)]
pub use streamflow_macros::{Message, graph, kernel, operator};

/// Moments, and the clock of a platform.
pub mod time {
    pub(crate) use streamflow_driver::time::doubled;
    #[doc(inline)]
    pub use streamflow_driver::time::{Clock, Timestamp};
}

/// The names that a first program needs: `use streamflow::prelude::*;`.
///
/// All other names are imported from their modules: [`memory`] for allocators, [`stream`] for green contexts,
/// [`operator`](mod@crate::operator) for conditions, and so on.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::{
        Buffer, Compute, CudaStream, CudaStreamPool, Download, Element, Error, ExecutionContext,
        Failure, Flush, Flushed, Grid, HostData, Message, Platform, Result, Schedule, Shared,
        Spawn, Stream, Table, Tensor, device, kernel, operator,
    };
    // Its `spawn` says what to write for `graph.workers(4)?.spawn()`.
    #[doc(hidden)]
    pub use crate::schedule::SpawnBorrowed;
    // The macro `graph!`, without the module of the same name.
    #[doc(no_inline)]
    pub use streamflow_macros::graph;
}

/// The items that the code of the macros uses. They are not covered by semantic versioning.
#[doc(hidden)]
pub mod __private {
    pub use crate::context::{SingleStream, StreamName};
    pub use crate::graph::check::{
        EdgeEnd, check_devices, check_green, check_host_done, check_pool, check_pool_use,
        check_second, check_sizes, check_streams, check_transfer, check_worker, verify_devices,
        verify_green, verify_pool, verify_streams,
    };
    pub use crate::graph::connected::{GraphPorts, NodePorts, check_inputs, check_outputs};
    pub use crate::graph::{Graph, GraphParts, RunState, finish};
    pub use crate::kernel::expansion::*;
    pub use crate::kernel::{
        Axes, Coverage, KERNELS, Kernel, KernelInfo, ParamInfo, ParamKind, Passing, Registered,
    };
    pub use crate::memory::{Allocator, DeviceSlice, Scalar, TensorView, TensorViewMut};
    pub use crate::message::{
        Description, FromTensors, Host, MemoryVisitor, Payload, Place, Several, Sole, Tensors,
    };
    pub use crate::operator::condition::{Conditions, make as when};
    pub use crate::operator::{
        Again, AnyNode, Argument, AsyncHandle, BooleanHandle, Checked, CheckedNode, FieldType,
        Fits, HostDataOf, IsElement, IsMessage, IsOpenMessage, Node, NodeOptions, NodeStreams,
        OnFailure, Operator, Otherwise, PortOf, State, any_node, apart, evaluate, exists, kept,
        not_made, ports, restarting,
    };
    pub use crate::param::{
        Exchange, GraphParams, Limits, NoParams, OperatorParams, ParamCell, ParamMaker,
    };
    pub use crate::port::*;
    pub use crate::schedule::{Report, RunFor, Stepped, end_run, run, run_for, tick};
    pub use crate::stream::StreamPool;
    pub use crate::{
        Compute, CudaStreamPool, Element, Error, ExecutionContext, Failure, Flush, Flushed,
        HostData, Message, Platform, Result, Shared, Tensor, device,
    };
    pub use linkme;
    pub use streamflow_driver::driver::{HostArgs, HostKernel};
}
