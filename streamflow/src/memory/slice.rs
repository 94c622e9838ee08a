//! What a kernel sees of device memory.

use std::marker::PhantomData;

use crate::driver::MemoryRange;

/// The allocation that a slice lies in.
#[derive(Debug)]
pub struct Block {
    range: MemoryRange,
}

impl Block {
    /// Which bytes.
    pub fn range(&self) -> MemoryRange {
        self.range
    }
}

/// Elements in device memory; what `[T]` is on the host.
#[derive(Debug)]
pub struct DeviceSlice<T, U: ?Sized = [()]> {
    block: Block,
    address: u64,
    len: usize,
    _items: PhantomData<T>,
    _unsized: U,
}

impl<T> DeviceSlice<T> {
    /// How many elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Which bytes.
    pub fn range(&self) -> MemoryRange {
        MemoryRange { address: self.address, bytes: (self.len * size_of::<T>()) as u64 }
    }

    /// The allocation that it lies in.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// A slice that no driver knows, for the tests of what is passed to kernels.
    #[cfg(test)]
    pub(crate) fn at(address: u64, len: usize) -> Box<Self> {
        let bytes = (len * size_of::<T>()) as u64;
        let block = Block { range: MemoryRange { address, bytes } };
        Box::new(DeviceSlice { block, address, len, _items: PhantomData, _unsized: [(); 0] })
    }
}
