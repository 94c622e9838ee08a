//! Memory of other code, of which a model has none.

use super::MemoryPool;
use super::pooled::PooledBlock;

pub(super) mod border {
    //! What blocks and pools know of other code.

    /// A value that keeps memory of other code alive.
    pub(in crate::memory) struct Owner;

    /// What a pool has to do with other code.
    #[derive(Default)]
    pub(in crate::memory) struct Border;
}

impl PooledBlock<MemoryPool> {
    pub(super) fn return_to_owner(self: Box<Self>) {
        unreachable!("no block is another code's")
    }
}

impl MemoryPool {
    pub(super) fn take_lent_back(&self) {}

    pub(super) fn close_lent(&self) {}

    pub(super) fn finish_returning(&self) {}
}
