//! Reductions: many elements become one, by one tree on both platforms.
//!
//! # The tree
//! The shape of the tree depends on the shape and the strides of the input alone, so that the sum of floats is equal bit by bit on
//! each GPU and on the simulator. A result has `n` elements, in row-major order.
//!
//! - **Lanes.** There are 1 lane for `n` ≤ 16, 32 lanes for `n` ≤ 1024, and 256 lanes for more. Lane `l` of `w` has the elements
//!   `4 (l + w k) + c`, for `c` from 0 to 3 and each `k`. For each `c` it combines the identity with its elements in order, which
//!   gives `s0` to `s3`. Its value is `(s0 ∘ s1) ∘ (s2 ∘ s3)`.
//! - **Lanes of a warp.** Lane `l` of each 32 combines its value with that of lane `l + 16`, then `l + 8`, `l + 4`, `l + 2` and
//!   `l + 1`. The 8 values of 256 lanes are combined as 8 lanes: with `l + 4`, `l + 2` and `l + 1`.
//! - **Parts.** More than 16,384 elements are split into parts of `4096 ⌈⌈n / 4096⌉ / 512⌉`, at most 512 of them, each with 256
//!   lanes. The values of the parts are the elements of a tree of their own.
//! - **Columns.** Along an axis whose stride is larger than that of another dimension, with more than one result, there are `p`
//!   parts instead: 2¹⁸ over the number of results, at most 512 and at most `⌈n / 16⌉`, and at least 1. Part `q` has the elements
//!   `q + p (4 k + c)`, which it combines as a lane does.

mod host;
mod info;
pub(crate) mod library;
pub(crate) mod norms;
mod plan;

use std::panic::Location;

pub use self::info::Described;
use self::plan::Plan;
use super::combine::{Call, Function, ScanKernel, operands};
use super::launch::launch_kernel;
use super::map::{MapInput, MapOutput, Operand};
use super::{Grid, Passing, launched};
use crate::driver::{Access, AccessMode, SourceLocation};
use crate::error::{Error, Result};
use crate::memory::Scratch;
use crate::memory::access::Order;
use crate::stream::CudaStream;

/// A reduction, for [`CudaStream::reduce`]: a function with `#[kernel(reduce(…))]`, or one of [`reductions`](super::reductions). Its
/// result is the same, up to rounding, for any order of the values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reduction",
    label = "not a reduction",
    note = "a reduction is a function with `#[kernel(reduce(identity = 0.0))]`, or a type of `streamflow::kernel::reductions`, as `Sum<f32>`"
)]
pub trait ReduceKernel: 'static {
    /// The kernel itself. A type that is not a reduction lacks this trait alone, so that rustc reports a single mistake.
    #[doc(hidden)]
    type Function: ScanKernel;
}

impl CudaStream {
    /// Queues a reduction of all elements to one: `stream.reduce::<sum>(&mut out, &image)?`. Like [`launch`](Self::launch), it comes
    /// after all work that its arguments must come after, and does not block the host.
    ///
    /// `K` is a function with [`#[kernel(reduce(identity = 0.0))]`](macro@crate::kernel), or one of
    /// [`reductions`](crate::kernel::reductions). `out` has one element, and the input 1 to 4 dimensions of any strides. Without
    /// elements the result is the identity.
    ///
    /// The elements are combined by one tree, whose shape depends on the number of elements alone: the result is equal bit by bit
    /// on each GPU and on the simulator. So the order is fixed but not that of the elements, and a function that does not give the
    /// same for another order, up to rounding, is no reduction.
    ///
    /// ```
    /// use streamflow::kernel::reductions::{ArgMax, Mean};
    /// use streamflow::prelude::*;
    ///
    /// /// The sum.
    /// #[kernel(reduce(identity = 0.0))]
    /// fn sum(a: f32, b: f32) -> f32 {
    ///     a + b
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
    /// let image = platform.upload(&[1.0_f32, 2.0, 6.0, 4.0, 5.0, 3.0])?.reshape([2, 3])?;
    /// let mut total = platform.tensor([1], &stream)?;
    /// stream.reduce::<sum>(&mut total, &image)?;
    /// assert_eq!(stream.download_blocking::<f32>(&total)?, [21.0]);
    /// let mut place = platform.tensor([1], &stream)?;
    /// stream.reduce::<ArgMax<f32>>(&mut place, &image)?;
    /// assert_eq!(stream.download_blocking::<u64>(&place)?, [2]);
    /// let mut means = platform.tensor([2], &stream)?;
    /// stream.reduce_axis::<Mean<f32>>(&mut means, &image, 1)?;
    /// assert_eq!(stream.download_blocking::<f32>(&means)?, [3.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Shapes`] for shapes that don't fit; [`Error::OutOfMemory`] for the values of parts, at most 512 for a long input;
    /// those of [`launch`](Self::launch).
    #[track_caller]
    pub fn reduce<'a, K: ReduceKernel>(
        &self,
        out: impl MapOutput<'a, <K::Function as ScanKernel>::Output>,
        input: impl MapInput<'a, <K::Function as ScanKernel>::Input>,
    ) -> Result<()> {
        launched::note::<Described<K::Function>>();
        let operands = operands(out, input);
        let function = Described::<K::Function>::FUNCTION;
        // SAFETY: the operands have the function's types.
        unsafe { queue(self, function, &operands, None, Location::caller()) }
    }

    /// Queues a reduction along one axis: `stream.reduce_axis::<sum>(&mut sums, &image, 1)?` adds the elements of each row. The
    /// output has the shape of the input without the axis, or with a length of 1 there. In other respects as
    /// [`reduce`](Self::reduce).
    ///
    /// The tree depends on the shape of the input, and on whether the axis is the one with the smallest stride: the sums of a
    /// matrix's columns may differ in the last bits from the sums of the same numbers as rows.
    ///
    /// # Errors
    /// As for [`reduce`](Self::reduce); [`Error::Shapes`] if the input has no such axis.
    #[track_caller]
    pub fn reduce_axis<'a, K: ReduceKernel>(
        &self,
        out: impl MapOutput<'a, <K::Function as ScanKernel>::Output>,
        input: impl MapInput<'a, <K::Function as ScanKernel>::Input>,
        axis: usize,
    ) -> Result<()> {
        launched::note::<Described<K::Function>>();
        let operands = operands(out, input);
        let function = Described::<K::Function>::FUNCTION;
        // SAFETY: the operands have the function's types.
        unsafe { queue(self, function, &operands, Some(axis), Location::caller()) }
    }
}

/// Queues the launches of a reduction. This function is not generic, so that it is compiled only once for all functions.
///
/// # Safety
/// As for `combine::call::Queue`, for the description of reductions.
pub(super) unsafe fn queue(
    stream: &CudaStream,
    function: Function,
    operands: &[Operand<'_>; 2],
    axis: Option<usize>,
    location: SourceLocation,
) -> Result<()> {
    let info = function.info;
    let [out, input] = operands;
    let failed = |error: Error| {
        let mut passing = Passing::new();
        operands.iter().for_each(|operand| operand.touch(&mut passing));
        passing.fail(&error);
        Err(error)
    };
    let plan = match Plan::new(info.name, out, input, axis) {
        Ok(plan) => plan,
        Err(error) => return failed(error),
    };
    if plan.results() == 0 {
        return Ok(());
    }
    Call::note(queue, function, operands, axis, (plan.form, plan.blocks()));
    let launch = |plan: &Plan, passing: &mut Passing<'_>| {
        let grid = Grid::blocks(plan.blocks() as usize);
        // SAFETY: `Plan::pass` passes the parameters of a reduction, and each list below has an access for each of the two
        // addresses. `operands` are made of a view to write and of one to read, and nothing else has the memory of the parts.
        unsafe { launch_kernel(stream, info, &grid, passing, Order::ByData, location) }
    };
    if plan.parts == 1 {
        let mut passing = Passing::new();
        plan.pass((input.address(), out.address()), &mut passing);
        operands.iter().for_each(|operand| operand.touch(&mut passing));
        return launch(&plan, &mut passing);
    }
    let bytes = function.state as u64 * plan.parts;
    let scratch = match Scratch::new(stream, bytes.saturating_mul(plan.results())) {
        Ok(scratch) => scratch,
        Err(error) => return failed(error),
    };
    let (range, block) = scratch.memory();
    let of_parts = |mode| Access { range, mode, argument: "parts", rows: None };
    let mut first = Passing::new();
    plan.pass((input.address(), range.address), &mut first);
    first.touch(of_parts(AccessMode::Write), None, block);
    input.touch(&mut first);
    if let Err(error) = launch(&plan, &mut first) {
        return failed(error);
    }
    let mut second = Passing::new();
    let plan = plan.second();
    plan.pass((range.address, out.address()), &mut second);
    out.touch(&mut second);
    second.touch(of_parts(AccessMode::Read), None, block);
    launch(&plan, &mut second)
}
