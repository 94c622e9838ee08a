//! Device memory and page-locked host memory. Each block of memory notes its uses, and the uses order work on the same data.
//!
//! | type | is |
//! |---|---|
//! | [`DeviceSlice<T>`] | elements in device memory, like `[T]` in host memory; the next three deref to it |
//! | [`Buffer<T>`] | elements in device memory, owned |
//! | [`Tensor<T>`] | an owned, dense, row-major array with a shape |
//! | [`View<T>`](View), [`ViewMut<T>`](ViewMut) | a borrowed part of a slice |
//! | [`PitchedTensor<T>`] | an owned array with padded rows, as `cuMemAllocPitch` makes |
//! | [`AnyTensor`] | one of the above with an element type that is known at run time |
//! | [`TensorView<T>`], [`TensorViewMut<T>`] | a part of a tensor, with strides |
//! | [`Shared<T>`] | one of the above, or another message, with several owners that can only read it |
//! | [`Pinned<T>`] | page-locked host memory; asynchronous copies need it |
//! | [`PinnedSlice<T>`] | page-locked host memory or a part of it, from a [`Pinned<T>`], [`PinnedView`] or [`PinnedViewMut`] |
//! | [`Download<T>`] | a copy to the host that can't be read before it is complete |
//! | [`ForeignMemory`] | memory of other code, to be adopted as one of the above |
//! | [`Downloaded<T>`] | a complete download, from asynchronous code: `download.await?` |
//!
//! For those who work on streamflow, the source file `memory/README.md` explains how the uses of memory order work, and
//! how memory is reused and freed while the host goes on.

pub(crate) mod access;
mod allocator;
mod any_tensor;
mod asked;
mod awaited;
mod block;
mod border;
pub(crate) mod buffer;
mod claims;
mod copied;
mod copy;
mod copy_plan;
pub(crate) mod download;
pub(crate) mod element;
mod foreign;
mod free;
mod free_list;
#[cfg(any(feature = "image", feature = "ndarray"))]
mod host_array;
mod last_write;
mod limits;
mod on_host;
mod pinned;
mod pinned_pool;
mod pinned_slice;
mod pitch;
mod pitched;
mod platform_pools;
mod points;
mod pool;
mod pool_state;
mod pooled;
mod queries;
mod raw;
mod reuse;
mod room;
mod rotation;
mod scratch;
mod shape;
pub(crate) mod shared;
mod sizes;
mod slice;
pub(crate) mod tensor;
mod tensor_view;
#[cfg(test)]
mod tests;
mod unwritten;

pub use allocator::Allocator;
pub use any_tensor::AnyTensor;
pub use awaited::Downloaded;
pub(crate) use block::Block;
pub use border::{ForeignCounts, foreign_counts};
pub(crate) use buffer::Buffer;
pub use copied::{CopySource, CopyTarget};
pub(crate) use download::Download;
pub(crate) use element::Element;
pub use element::{Bool8, Complex, Scalar, bf16};
#[cfg(feature = "cudarc")]
pub use foreign::cudarc;
#[cfg(feature = "dlpack")]
pub use foreign::dlpack;
pub use foreign::{After, AfterWork, ForeignMemory};
pub(crate) use free::MemoryAmount;
#[cfg(any(feature = "image", feature = "ndarray"))]
pub use host_array::HostArray;
pub use limits::{MemoryLimits, MemoryOptions};
pub use pinned::Pinned;
pub(crate) use pinned_pool::PinnedPool;
pub use pinned_slice::{PinnedSlice, PinnedView, PinnedViewMut};
pub use pitched::PitchedTensor;
pub(crate) use platform_pools::Pools;
pub use platform_pools::Trimmed;
pub(crate) use pool::MemoryPool;
pub(crate) use pooled::PoolHandle;
pub(crate) use scratch::Scratch;
pub use shape::{IntoShape, MAX_RANK, Shape, Strides};
pub(crate) use shared::Recycler;
pub(crate) use shared::Shared;
pub use slice::{DeviceSlice, View, ViewMut};
pub(crate) use tensor::Tensor;
pub use tensor_view::{TensorView, TensorViewMut};
pub(crate) use unwritten::hook_has_failed;
