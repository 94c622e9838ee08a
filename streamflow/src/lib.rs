// A link may be defined twice, and rustdoc uses the first definition. In rustdoc the links lead to this version's items; on a
// registry's page, to the addresses at the end of README.md.
//! [guide]: crate::guide
//! [tutorial]: crate::guide::tutorial
//! [`context`]: crate::context
//! [`driver`]: crate::driver
//! [`graph`]: mod@crate::graph
//! [`kernel`]: mod@crate::kernel
//! [`library`]: crate::library
//! [`memory`]: crate::memory
//! [`message`]: crate::message
//! [`operator`]: mod@crate::operator
//! [`operators`]: crate::operators
//! [`param`]: crate::param
//! [`platform`]: crate::platform
//! [`port`]: crate::port
//! [`prelude`]: crate::prelude
//! [`schedule`]: crate::schedule
//! [`stream`]: crate::stream
//! [`testing`]: crate::testing
#![doc = include_str!("../README.md")]
// On docs.rs, items that need a feature are marked with its name.
#![cfg_attr(docsrs, feature(doc_cfg))]

// The macros name this crate by the path `::streamflow`, in the crate's own tests too.
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

// The modules below import these items from the crate's root.
use streamflow_driver::{caught, lock, log, splitmix, sync, turns};

#[doc(inline)]
pub use context::{execution_context::ExecutionContext, stream::Stream, table::Table};
#[cfg(feature = "cudarc")]
#[doc(no_inline)]
pub use cudarc;
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
pub use operator::node_type::New;
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
pub use streamflow_macros::{
    KernelArg, Message, expr, graph, kernel, kernel_fn, operator, operator_interface,
};

/// Moments, and the clock of a platform.
pub mod time {
    pub(crate) use streamflow_driver::time::doubled;
    #[doc(inline)]
    pub use streamflow_driver::time::{Clock, Timestamp};
}

/// The names that a first program needs: `use streamflow::prelude::*;`.
///
/// All other names are imported from their modules: from [`memory`] for allocators, from [`stream`] for green contexts, from
/// [`operator`](mod@crate::operator) for conditions, and so on.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::{
        Buffer, Compute, CudaStream, CudaStreamPool, Download, Element, Error, ExecutionContext,
        Failure, Flush, Flushed, Grid, HostData, KernelArg, Message, New, Platform, Result,
        Schedule, Shared, Spawn, Stream, Table, Tensor, device, expr, kernel, kernel_fn, operator,
        operator_interface,
    };
    // For `graph.workers(4)?.spawn()`, this trait makes the compiler's error say what to write instead.
    #[doc(hidden)]
    pub use crate::schedule::running::SpawnBorrowed as _;
    // The macro `graph!`, but not the module `graph`, which has the same name.
    #[doc(no_inline)]
    pub use streamflow_macros::graph;
}

// This module comes last: rustc's messages name an item by its first public path, which is then not the one in here.
pub mod __private;
