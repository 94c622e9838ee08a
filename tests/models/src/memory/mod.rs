//! The library's memory, and its models.

#[path = "../../../../streamflow/src/memory/access.rs"]
mod access;
#[path = "../../../../streamflow/src/memory/asked.rs"]
mod asked;
#[path = "../../../../streamflow/src/memory/block.rs"]
mod block;
#[path = "../../../../streamflow/src/memory/border/mod.rs"]
mod border;
#[path = "../../../../streamflow/src/memory/buffer.rs"]
mod buffer;
#[path = "../../../../streamflow/src/memory/claims.rs"]
mod claims;
#[path = "../../../../streamflow/src/memory/copied.rs"]
mod copied;
#[path = "../../../../streamflow/src/memory/copy.rs"]
mod copy;
#[path = "../../../../streamflow/src/memory/copy_plan.rs"]
mod copy_plan;
#[path = "../../../../streamflow/src/memory/download.rs"]
mod download;
#[path = "../../../../streamflow/src/memory/free.rs"]
mod free;
#[path = "../../../../streamflow/src/memory/free_list.rs"]
mod free_list;
#[path = "../../../../streamflow/src/memory/last_write.rs"]
mod last_write;
#[path = "../../../../streamflow/src/memory/limits.rs"]
mod limits;
#[path = "../../../../streamflow/src/memory/pinned.rs"]
mod pinned;
#[path = "../../../../streamflow/src/memory/pinned_pool.rs"]
mod pinned_pool;
#[path = "../../../../streamflow/src/memory/pinned_slice.rs"]
mod pinned_slice;
#[path = "../../../../streamflow/src/memory/platform_pools.rs"]
mod platform_pools;
#[path = "../../../../streamflow/src/memory/points.rs"]
mod points;
#[path = "../../../../streamflow/src/memory/pool.rs"]
mod pool;
#[path = "../../../../streamflow/src/memory/pool_state.rs"]
mod pool_state;
#[path = "../../../../streamflow/src/memory/pooled.rs"]
mod pooled;
#[path = "../../../../streamflow/src/memory/queries.rs"]
mod queries;
#[path = "../../../../streamflow/src/memory/reuse.rs"]
mod reuse;
#[path = "../../../../streamflow/src/memory/room.rs"]
mod room;
#[path = "../../../../streamflow/src/memory/rotation.rs"]
mod rotation;
#[path = "../../../../streamflow/src/memory/shape.rs"]
mod shape;
#[path = "../../../../streamflow/src/memory/shared.rs"]
mod shared;
#[path = "../../../../streamflow/src/memory/sizes.rs"]
mod sizes;
#[path = "../../../../streamflow/src/memory/slice.rs"]
mod slice;
#[path = "../../../../streamflow/src/memory/tensor.rs"]
mod tensor;
#[path = "../../../../streamflow/src/memory/tensor_view.rs"]
mod tensor_view;
mod unwritten;

pub(crate) mod foreign;
pub(crate) mod models;
pub(crate) mod pools;
pub(crate) mod slices;

pub(crate) use block::Block;
pub(crate) use buffer::Buffer;
pub(crate) use copied::{CopySource, CopyTarget};
pub(crate) use download::Download;
// This module exists only once, outside of the mutants: it implements traits for types of other crates, and a second copy
// would conflict.
use crate::element;
pub(crate) use element::{Element, Scalar};
pub(crate) use free::MemoryAmount;
pub(crate) use limits::{MemoryLimits, MemoryOptions};
pub(crate) use pinned::Pinned;
pub(crate) use pinned_pool::PinnedPool;
pub(crate) use pinned_slice::{PinnedSlice, PinnedView, PinnedViewMut};
pub(crate) use pool::MemoryPool;
pub(crate) use pooled::PoolHandle;
pub(crate) use shape::{IntoShape, MAX_RANK, Shape, Strides};
pub(crate) use shared::{Recycler, Shared};
pub(crate) use slice::{DeviceSlice, View, ViewMut};
pub(crate) use tensor::Tensor;
pub(crate) use tensor_view::{TensorView, TensorViewMut};
