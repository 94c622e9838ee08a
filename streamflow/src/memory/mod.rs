//! Memory that knows who uses it.
//!
//! Every allocation is a block: it remembers the [`Point`](crate::stream::Point) of its last
//! write, and one point for each stream that has read it since. Each launch and each copy compares
//! its arguments with its stream and inserts the waits that are missing, so a tensor is right on any
//! stream, in this tick or a later one. The same points decide when memory may be reused: a dropped
//! tensor's block goes to a free list at once, without blocking the host, and its next owner's stream
//! waits for whoever still uses it.
//!
//! | type | is |
//! |---|---|
//! | [`DeviceSlice<T>`] | a run of elements in device memory: what `[T]` is to host memory; the others deref to it |
//! | [`Buffer<T>`] | an owned run of elements |
//! | [`Tensor<T>`] | an owned, dense, row-major array with a shape |
//! | [`TensorView<T>`] | part of a tensor, with strides |
//! | [`Shared<T>`] | anything of the above for several owners, who can only read |
//! | [`Pinned<T>`] | page-locked host memory, which copies need to be asynchronous |
//! | [`Download<T>`] | a copy to the host that can't be read before it is complete |

pub(crate) mod access;
mod allocator;
mod block;
mod buffer;
mod copy;
mod download;
mod element;
mod last_write;
mod limits;
mod pinned;
mod points;
mod pool;
mod pool_state;
mod pooled;
mod raw;
mod reuse;
mod shape;
mod shared;
mod slice;
mod tensor;
#[cfg(test)]
mod tests;

pub use allocator::Allocator;
pub(crate) use block::Block;
pub use buffer::Buffer;
pub use copy::Downloadable;
pub(crate) use copy::download;
pub use download::Download;
pub use element::{Element, Scalar};
pub use limits::{MemoryLimits, MemoryOptions};
pub use pinned::Pinned;
pub(crate) use pinned::PinnedPool;
pub(crate) use pool::MemoryPool;
pub(crate) use pooled::PoolHandle;
pub use shape::{IntoShape, MAX_RANK, Shape, Strides};
pub use shared::{Recycler, Shared};
pub use slice::{DeviceSlice, View, ViewMut};
pub use tensor::{Tensor, TensorView};
