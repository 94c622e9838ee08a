//! Exchange of tensors with other libraries by [DLPack](https://dmlc.github.io/dlpack/latest/).
//!
//! An exchange copies nothing and does not block the host. The work of streamflow and of the other library is ordered:
//!
//! - [`Tensor::into_dlpack`](crate::Tensor::into_dlpack) and [`Shared::to_dlpack`](crate::Shared::to_dlpack) make the
//!   [consumer's](Consumer) stream wait for the work that the tensor must come after. The memory lives until the
//!   consumer calls the deleter, and is used again only after the work that the device has at that time.
//! - [`Platform::import_dlpack`](crate::Platform::import_dlpack) takes a tensor over. The caller names the work that
//!   the tensor's content comes [after](super::After). The producer's deleter is called after the last use of the
//!   tensor, on a separate thread.
//!
//! A library that works on the host gets a copy of a GPU's memory by
//! [`download_dlpack_blocking`](crate::CudaStream::download_dlpack_blocking).
//!
//! On the simulator, device memory is ordinary host memory, so the device of a structure is the CPU.

mod abi;
mod dtype;
mod export;
mod exported;
mod host_copy;
mod import;
mod managed;
#[cfg(test)]
mod tests;

use std::fmt;

pub use abi::Abi;
pub use dtype::DlType;
pub use export::Consumer;
pub(crate) use import::Access;
pub use import::Imported;
pub use managed::{DlExport, DlTensor};

use crate::error::Error;

/// A device, in DLPack's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DlDevice {
    /// `DLDeviceType`: [`CPU`](Self::CPU), [`CUDA`](Self::CUDA), [`CUDA_HOST`](Self::CUDA_HOST), or another number.
    pub kind: i32,
    /// The number of the device among those of its kind.
    pub id: i32,
}

impl DlDevice {
    /// Ordinary host memory.
    pub const CPU: i32 = 1;
    /// Memory of a GPU.
    pub const CUDA: i32 = 2;
    /// Page-locked host memory.
    pub const CUDA_HOST: i32 = 3;
    /// CUDA's managed memory, which GPUs and the host share.
    pub const CUDA_MANAGED: i32 = 13;
}

impl fmt::Display for DlDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Self::CPU => f.write_str("the CPU"),
            Self::CUDA => write!(f, "CUDA device {}", self.id),
            Self::CUDA_HOST => f.write_str("page-locked host memory"),
            Self::CUDA_MANAGED => write!(f, "managed memory of CUDA device {}", self.id),
            other => write!(f, "device {} of DLPack's type {other}", self.id),
        }
    }
}

/// The error for a tensor of another library that streamflow can't take over.
#[cold]
fn refused(reason: impl Into<String>, remedy: impl Into<String>) -> Error {
    let what = "the DLPack tensor can't be imported".to_owned();
    Error::Exchange { what, reason: reason.into(), remedy: remedy.into() }
}
