//! streamflow.

pub mod driver;
mod error;
pub mod memory;
mod platform;
pub mod stream;

pub use driver::{DeviceId, StreamFlags};
pub use error::{Error, Result};
pub use memory::{Buffer, DeviceSlice, Download, Element, MemoryOptions, Pinned, Shared, Tensor};
pub use platform::{HostPlatform, Platform, device};
pub use stream::{CudaStream, CudaStreamPool, Point, StreamPool};
