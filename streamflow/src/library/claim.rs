//! A claim of memory that a call of a library reads or writes.

use crate::driver::{Access, AccessMode, MemoryRange, Rows};
use crate::memory::access::Use;
use crate::memory::{Block, DeviceSlice, Element, TensorView, TensorViewMut};

/// Memory that a call reads or writes, as a value that exists before its [`Call`](super::Call). The method
/// [`claim`](super::Call::claim) adds it to a call.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    block: &'a Block,
    range: MemoryRange,
    mode: AccessMode,
    argument: &'static str,
    rows: Option<Rows>,
    /// Whether elements of other operands may lie between the elements of this operand.
    is_view: bool,
}

impl<'a> Claim<'a> {
    /// Creates a claim of memory that the work reads.
    #[inline(always)]
    pub fn read<T: Element>(argument: &'static str, slice: &'a DeviceSlice<T>) -> Self {
        let (block, range) = (slice.block(), slice.range());
        Self { block, range, mode: AccessMode::Read, argument, rows: None, is_view: false }
    }

    /// Creates a claim of memory that the work writes, and perhaps reads.
    #[inline(always)]
    pub fn write<T: Element>(argument: &'static str, slice: &'a mut DeviceSlice<T>) -> Self {
        Self { mode: AccessMode::Write, ..Self::read(argument, slice) }
    }

    /// Creates a claim of a view that the work reads. The view may have gaps. The host body gets the claim as
    /// [`Elements`](super::Elements).
    pub fn read_view<T: Element>(argument: &'static str, view: &TensorView<'a, T>) -> Self {
        Self::of_view(argument, view, AccessMode::Read)
    }

    /// Creates a claim of a view that the work writes, and perhaps reads. The view may have gaps.
    pub fn write_view<T: Element>(argument: &'static str, view: TensorViewMut<'a, T>) -> Self {
        Self::of_view(argument, &view.into_view(), AccessMode::Write)
    }

    fn of_view<T: Element>(
        argument: &'static str,
        view: &TensorView<'a, T>,
        mode: AccessMode,
    ) -> Self {
        let (block, range, rows) = (view.elements().block(), view.range(), view.rows(mode));
        Self { block, range, mode, argument, rows, is_view: true }
    }

    /// Returns the address of the first byte, for the device's body.
    #[inline(always)]
    pub fn address(&self) -> u64 {
        self.range.address
    }

    /// Whether elements of other operands may lie between the elements of this claim. If so, the elements are no slice.
    pub(super) fn is_view(&self) -> bool {
        self.is_view
    }

    /// Whether the claim has no elements. An empty claim orders no work.
    pub(super) fn is_empty(&self) -> bool {
        self.range.bytes == 0
    }

    /// Returns the use of memory by which the runtime orders the call.
    #[inline(always)]
    pub(super) fn used(&self) -> Use<'a> {
        let used = Use::new((self.block, self.range), self.mode, self.argument);
        if self.mode == AccessMode::Write { used.unmarked() } else { used }
    }

    /// Returns the access without its rows, and the rows, since a driver takes them separately.
    pub(super) fn access(&self) -> (Access, Option<Rows>) {
        let Self { range, mode, argument, rows, .. } = *self;
        (Access { range, mode, argument, rows: None }, rows)
    }
}
