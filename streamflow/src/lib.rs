//! streamflow.

// The macros name this crate by its absolute path, in our own tests too.
#[allow(unused_extern_crates, reason = "only tests and doc tests use the macros here")]
extern crate self as streamflow;

pub mod driver;
mod error;
pub mod kernel;
pub mod memory;
mod platform;
pub mod stream;

pub use driver::{DeviceId, StreamFlags};
pub use error::{Error, Result};
pub use half::f16;
pub use kernel::Grid;
pub use memory::{
    Buffer, DeviceSlice, Download, Element, MemoryOptions, Pinned, Shared, Tensor, TensorView,
};
pub use platform::{HostPlatform, Platform, device};
pub use stream::{CudaStream, CudaStreamPool, Point, StreamPool};
pub use streamflow_macros::kernel;

/// What programs use: `use streamflow::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Buffer, CudaStream, CudaStreamPool, DeviceId, DeviceSlice, Download, Element, Error, Grid,
        Pinned, Platform, Result, Shared, StreamFlags, StreamPool, Tensor, device, f16, kernel,
    };
}

/// What the macros' expansions use. Not covered by semantic versioning.
#[doc(hidden)]
pub mod __private {
    pub use crate::driver::{HostArgs, HostKernel};
    pub use crate::error::Result;
    pub use crate::kernel::expansion::*;
    pub use crate::kernel::{Kernel, KernelInfo, ParamInfo, ParamKind, Passing};
    pub use crate::memory::{DeviceSlice, Element, Scalar};
}
