#![doc = include_str!("../../README.md")]

// The macros name this crate by its absolute path, in our own tests too.
#[allow(unused_extern_crates, reason = "only tests and doc tests use the macros here")]
extern crate self as streamflow;

mod caught;
mod context;
pub mod driver;
mod error;
pub mod graph;
pub mod guide;
pub mod kernel;
mod lock;
pub mod memory;
pub mod message;
mod operator;
pub mod operators;
mod param;
mod platform;
pub mod port;
pub mod schedule;
pub mod stream;
mod sync;
pub mod testing;
mod time;
mod turns;

pub use context::{ExecutionContext, OnStream, Stream, StreamName, StreamRef, Table, Waker};
pub use driver::{BorrowedStream, Coscheduling, DeviceId, GreenContext, SmSizes, StreamFlags};
pub use error::failure::Result;
pub use error::{Error, Failure, InHook};
pub use graph::Graph;
pub use half::f16;
pub use kernel::Grid;
pub use memory::{
    Allocator, Buffer, DeviceSlice, Download, Downloaded, Element, MemoryLimits, MemoryOptions,
    Pinned, Shared, Tensor, TensorView,
};
pub use message::{HostData, Many, Message, Metadata};
pub use operator::{Answer, AsyncHandle, BooleanHandle, Compute, Condition, Node, Operator};
pub use param::{NoParams, Param, ParamChange};
pub use platform::{HostPlatform, Platform, PlatformBuilder, PlatformOptions, device};
pub use port::{In, Out};
pub use schedule::{Report, RunHandle, Running, Spawn, Stepped};
pub use stream::{
    CudaGreenContext, CudaGreenContextPool, CudaStream, CudaStreamPool, ExternalStream,
    GreenContexts, Point, StreamPool, TimingEvent,
};
pub use streamflow_macros::{Message, graph, kernel, operator};
pub use time::{Clock, Timestamp};

/// The items that most programs use: `use streamflow::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Allocator, Answer, AsyncHandle, BooleanHandle, Buffer, Clock, Compute, Condition,
        Coscheduling, CudaGreenContext, CudaGreenContextPool, CudaStream, CudaStreamPool, DeviceId,
        DeviceSlice, Download, Element, Error, ExecutionContext, Failure, Graph, Grid, HostData,
        In, Many, MemoryLimits, Message, Metadata, OnStream, Operator, Out, Pinned, Platform,
        PlatformOptions, Result, Shared, Spawn, Stream, StreamFlags, StreamPool, Tensor, Timestamp,
        Waker, device, f16, kernel, operator,
    };
    // The macro `graph!`, without the module of the same name.
    pub use streamflow_macros::graph;
}

/// The items that the code of the macros uses. They are not covered by semantic versioning.
#[doc(hidden)]
pub mod __private {
    pub use crate::context::{ExecutionContext, SingleStream, StreamName};
    pub use crate::driver::{HostArgs, HostKernel};
    pub use crate::error::{Error, Failure};
    pub use crate::graph::check::{
        EdgeEnd, check_devices, check_green, check_host_done, check_inputs, check_outputs,
        check_pool, check_pool_use, check_second, check_sizes, check_streams, check_transfer,
        verify_devices, verify_green, verify_pool, verify_streams,
    };
    pub use crate::graph::{Graph, RunState, bind_conditions};
    pub use crate::kernel::expansion::*;
    pub use crate::kernel::{Coverage, Kernel, KernelInfo, ParamInfo, ParamKind, Passing};
    pub use crate::memory::{DeviceSlice, Element, Scalar, Shared};
    pub use crate::message::{
        Description, Host, MemoryVisitor, Message, Payload, Place, Several, Sole,
    };
    pub use crate::operator::condition::make as when;
    pub use crate::operator::{
        Again, AnyNode, Argument, Checked, Compute, FieldType, Fits, IsElement, IsMessage, Node,
        NodeOptions, NodeStreams, OnFailure, Operator, PortOf, State, any_node, apart, exists,
        kept, restarting,
    };
    pub use crate::param::{
        Exchange, GraphParams, Limits, NoParams, OperatorParams, ParamCell, ParamMaker,
    };
    pub use crate::platform::{Platform, device};
    pub use crate::port::*;
    pub use crate::schedule::{Report, RunFor, Stepped, end_run, run, run_for, tick};
    pub use crate::stream::CudaStreamPool;
}
