//! Launching kernels of `#[kernel(map)]`: the library makes the grid, from the shape of the outputs.
//!
//! Inputs broadcast as in NumPy: dimensions are compared from the last one, and one that is 1 or absent has the same element
//! throughout. Neighbouring dimensions that every argument passes through in one step are merged.
//!
//! A stencil is a kernel of `map` with windows. Its dimensions are those of its `reach`, so none is merged, and its blocks are tiles.

mod memory;
mod operands;
mod plan;

use std::marker::PhantomData;
use std::panic::Location;

pub use self::memory::{MapInput, MapOutput, MapTable};
use self::operands::Argument;
pub use self::operands::Operands;
pub(super) use self::operands::{Layout, MOST_OPERANDS, Operand};
use self::plan::Plan;
pub(super) use self::plan::merge;
use super::body::RANK;
use super::launch::launch_kernel;
use super::places::{Code, Tiles};
use super::{KernelInfo, Passing, launched};
use crate::driver::SourceLocation;
use crate::error::Result;
use crate::memory::access::Order;
use crate::stream::CudaStream;

/// A kernel made by `#[kernel(map)]` or `#[kernel(stencil(…))]`, for [`CudaStream::map`].
///
/// # Safety
/// The descriptions are of one body, and a thread touches the elements at its own place alone.
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

/// A code of a kernel, by its number in [`Codes`], for the list of launched kernels.
struct Listed<K, const CODE: usize>(PhantomData<K>);

impl<K: MapKernel, const CODE: usize> launched::Noted for Listed<K, CODE> {
    const INFO: &'static KernelInfo = [K::LINEAR, K::FLAT, K::STRIDED][CODE];
}

/// The arguments of a launch of `K`, a tuple in the order of its function: tensors, buffers and views where the function has
/// references, and values.
///
/// # Safety
/// [`pass`](Self::pass) passes the arguments of `K`, all of them in order, each with the type of its elements or of its value.
#[diagnostic::on_unimplemented(
    message = "these are not the arguments of `{K}`",
    label = "other arguments than the kernel's",
    note = "pass a tuple in the order of the kernel's function: `&mut tensor` for `&mut T`, `&tensor` for `&T`, and values"
)]
pub unsafe trait MapArgs<'a, K> {
    /// Passes the arguments.
    #[doc(hidden)]
    fn pass(self, to: &mut Operands<'a>);
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
    /// [`Error::Shapes`](crate::Error::Shapes) for shapes that don't fit; those of [`launch`](Self::launch).
    #[track_caller]
    pub fn map<'a, K: MapKernel>(&self, args: impl MapArgs<'a, K>) -> Result<()> {
        let location = Location::caller();
        launched::note::<Listed<K, 0>>();
        launched::note::<Listed<K, 1>>();
        launched::note::<Listed<K, 2>>();
        let mut operands = Operands::new();
        args.pass(&mut operands);
        let codes = Codes {
            infos: [K::LINEAR, K::FLAT, K::STRIDED],
            per_thread: K::PER_THREAD,
            tiles: K::TILES,
        };
        // SAFETY: the unsafe traits `MapKernel` and `MapArgs` promise codes of one kernel, and its arguments.
        unsafe { self.launch_map(&codes, K::COORDINATES, &operands, location) }
    }

    /// Launches a kernel of one element. This function is not generic, so that it is compiled only once for all kernels.
    ///
    /// # Safety
    /// The codes are those of one kernel, each for its places. The operands are the arguments of this kernel, in order, and
    /// [`Operands`] has the memory of each by a reference or a view.
    pub(super) unsafe fn launch_map(
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
        // SAFETY: the parameters are those of the code: the lengths that it needs, then each argument as the code's places need it.
        // Each argument in memory has its access, and the caller vouches that the kernel has these arguments.
        unsafe { launch_kernel(self, info, &grid, &mut passing, Order::ByData, location) }
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
            let mut operands = Operands::new();
            MapArgs::<look_up>::pass((&mut out, &a, &table), &mut operands);
            let plan = Plan::new("look_up", &operands, 0, None).unwrap();
            assert!(plan.code == Code::Linear && plan.count() == 4 && operands.all.len() == 3);
        }
    }
}
