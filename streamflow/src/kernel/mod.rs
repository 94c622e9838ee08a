//! Typed kernels: the types that [`#[kernel]`](macro@crate::kernel) makes, their compilation, and their grids.
//!
//! A kernel has one signature, which is Rust's. The Rust body runs on the host simulator. When the kernel is first launched on a
//! device, NVRTC compiles the CUDA body under a signature generated from the Rust one. The compiled code is cached in the process
//! and on disk.
//!
//! Environment variables, each read once:
//! - `STREAMFLOW_NVRTC_DIR`: the directory of `libnvrtc.so`; no other directory is searched.
//! - `STREAMFLOW_CACHE_DIR`: the directory for compiled code; `off` keeps it in memory only.
//! - `STREAMFLOW_CHECK_BOUNDS`: `1` checks, on the device, the accesses of a CUDA body by a slice or a view: `a[i]`,
//!   `*a`, `auto row = a + n; row[i]`, and the `a(y, x)` of a view. An access out of range changes no memory, and a
//!   later call returns [`Error::OutOfBounds`](crate::Error::OutOfBounds). Not checked are accesses by bare pointers
//!   that the body makes, as `&a[i]` or `float* p = a` (then only the place where the pointer is made is checked), the
//!   pointer `a.data` of a view, and shared memory. On the simulator the variable changes nothing: there the kernel accesses
//!   a Rust slice, which panics at an index out of range.

pub(crate) mod axes;
pub(crate) mod body;
mod bounds;
mod cache;
pub(crate) mod combine;
mod compile;
mod compiled_code;
pub(crate) mod coverage;
pub(crate) mod expansion;
pub(crate) mod expression;
pub(crate) mod find;
pub(crate) mod grid;
mod image;
pub(crate) mod info;
pub(crate) mod launch;
pub(crate) mod launched;
mod loaded;
pub(crate) mod map;
pub(crate) mod map_operator;
mod module;
mod numbers;
mod nvrtc;
pub(crate) mod passing;
pub(crate) mod places;
mod recorded;
pub(crate) mod reduce;
pub(crate) mod registered;
mod remembered;
pub(crate) mod scan;
mod source;
mod state;
mod strided;

pub(crate) use axes::Axes;
pub use body::Window;
pub use compile::compile_for;
use compile::load;
pub(crate) use compile::supports;
pub use compiled_code::CompiledCode;
pub(crate) use coverage::Coverage;
pub use expression::Expression;
pub(crate) use grid::Grid;
pub use grid::IntoGrid;
pub use info::Kernel;
pub(crate) use info::{CudaBody, KernelInfo, ParamInfo, ParamKind};
pub(crate) use launched::kernels;
pub use module::{Function, Module};
pub use numbers::{Float, Integer, Number, Signed};
pub(crate) use passing::Passing;
pub(crate) use recorded::{Recorded, Work, recorded};
pub(crate) use registered::{KERNELS, Registered};
pub use strided::Strided;

pub mod reductions {
    //! Reductions that come with the library, for [`CudaStream::reduce`](crate::CudaStream::reduce) and
    //! [`CudaStream::reduce_axis`](crate::CudaStream::reduce_axis): `stream.reduce_axis::<Mean<f32>>(&mut means, &image, 1)?`.
    //! With [`CudaStream::scan`](crate::CudaStream::scan), each result is that of all elements up to its own.
    //!
    //! The elements are `f32`, `f64`, `i8` to `i64`, or `u8` to `u64`, and those of norms `f32` or `f64`. A reduction of one's own is a function with
    //! [`#[kernel(reduce(identity = 0.0))]`](macro@crate::kernel).
    pub use super::reduce::library::{ArgMax, ArgMin, Max, Mean, Min, Sum};
    pub use super::reduce::norms::{Norm1, Norm2, NormInf};
}
