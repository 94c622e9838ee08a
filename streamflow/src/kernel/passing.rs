//! The arguments of one launch, collected without the heap.

use smallvec::SmallVec;

use crate::driver::{Access, AccessMode, MAX_PARAMS, Param};
use crate::memory::{Block, DeviceSlice, Element, Scalar};

/// Collects what a kernel is launched with: parameters, accesses, and the blocks they lie in.
///
/// A slice becomes two parameters, its address and its length. `#[kernel]` refuses a function with
/// more than [`MAX_PARAMS`] parameters, so nothing here allocates.
#[derive(Debug, Default)]
pub struct Passing<'a> {
    params: SmallVec<[Param; MAX_PARAMS]>,
    accesses: SmallVec<[Access; 8]>,
    blocks: SmallVec<[(&'a Block, AccessMode); 8]>,
}

impl<'a> Passing<'a> {
    /// Nothing passed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes a slice that the kernel only reads.
    pub fn read<T: Element>(&mut self, argument: &'static str, slice: &'a DeviceSlice<T>) {
        self.slice(argument, slice, AccessMode::Read);
    }

    /// Passes a slice that the kernel writes.
    pub fn write<T: Element>(&mut self, argument: &'static str, slice: &'a mut DeviceSlice<T>) {
        self.slice(argument, slice, AccessMode::Write);
    }

    /// Passes a value.
    pub fn scalar<T: Scalar>(&mut self, value: T) {
        self.params.push(Param::new(value));
    }

    /// Adds a parameter that is no argument: the address of a [bounds report](super::bounds).
    pub fn report(&mut self, address: u64) {
        self.params.push(Param::new(address));
    }

    /// The parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The memory that the kernel touches; empty slices are left out.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// The block of each access, in the same order. A block can occur more than once.
    pub fn blocks(&self) -> &[(&'a Block, AccessMode)] {
        &self.blocks
    }

    fn slice<T: Element>(&mut self, argument: &'static str, slice: &'a DeviceSlice<T>, mode: AccessMode) {
        let range = slice.range();
        self.params.push(Param::new(range.address));
        self.params.push(Param::new(slice.len() as u64));
        if range.bytes > 0 {
            self.accesses.push(Access { range, mode, argument });
            self.blocks.push((slice.block(), mode));
        }
    }
}
