//! Memory of a call, for the time until its work is complete.

use std::sync::Arc;

use super::platform_pools::Pools;
use super::pooled::OwnedBlock;
use super::{Block, MemoryLimits, MemoryOptions, MemoryPool};
use crate::driver::MemoryRange;
use crate::error::Result;
use crate::stream::CudaStream;

/// Device memory without a type, from the platform's own pool. A drop does not wait: the memory is reused after the work that uses
/// it.
pub(crate) struct Scratch(OwnedBlock<MemoryPool>);

impl Scratch {
    /// Takes this many bytes for work on a stream.
    ///
    /// # Errors
    /// As for a tensor.
    #[track_caller]
    pub(crate) fn new(stream: &CudaStream, bytes: u64) -> Result<Self> {
        let pool = match Pools::of(stream.table()).of_device(stream.device()).own() {
            Some(pool) => pool,
            None => after_the_platform(stream)?,
        };
        Ok(Self(pool.allocate(stream, bytes)?))
    }

    /// The memory, and the block that has it.
    pub(crate) fn memory(&self) -> (MemoryRange, &Block) {
        (self.0.range(), &self.0)
    }
}

/// A pool for one allocation, after the platform's own was dropped with it: it frees the block as soon as that is dropped.
#[cold]
fn after_the_platform(stream: &CudaStream) -> Result<Arc<MemoryPool>> {
    let (options, limits) = (MemoryOptions::new(), MemoryLimits::unbounded());
    let pool = MemoryPool::limited(stream.table(), stream.device(), options, "", limits)?;
    Ok(pool.pool().clone())
}
