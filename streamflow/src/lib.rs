//! streamflow.

// The macros name this crate by its absolute path, in our own tests too.
#[allow(unused_extern_crates, reason = "only tests use the macros")]
extern crate self as streamflow;

pub mod driver;
mod error;
pub mod kernel;
pub mod memory;

pub use error::{Error, Result};
pub use streamflow_macros::kernel;

/// What the macros' expansions use. Not covered by semantic versioning.
#[doc(hidden)]
pub mod __private {
    pub use crate::driver::{HostArgs, HostKernel};
    pub use crate::error::Result;
    pub use crate::kernel::expansion::*;
    pub use crate::kernel::{Kernel, KernelInfo, ParamInfo, ParamKind, Passing};
    pub use crate::memory::{DeviceSlice, Element, Scalar};
}
