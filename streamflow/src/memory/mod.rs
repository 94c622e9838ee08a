//! Device memory.

mod element;
mod slice;

pub use element::{Element, Scalar};
pub use slice::{Block, DeviceSlice};
