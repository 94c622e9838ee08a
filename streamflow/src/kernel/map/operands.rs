//! The arguments of a launch of `map`, in the order of the kernel's function.

use std::fmt;

use arrayvec::ArrayVec;

use crate::driver::{Access, AccessMode, MAX_PARAMS, Param, Rows};
use crate::kernel::Passing;
use crate::kernel::body::RANK;
use crate::memory::{Block, DeviceSlice, TensorView, TensorViewMut};

/// The most arguments in memory, as the macro checks.
pub(in crate::kernel) const MOST_OPERANDS: usize = 5;

/// An argument in memory.
#[derive(Debug)]
pub(in crate::kernel) struct Operand<'a> {
    pub(in crate::kernel) name: &'static str,
    access: Access,
    rows: Option<Rows>,
    block: &'a Block,
    /// The lengths and steps of the last four dimensions, and 1 before them.
    pub(in crate::kernel) shape: [u64; RANK],
    pub(in crate::kernel) strides: [u64; RANK],
    /// How many dimensions it has.
    pub(in crate::kernel) rank: usize,
    /// Whether it is a stencil's window.
    pub(super) is_window: bool,
}

/// The dimensions of an operand, without its memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernel) struct Layout {
    shape: [u64; RANK],
    strides: [u64; RANK],
    rank: usize,
}

impl<'a> Operand<'a> {
    pub(in crate::kernel) fn of<T>(
        name: &'static str,
        view: &TensorView<'a, T>,
        mode: AccessMode,
    ) -> Self {
        let rank = view.shape().len();
        let (mut shape, mut strides) = ([1; RANK], [0; RANK]);
        let dims = view.shape().iter().zip(view.strides()).rev().take(RANK);
        for (at, (len, stride)) in dims.enumerate() {
            (shape[RANK - 1 - at], strides[RANK - 1 - at]) = (*len as u64, *stride as u64);
        }
        let access = Access { range: view.range(), mode, argument: name, rows: None };
        let (rows, block) = (view.rows(mode), view.elements().block());
        Self { name, access, rows, block, shape, strides, rank, is_window: false }
    }

    /// The operand with this layout in the memory of an access. The memory has the elements from the first to the last, and those
    /// between them.
    pub(in crate::kernel) fn of_layout(layout: &Layout, access: Access, block: &'a Block) -> Self {
        let Layout { shape, strides, rank } = *layout;
        let name = access.argument;
        Self { name, access, rows: None, block, shape, strides, rank, is_window: false }
    }

    pub(in crate::kernel) fn layout(&self) -> Layout {
        Layout { shape: self.shape, strides: self.strides, rank: self.rank }
    }

    /// Its access, without rows.
    pub(in crate::kernel) fn access(&self) -> Access {
        self.access
    }

    /// Whether the kernel writes its elements.
    pub(super) fn is_written(&self) -> bool {
        self.access.mode == AccessMode::Write
    }

    /// The address of the first element.
    pub(in crate::kernel) fn address(&self) -> u64 {
        self.access.range.address
    }

    /// The lengths of its dimensions, at most [`RANK`].
    pub(in crate::kernel) fn dims(&self) -> &[u64] {
        dims(&self.shape, self.rank)
    }

    /// Adds its access to those of a launch.
    pub(in crate::kernel) fn touch<'b>(&self, passing: &mut Passing<'b>)
    where
        'a: 'b,
    {
        passing.touch(self.access, self.rows, self.block);
    }
}

impl Layout {
    /// Elements in row-major order, in dimensions of these lengths, at most [`RANK`].
    pub(in crate::kernel) fn dense(lengths: impl DoubleEndedIterator<Item = u64>) -> Self {
        let mut layout = Self { shape: [1; RANK], strides: [0; RANK], rank: 0 };
        let mut stride = 1_u64;
        for (at, len) in lengths.rev().take(RANK).enumerate() {
            (layout.shape[RANK - 1 - at], layout.strides[RANK - 1 - at]) = (len, stride);
            stride = stride.saturating_mul(len);
            layout.rank += 1;
        }
        layout
    }

    /// As [`Operand::dims`].
    pub(in crate::kernel) fn dims(&self) -> &[u64] {
        dims(&self.shape, self.rank)
    }
}

fn dims(shape: &[u64; RANK], rank: usize) -> &[u64] {
    &shape[RANK - rank.min(RANK)..]
}

/// An argument, in the order of the kernel's function.
#[derive(Debug, Clone, Copy)]
pub(super) enum Argument<'a> {
    /// The next operand.
    Memory,
    Value(Param),
    /// A table with this number of elements. It has no part in the launch's shape.
    Table(Access, &'a Block, u64),
}

/// The arguments of one launch of `map`, collected without heap allocation.
#[derive(Debug)]
pub struct Operands<'a> {
    pub(super) all: ArrayVec<Argument<'a>, MAX_PARAMS>,
    pub(in crate::kernel) operands: ArrayVec<Operand<'a>, MOST_OPERANDS>,
}

impl<'a> Operands<'a> {
    /// No arguments.
    pub(in crate::kernel) fn new() -> Self {
        Self { all: ArrayVec::new_const(), operands: ArrayVec::new_const() }
    }

    /// Adds memory that the kernel writes.
    pub fn output<T>(&mut self, name: &'static str, view: TensorViewMut<'a, T>) {
        self.memory(name, &view.into_view(), AccessMode::Write, false);
    }

    /// Adds memory that the kernel reads.
    pub fn input<T>(&mut self, name: &'static str, view: TensorView<'a, T>) {
        self.memory(name, &view, AccessMode::Read, false);
    }

    /// Adds memory that a stencil reads by a window.
    pub fn window<T>(&mut self, name: &'static str, view: TensorView<'a, T>) {
        self.memory(name, &view, AccessMode::Read, true);
    }

    /// Adds a table.
    pub fn table<T>(&mut self, name: &'static str, slice: &'a DeviceSlice<T>) {
        let access =
            Access { range: slice.range(), mode: AccessMode::Read, argument: name, rows: None };
        self.push(Argument::Table(access, slice.block(), slice.len() as u64));
    }

    /// Adds a parameter of a value.
    #[inline]
    pub fn param(&mut self, param: Param) {
        self.push(Argument::Value(param));
    }

    /// The accesses, for a launch that fails before they are known to its list.
    pub(super) fn touch_all(&self, passing: &mut Passing<'a>) {
        for operand in &self.operands {
            passing.touch(operand.access, None, operand.block);
        }
        for argument in &self.all {
            if let Argument::Table(access, block, _) = argument {
                passing.touch(*access, None, block);
            }
        }
    }

    fn memory<T>(
        &mut self,
        name: &'static str,
        view: &TensorView<'a, T>,
        mode: AccessMode,
        is_window: bool,
    ) {
        self.operand(Operand { is_window, ..Operand::of(name, view, mode) });
    }

    /// Adds memory.
    pub(in crate::kernel) fn operand(&mut self, operand: Operand<'a>) {
        self.push(Argument::Memory);
        // The macro has checked that a kernel has no more arguments than the lists have room for, here and in `push`.
        let _full = self.operands.try_push(operand);
    }

    fn push(&mut self, argument: Argument<'a>) {
        let _full = self.all.try_push(argument);
    }
}

/// "`a` is [3, 4]", for errors.
impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {:?}", self.name, self.dims())
    }
}
