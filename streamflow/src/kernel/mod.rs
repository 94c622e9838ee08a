//! Typed kernels: what [`#[kernel]`](macro@crate::kernel) makes, how it is compiled, and its grid.
//!
//! A kernel is typed once, in Rust. Its Rust body runs on the host simulator; its CUDA body is
//! compiled by NVRTC under a signature generated from the Rust one, when it is first needed on a
//! device, and kept for the process and on disk.
//!
//! Environment variables, each read once:
//! - `STREAMFLOW_NVRTC_DIR`: the directory of `libnvrtc.so`, before all other places.
//! - `STREAMFLOW_CACHE_DIR`: where compiled code is kept; `off` keeps it in memory alone.
//! - `STREAMFLOW_CHECK_BOUNDS`: `1` checks every index on the device.

mod bounds;
mod cache;
mod compile;
#[doc(hidden)]
pub mod expansion;
mod find;
mod grid;
mod info;
mod launch;
mod loaded;
mod module;
mod nvrtc;
mod passing;
mod source;
mod state;

use compile::load;
pub use compile::{compile_checked_for, compile_for, image_for, nvrtc_version};
pub use grid::{Dim3, Grid};
pub use info::{Kernel, KernelInfo, ParamInfo, ParamKind};
pub use module::{Function, Module};
pub use passing::Passing;
