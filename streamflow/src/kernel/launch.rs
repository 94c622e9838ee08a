//! Launching kernels on streams: each launch first waits for what its arguments need (law 7).

use std::panic::Location;

use super::bounds::{self, Bounds};
use super::state::KernelState;
use super::{Grid, Kernel, KernelInfo, Passing};
use crate::driver::{Launch, LoadedKernel, Note, SourceLocation};
use crate::error::Result;
use crate::stream::CudaStream;

impl CudaStream {
    /// Queues a kernel, after everything its arguments must come after on whatever stream. Does not
    /// block the host. `grid` is a number of elements, or a [`Grid`].
    ///
    /// The kernel is compiled the first time that it is launched on a device.
    ///
    /// # Errors
    /// A requirement of the kernel that does not hold; a grid that can't be; memory of another device
    /// or platform; CUDA source that does not compile; the driver's.
    #[track_caller]
    pub fn launch<K: Kernel>(&self, grid: impl Into<Grid>, args: K::Args<'_>) -> Result<()> {
        let mut passing = Passing::new();
        K::pass(args, &mut passing)?;
        launch_kernel(self, K::INFO, grid.into(), &mut passing, Order::ByData, Location::caller())
    }

    /// Queues a kernel as [`launch`](Self::launch) does, but without waiting for what its arguments must
    /// come after. Whoever uses the memory later waits for it all the same.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// This stream comes after the last write of each argument, and after the last reads of those that
    /// the kernel writes, allocation and reuse included; or the kernel touches other elements than they
    /// do. The [race checker](crate::driver::race) finds where it does not.
    #[track_caller]
    pub unsafe fn launch_unordered<K: Kernel>(
        &self,
        grid: impl Into<Grid>,
        args: K::Args<'_>,
    ) -> Result<()> {
        let mut passing = Passing::new();
        K::pass(args, &mut passing)?;
        launch_kernel(self, K::INFO, grid.into(), &mut passing, Order::ByCaller, Location::caller())
    }
}

/// Who orders a launch after what its arguments must come after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Each argument knows.
    ByData,
    /// The caller vouches for it.
    ByCaller,
}

/// Not generic, so that it is compiled once.
fn launch_kernel(
    stream: &CudaStream,
    info: &'static KernelInfo,
    grid: Grid,
    passing: &mut Passing<'_>,
    order: Order,
    location: SourceLocation,
) -> Result<()> {
    stream.ready()?;
    let (table, device) = (stream.table(), stream.device());
    // Each instance of a generic kernel has an `INFO` of its own.
    let key = std::ptr::from_ref(info).addr();
    let state = KernelState::of(table);
    let loaded = state.loaded(device).get(key, || {
        stream.timeline().bind()?;
        super::load(table.driver().as_ref(), device, info)
    })?;
    if bounds::enabled() == Bounds::Checked {
        stream.timeline().bind()?;
        passing.report(state.report(device)?);
    }
    let kernel = (info.name, &loaded, info.threads);
    submit(stream, kernel, grid, passing, order, location)
}

pub(super) fn submit(
    stream: &CudaStream,
    (name, loaded, threads): (&str, &LoadedKernel, Option<[u32; 3]>),
    grid: Grid,
    passing: &Passing<'_>,
    order: Order,
    location: SourceLocation,
) -> Result<()> {
    passing.check(name)?;
    let Some(shape) = grid.shape(loaded, threads) else {
        return grid.refuse(name, loaded, threads);
    };
    let timeline = stream.timeline();
    let point = timeline.open_point();
    for (index, (block, access)) in passing.blocks().enumerate() {
        let claimed = match order {
            Order::ByData => block.claim(stream, access.mode, point, access.argument),
            Order::ByCaller => block.check(stream, access.argument),
        };
        if claimed.is_err() {
            // A claim is told also when nothing is queued: it may have taken the place of a later use.
            if order == Order::ByData {
                let before = passing.blocks().take(index);
                before.for_each(|(block, access)| block.queued(stream, access.mode, point));
            }
            return claimed;
        }
    }
    let launch = Launch {
        function: loaded.function,
        name,
        grid: shape.grid.into(),
        block: shape.block.into(),
        shared_bytes: shape.shared_bytes,
        params: passing.params(),
        accesses: passing.accesses(),
    };
    crate::turns::point("a launch after its claims");
    stream.table().tell(&Note::At(location));
    // SAFETY: the parameters are the kernel's: `Kernel` is an unsafe trait that promises it, and so
    // does the caller of `launch_function`. The memory is alive: its blocks are given up only after
    // the uses that were noted.
    let queued = unsafe { timeline.driver().launch(timeline.raw(), &launch) };
    crate::turns::point("a launch before its claims are looked at");
    // `Block::queued`, with one look for all of them.
    if order == Order::ByCaller || !timeline.is_open(point) {
        passing.blocks().for_each(|(block, access)| block.note(stream, access.mode));
    }
    Ok(queued?)
}
