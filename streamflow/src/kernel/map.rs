//! Launching kernels of `#[kernel(map)]`: the library makes the grid, from the shape of the outputs.
//!
//! Inputs broadcast as in NumPy: dimensions are compared from the last one, and one that is 1 or absent has the same element
//! throughout. Neighbouring dimensions that every argument passes through in one step are merged.
//!
//! A stencil is a kernel of `map` with windows. Its dimensions are those of its `reach`, so none is merged, and its blocks are tiles.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use arrayvec::ArrayVec;

use super::body::RANK;
use super::launch::launch_kernel;
use super::places::{Code, Tiles};
use super::{KernelInfo, Passing, launched};
use crate::driver::{Access, AccessMode, MAX_PARAMS, Param, Rows, SourceLocation};
use crate::error::{Error, Result};
use crate::memory::access::Order;
use crate::memory::{
    Block, Buffer, DeviceSlice, Element, PitchedTensor, Shared, Tensor, TensorView, TensorViewMut,
};
use crate::stream::CudaStream;

/// The most arguments in memory, as the macro checks.
pub(super) const MOST_OPERANDS: usize = 5;

/// A kernel made by `#[kernel(map)]` or `#[kernel(stencil(…))]`, for [`CudaStream::map`].
///
/// # Safety
/// The two descriptions are of one body, and a thread touches the elements at its own place alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel of one element",
    label = "not a kernel of `map`",
    note = "a kernel that `map` takes is a function with `#[kernel(map)]` or `#[kernel(stencil(…))]`"
)]
pub unsafe trait MapKernel: 'static {
    /// The code for arguments without gaps; of a stencil, for outputs and windows without gaps in their last dimension.
    const LINEAR: &'static KernelInfo;
    /// The code for fewer than 2³¹ elements at places below 2³², of views whose rows are without gaps.
    const FLAT: &'static KernelInfo;
    /// The code for any strides.
    const STRIDED: &'static KernelInfo;
    /// How many elements a thread has at a time, in a launch with many.
    const PER_THREAD: usize;
    /// How many coordinates the body reads; 0 for none.
    const COORDINATES: usize;
    /// The tiles of a stencil.
    const TILES: Option<Tiles>;
    /// A constant that no other type has. `#[operator(map = …)]` evaluates it, so that rustc reports another type once.
    #[doc(hidden)]
    const IS: bool = true;
}

/// The codes of a kernel of one element.
#[derive(Debug, Clone, Copy)]
pub struct Codes {
    /// Those of [`MapKernel`]: without gaps, for dense rows, and for any strides.
    pub(super) infos: [&'static KernelInfo; 3],
    /// How many elements a thread has at a time, in a launch with many.
    pub(super) per_thread: usize,
    /// The tiles of a stencil.
    pub(super) tiles: Option<Tiles>,
}

/// The code of a kernel for arguments without gaps, for the list of launched kernels.
struct Linear<K>(PhantomData<K>);
/// The code of a kernel for views with dense rows.
struct Flat<K>(PhantomData<K>);
/// The code of a kernel for any strides.
struct Strided<K>(PhantomData<K>);

impl<K: MapKernel> launched::Noted for Linear<K> {
    const INFO: &'static KernelInfo = K::LINEAR;
}

impl<K: MapKernel> launched::Noted for Flat<K> {
    const INFO: &'static KernelInfo = K::FLAT;
}

impl<K: MapKernel> launched::Noted for Strided<K> {
    const INFO: &'static KernelInfo = K::STRIDED;
}

/// The arguments of a launch of `K`, a tuple in the order of its function: tensors, buffers and views where the function has
/// references, and values.
#[diagnostic::on_unimplemented(
    message = "these are not the arguments of `{K}`",
    label = "other arguments than the kernel's",
    note = "pass a tuple in the order of the kernel's function: `&mut tensor` for `&mut T`, `&tensor` for `&T`, and values"
)]
pub trait MapArgs<'a, K> {
    /// Passes the arguments.
    #[doc(hidden)]
    fn pass(self, to: &mut Operands<'a>);
}

/// Memory whose elements a kernel of `map` writes.
#[diagnostic::on_unimplemented(
    message = "a kernel can't write elements of `{T}` to `{Self}`",
    label = "no memory of `{T}` that can be written",
    note = "pass `&mut` of a `Tensor<{T}>` or a `Buffer<{T}>`, or a `TensorViewMut<{T}>`"
)]
pub trait MapOutput<'a, T> {
    /// The elements.
    #[doc(hidden)]
    fn map_output(self) -> TensorViewMut<'a, T>;
}

/// Memory whose elements a kernel of `map` reads.
#[diagnostic::on_unimplemented(
    message = "a kernel can't read elements of `{T}` from `{Self}`",
    label = "no memory of `{T}`",
    note = "pass `&` of a `Tensor<{T}>` or a `Buffer<{T}>`, or a `TensorView<{T}>`"
)]
pub trait MapInput<'a, T> {
    /// The elements.
    #[doc(hidden)]
    fn map_input(self) -> TensorView<'a, T>;
}

/// Memory that a kernel of `map` reads as a table, without gaps.
#[diagnostic::on_unimplemented(
    message = "a kernel can't read a table of `{T}` from `{Self}`",
    label = "no table of `{T}`",
    note = "pass `&` of a `Tensor<{T}>`, a `Buffer<{T}>` or a `DeviceSlice<{T}>`: a table has no gaps"
)]
pub trait MapTable<'a, T> {
    /// The elements.
    #[doc(hidden)]
    fn map_table(self) -> &'a DeviceSlice<T>;
}

impl<'a, T> MapOutput<'a, T> for TensorViewMut<'a, T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        self
    }
}

impl<'a, T> MapInput<'a, T> for TensorView<'a, T> {
    fn map_input(self) -> TensorView<'a, T> {
        self
    }
}

// These have no macro in common: rustc would name it as the origin of its errors.

impl<'a, T: Element> MapOutput<'a, T> for &'a mut Tensor<T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        self.view_mut()
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a Tensor<T> {
    fn map_input(self) -> TensorView<'a, T> {
        self.view()
    }
}

impl<'a, T: Element> MapOutput<'a, T> for &'a mut PitchedTensor<T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        self.view_mut()
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a PitchedTensor<T> {
    fn map_input(self) -> TensorView<'a, T> {
        self.view()
    }
}

impl<'a, T: Element> MapOutput<'a, T> for &'a mut Buffer<T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        TensorViewMut::of_slice(self)
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a Buffer<T> {
    fn map_input(self) -> TensorView<'a, T> {
        TensorView::of_slice(self)
    }
}

impl<'a, T: Element> MapOutput<'a, T> for &'a mut DeviceSlice<T> {
    fn map_output(self) -> TensorViewMut<'a, T> {
        TensorViewMut::of_slice(self)
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a DeviceSlice<T> {
    fn map_input(self) -> TensorView<'a, T> {
        TensorView::of_slice(self)
    }
}

impl<'a, T: Element> MapInput<'a, T> for &'a Shared<Tensor<T>> {
    fn map_input(self) -> TensorView<'a, T> {
        self.view()
    }
}

impl<'a, T: Element> MapTable<'a, T> for &'a Tensor<T> {
    fn map_table(self) -> &'a DeviceSlice<T> {
        self
    }
}

impl<'a, T: Element> MapTable<'a, T> for &'a Buffer<T> {
    fn map_table(self) -> &'a DeviceSlice<T> {
        self
    }
}

impl<'a, T: Element> MapTable<'a, T> for &'a DeviceSlice<T> {
    fn map_table(self) -> &'a DeviceSlice<T> {
        self
    }
}

impl<'a, T: Element> MapTable<'a, T> for &'a Shared<Tensor<T>> {
    fn map_table(self) -> &'a DeviceSlice<T> {
        self
    }
}

/// An argument in memory.
#[derive(Debug)]
pub(super) struct Operand<'a> {
    pub(super) name: &'static str,
    access: Access,
    rows: Option<Rows>,
    block: &'a Block,
    /// The lengths and steps of the last four dimensions, and 1 before them.
    pub(super) shape: [u64; RANK],
    pub(super) strides: [u64; RANK],
    /// How many dimensions it has.
    pub(super) rank: usize,
    /// Whether it is a stencil's window.
    is_window: bool,
}

impl<'a> Operand<'a> {
    pub(super) fn of<T>(name: &'static str, view: &TensorView<'a, T>, mode: AccessMode) -> Self {
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

    /// The address of the first element.
    pub(super) fn address(&self) -> u64 {
        self.access.range.address
    }

    /// The lengths of its dimensions, of which it has at most [`RANK`].
    pub(super) fn dims(&self) -> &[u64] {
        &self.shape[RANK - self.rank.min(RANK)..]
    }

    /// Adds its access to those of a launch.
    pub(super) fn touch<'b>(&self, passing: &mut Passing<'b>)
    where
        'a: 'b,
    {
        passing.touch(self.access, self.rows, self.block);
    }
}

/// An argument, in the order of the kernel's function.
#[derive(Debug, Clone, Copy)]
enum Argument<'a> {
    /// The next operand.
    Memory,
    Value(Param),
    /// A table with this number of elements, which has no part in the launch's shape.
    Table(Access, &'a Block, u64),
}

/// The arguments of one launch of `map`, collected without heap allocation.
#[derive(Debug)]
pub struct Operands<'a> {
    all: ArrayVec<Argument<'a>, MAX_PARAMS>,
    operands: ArrayVec<Operand<'a>, MOST_OPERANDS>,
}

impl<'a> Operands<'a> {
    /// No arguments.
    pub(super) fn new() -> Self {
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
    fn touch_all(&self, passing: &mut Passing<'a>) {
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
        self.push(Argument::Memory);
        // The macro has checked that a kernel has no more arguments than the lists have room for, here and in `push`.
        let operand = Operand { is_window, ..Operand::of(name, view, mode) };
        let _full = self.operands.try_push(operand);
    }

    fn push(&mut self, argument: Argument<'a>) {
        let _full = self.all.try_push(argument);
    }
}

/// A launch, with one shape for all operands.
struct Plan {
    shape: [u64; RANK],
    /// The steps of each operand, 0 where it is broadcast.
    strides: ArrayVec<[u64; RANK], MOST_OPERANDS>,
    code: Code,
}

impl Plan {
    /// # Errors
    /// Shapes that don't fit, with the names of the arguments.
    fn new(
        kernel: &'static str,
        operands: &Operands<'_>,
        coordinates: usize,
        tiles: Option<Tiles>,
    ) -> Result<Self> {
        let wrong = |problem| Err(Error::Shapes { kernel, problem });
        let mut written =
            operands.operands.iter().filter(|operand| operand.access.mode == AccessMode::Write);
        let Some(first) = written.next() else { return wrong("nothing is written".to_owned()) };
        if let Some(other) = operands.operands.iter().find(|operand| operand.rank > RANK) {
            let (name, rank) = (other.name, other.rank);
            return wrong(format!(
                "`{name}` has {rank} dimensions, and a kernel of `map` at most {RANK}"
            ));
        }
        if coordinates > 0 && first.rank != coordinates {
            let (name, rank) = (first.name, first.rank);
            return wrong(format!(
                "the kernel reads {coordinates} coordinates, and `{name}` has {rank} dimensions"
            ));
        }
        if let Some(Tiles { rank: wanted, .. }) = tiles
            && first.rank != wanted
        {
            let (name, rank) = (first.name, first.rank);
            return wrong(format!(
                "the kernel's `reach` has {wanted} dimensions, and `{name}` has {rank}"
            ));
        }
        if let Some(other) =
            written.find(|other| (other.rank, other.shape) != (first.rank, first.shape))
        {
            return wrong(format!("{first} and {other}: all outputs have one shape"));
        }
        let mut windows = operands.operands.iter().filter(|operand| operand.is_window);
        if let Some(window) =
            windows.find(|window| (window.rank, window.shape) != (first.rank, first.shape))
        {
            return wrong(format!("{window} and {first}: a window has the shape of the output"));
        }
        let mut strides = ArrayVec::new();
        for operand in operands.operands.iter() {
            let mut steps = operand.strides;
            let dims = operand.shape.iter().zip(first.shape).zip(&mut steps);
            for ((len, _), step) in dims.filter(|((len, wanted), _)| **len != *wanted) {
                if *len != 1 {
                    return wrong(format!(
                        "{operand} and {first}: each dimension of an input, from the last, is that of the output or 1"
                    ));
                }
                *step = 0;
            }
            if operand.rank > first.rank {
                return wrong(format!(
                    "{operand} and {first}: an input has no more dimensions than the output"
                ));
            }
            let _full = strides.try_push(steps);
        }
        let mut plan = Self { shape: first.shape, strides, code: Code::Strided };
        let Some(tiles) = tiles else {
            plan.merge(coordinates);
            plan.code = Code::of(&plan.shape, &plan.strides);
            return Ok(plan);
        };
        let last = RANK - 1;
        let mut near = operands
            .operands
            .iter()
            .filter(|operand| operand.is_window || operand.access.mode == AccessMode::Write);
        let is_dense = plan.shape[last] == 1 || near.all(|operand| operand.strides[last] == 1);
        plan.code = Code::Tiled(tiles, is_dense);
        Ok(plan)
    }

    /// Merges dimensions, where the body reads no coordinates.
    fn merge(&mut self, coordinates: usize) {
        if coordinates > 1 {
            return;
        }
        let _outermost = merge(&mut self.shape, &mut self.strides);
    }

    fn count(&self) -> u64 {
        self.shape.iter().fold(1, |product: u64, len| product.saturating_mul(*len))
    }
}

/// Merges neighbouring dimensions that all operands pass through in one step. What is left are the last dimensions, and 1 before
/// them. Returns the first of them.
pub(super) fn merge(shape: &mut [u64; RANK], strides: &mut [[u64; RANK]]) -> usize {
    let mut at = RANK;
    for dim in (0..RANK).rev() {
        let len = std::mem::replace(&mut shape[dim], 1);
        if len == 1 {
            continue;
        }
        let inner = shape.get(at).copied().unwrap_or_default();
        if at < RANK && strides.iter().all(|steps| steps[dim] == steps[at].saturating_mul(inner)) {
            shape[at] = inner.saturating_mul(len);
            continue;
        }
        at -= 1;
        shape[at] = len;
        // No dimension that is still to be merged is at `at` or after it.
        strides.iter_mut().for_each(|steps| steps[at] = steps[dim]);
    }
    at
}

/// "`a` is [3, 4]", for errors.
impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {:?}", self.name, self.dims())
    }
}

impl CudaStream {
    /// Queues a kernel of one element, for all elements of its outputs: `stream.map::<scale>((&mut out, &image, 2.0))?`. A stencil,
    /// whose arguments have a [`Window`](crate::kernel::Window) too, is launched in the same way. Like
    /// [`launch`](Self::launch), it comes after all work that its arguments must come after, and does not block the host. The
    /// library makes the grid.
    ///
    /// All outputs have one shape, of 1 to 4 dimensions. An input has the same shape, or one that *broadcasts* to it, as in
    /// NumPy: compared from the last dimension, a dimension of length 1, or one that is missing, has the same elements
    /// throughout. A window has the output's shape, of as many dimensions as the stencil's `reach`. Views with any strides will do.
    /// With no elements nothing is launched.
    ///
    /// ```
    /// use streamflow::prelude::*;
    ///
    /// /// Shifts and scales each element by the numbers of its column.
    /// #[kernel(map)]
    /// fn normalize(out: &mut f32, image: &f32, mean: &f32, range: &f32) {
    ///     *out = if *range > 0.0 { (*image - *mean) / *range } else { 0.0 };
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
    /// let image = platform.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?.reshape([2, 3])?;
    /// let (mean, range) = (platform.upload(&[1.0_f32, 2.0, 3.0])?, platform.upload(&[3.0_f32, 0.0, 1.5])?);
    /// let mut out = platform.tensor([2, 3], &stream)?;
    /// stream.map::<normalize>((&mut out, &image, &mean, &range))?;
    /// assert_eq!(stream.download_blocking::<f32>(&out)?, [0.0, 0.0, 0.0, 1.0, 0.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Shapes`] for shapes that don't fit; those of [`launch`](Self::launch).
    #[track_caller]
    pub fn map<'a, K: MapKernel>(&self, args: impl MapArgs<'a, K>) -> Result<()> {
        let location = Location::caller();
        launched::note::<Linear<K>>();
        launched::note::<Flat<K>>();
        launched::note::<Strided<K>>();
        let mut operands = Operands::new();
        args.pass(&mut operands);
        let codes = Codes {
            infos: [K::LINEAR, K::FLAT, K::STRIDED],
            per_thread: K::PER_THREAD,
            tiles: K::TILES,
        };
        self.launch_map(&codes, K::COORDINATES, &operands, location)
    }

    /// Launches a kernel of one element. This function is not generic, so that it is compiled only once for all kernels.
    pub(super) fn launch_map(
        &self,
        codes: &Codes,
        coordinates: usize,
        operands: &Operands<'_>,
        location: SourceLocation,
    ) -> Result<()> {
        let plan = Plan::new(codes.infos[0].name, operands, coordinates, codes.tiles);
        let mut passing = Passing::new();
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => {
                operands.touch_all(&mut passing);
                passing.fail(&error);
                return Err(error);
            }
        };
        if plan.count() == 0 {
            return Ok(());
        }
        plan.code.lengths(&plan.shape).into_iter().flatten().for_each(|len| passing.number(len));
        let mut parts = operands.operands.iter().zip(&plan.strides);
        for argument in &operands.all {
            let (operand, strides) = match argument {
                Argument::Value(value) => {
                    passing.param(*value);
                    continue;
                }
                Argument::Table(access, block, len) => {
                    passing.number(access.range.address);
                    passing.number(*len);
                    passing.touch(*access, None, block);
                    continue;
                }
                Argument::Memory => match parts.next() {
                    Some(part) => part,
                    None => continue,
                },
            };
            passing.number(operand.address());
            if plan.code != Code::Linear {
                strides.iter().for_each(|stride| passing.number(*stride));
            } else {
                passing.number(plan.shape[RANK - 1]);
            }
            operand.touch(&mut passing);
        }
        let [linear, flat, strided] = codes.infos;
        let info = match plan.code {
            Code::Linear | Code::Tiled(_, true) => linear,
            Code::Flat => flat,
            Code::Strided | Code::Tiled(_, false) => strided,
        };
        let grid = plan.code.grid(&plan.shape, codes.per_thread);
        launch_kernel(self, info, &grid, &mut passing, Order::ByData, location)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::{Platform, device, kernel};

    #[kernel(map)]
    fn look_up(out: &mut f32, a: &u8, table: &[f32]) {
        *out = table[*a as usize];
    }

    /// Neither the length of a table nor its address keeps the code for slices from a launch.
    #[test]
    fn a_table_is_no_operand() {
        let platform = Platform::host().build().unwrap();
        let stream = platform.default_stream(device(0)).unwrap();
        let mut out = platform.tensor::<f32>([4], &stream).unwrap();
        let a = platform.tensor::<u8>([4], &stream).unwrap();
        for len in [1, 3, 1000] {
            let table = platform.tensor::<f32>([len], &stream).unwrap();
            let mut operands =
                Operands { all: ArrayVec::new_const(), operands: ArrayVec::new_const() };
            MapArgs::<look_up>::pass((&mut out, &a, &table), &mut operands);
            let plan = Plan::new("look_up", &operands, 0, None).unwrap();
            assert!(plan.code == Code::Linear && plan.count() == 4 && operands.all.len() == 3);
        }
    }
}
