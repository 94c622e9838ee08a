//! Scans: each result is the value of an element and of all elements before it, by one tree on both platforms.
//!
//! # The tree
//! The shape of the tree depends on the shape and the strides of the input, and on the size of a value, so that the sums of floats are
//! equal bit by bit on each GPU and on the simulator. A row has `n` elements. Values are combined in the order of the elements. A
//! place without a value before it has the identity there.
//!
//! - **Neighbours.** Each four elements are combined in order, which gives four values. A result is `b ∘ v`, of its value `v` among the
//!   four and the value `b` of all elements before the four.
//! - **Lanes.** A row has one lane for `n` ≤ 16. It also has one if there are at least 4,096 rows, and a dimension of more than one
//!   element has a smaller stride than the axis. The lane combines the last values of the fours in order, after the identity.
//! - **Lanes of a warp.** For `n` ≤ 512 there are 32 lanes for 128 elements. For `d` of 1, 2, 4, 8 and 16, lane `l` combines the value
//!   of lane `l - d` with its own. That of the last lane is the value of the 128 elements. These values are combined in order.
//! - **Tiles.** More elements are split into tiles of 8 warps with 8, 4 or 2 times 128 elements for values of at most 4, at most 8, or
//!   more bytes. A warp combines the values of its 128 elements in order, and the tile combines those of its warps in order.
//! - **Groups.** The values of each 32 tiles are combined as those of lanes are, for the tiles before this one, and so are the values
//!   of each 32 groups. The values of groups of groups are combined in order. The value before a tile is `(s ∘ g) ∘ t`: of the groups
//!   of groups, of the groups, and of the tiles before it.

mod host;
mod info;
mod plan;

use std::panic::Location;

pub use self::info::Scanned;
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

impl CudaStream {
    /// Queues a scan of all elements, in row-major order: `stream.scan::<sum>(&mut sums, &image)?`. Each result is the value of its
    /// element and of all elements before it. Like [`launch`](Self::launch), it comes after all work that its arguments must come
    /// after, and does not block the host.
    ///
    /// `K` is a function with [`#[kernel(scan(identity = 0.0))]`](macro@crate::kernel), a reduction, or one of
    /// [`reductions`](crate::kernel::reductions): `Sum` gives running sums, `Mean` running means. The output has the shape of the
    /// input, at most 4 dimensions of any strides. For results without their own elements, write to the part of a longer output
    /// that begins one place later, and the identity to its first element.
    ///
    /// The values are combined in the order of the elements, by a tree that depends on the shape and the strides of the input: a
    /// result that is a number is equal bit by bit on each GPU and on the simulator, if `map` has exact operations alone. A function
    /// for which `(a ∘ b) ∘ c` differs from `a ∘ (b ∘ c)` by more than rounding is no scan.
    ///
    /// ```
    /// use streamflow::kernel::reductions::Max;
    /// use streamflow::prelude::*;
    ///
    /// /// The sum.
    /// #[kernel(scan(identity = 0.0))]
    /// fn sum(a: f32, b: f32) -> f32 {
    ///     a + b
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
    /// let image = platform.upload(&[1.0_f32, 2.0, 6.0, 4.0, 5.0, 3.0])?.reshape([2, 3])?;
    /// let mut sums = platform.tensor([2, 3], &stream)?;
    /// stream.scan::<sum>(&mut sums, &image)?;
    /// assert_eq!(stream.download_blocking::<f32>(&sums)?, [1.0, 3.0, 9.0, 13.0, 18.0, 21.0]);
    /// stream.scan_axis::<Max<f32>>(&mut sums, &image, 1)?;
    /// assert_eq!(stream.download_blocking::<f32>(&sums)?, [1.0, 2.0, 6.0, 4.0, 5.0, 5.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Shapes`] for shapes that differ; [`Error::OutOfMemory`] for the values of parts, at most a byte for each 16 elements;
    /// those of [`launch`](Self::launch).
    #[track_caller]
    pub fn scan<'a, K: ScanKernel>(
        &self,
        out: impl MapOutput<'a, K::Output>,
        input: impl MapInput<'a, K::Input>,
    ) -> Result<()> {
        launched::note::<Scanned<K>>();
        let operands = operands(out, input);
        // SAFETY: the operands have the function's types.
        unsafe { queue(self, Scanned::<K>::FUNCTION, &operands, None, Location::caller()) }
    }

    /// Queues a scan along one axis: `stream.scan_axis::<sum>(&mut sums, &image, 1)?` has the running sums of each row. In other
    /// respects as [`scan`](Self::scan).
    ///
    /// From 4,096 rows on, an axis that is not the one with the smallest stride has another tree: the running sums of a matrix's
    /// columns may differ in the last bits from those of the same numbers as rows. Each such row is the work of one thread.
    ///
    /// # Errors
    /// As for [`scan`](Self::scan); [`Error::Shapes`] if the input has no such axis.
    #[track_caller]
    pub fn scan_axis<'a, K: ScanKernel>(
        &self,
        out: impl MapOutput<'a, K::Output>,
        input: impl MapInput<'a, K::Input>,
        axis: usize,
    ) -> Result<()> {
        launched::note::<Scanned<K>>();
        let operands = operands(out, input);
        // SAFETY: the operands have the function's types.
        unsafe { queue(self, Scanned::<K>::FUNCTION, &operands, Some(axis), Location::caller()) }
    }
}

/// Queues the launches of a scan. This function is not generic, so that it is compiled only once for all functions.
///
/// # Safety
/// As for `combine::call::Queue`, for the description of scans.
unsafe fn queue(
    stream: &CudaStream,
    function: Function,
    operands: &[Operand<'_>; 2],
    axis: Option<usize>,
    location: SourceLocation,
) -> Result<()> {
    let info = function.info;
    let [out, input] = operands;
    let touched = || {
        let mut passing = Passing::new();
        operands.iter().for_each(|operand| operand.touch(&mut passing));
        passing
    };
    let failed = |error: Error| {
        touched().fail(&error);
        Err(error)
    };
    let size = function.state;
    let plan = match Plan::new(info.name, out, input, axis, size) {
        Ok(plan) => plan,
        Err(error) => return failed(error),
    };
    if plan.rows() == 0 || plan.length() == 0 {
        return Ok(());
    }
    Call::note(queue, function, operands, axis, (plan.form, plan.blocks(size)));
    let launch = |plan: &Plan, passing: &mut Passing<'_>| {
        let grid = Grid::blocks(plan.blocks(size) as usize);
        // SAFETY: `Plan::pass` passes the parameters of a scan, and each list below has an access for each of its addresses.
        // `operands` are made of a view to write and of one to read, and nothing else has the memory of the tiles.
        unsafe { launch_kernel(stream, info, &grid, passing, Order::ByData, location) }
    };
    let memory = match plan.tiles {
        1 => None,
        _ => match Scratch::new(stream, plan.numbers(size).saturating_mul(8)) {
            Ok(memory) => Some(memory),
            Err(error) => return failed(error),
        },
    };
    let Some(memory) = memory else {
        let mut passing = touched();
        plan.pass([input.address(), out.address(), 0], &mut passing);
        return launch(&plan, &mut passing);
    };
    let (range, block) = memory.memory();
    let of_tiles = Access { range, mode: AccessMode::Write, argument: "tiles", rows: None };
    let mut clear = Passing::new();
    plan.clear().pass([0, 0, range.address], &mut clear);
    clear.touch(of_tiles, None, block);
    if let Err(error) = launch(&plan.clear(), &mut clear) {
        return failed(error);
    }
    let mut passing = touched();
    plan.pass([input.address(), out.address(), range.address], &mut passing);
    passing.touch(of_tiles, None, block);
    launch(&plan, &mut passing)
}
