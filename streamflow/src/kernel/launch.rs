//! Launching kernels on streams: each launch first waits for what its arguments need (law 7).

use super::bounds::{self, Bounds};
use super::state::KernelState;
use super::{Grid, Kernel, KernelInfo, Passing};
use crate::driver::{Launch, LoadedKernel};
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
    pub fn launch<K: Kernel>(&self, grid: impl Into<Grid>, args: K::Args<'_>) -> Result<()> {
        let mut passing = Passing::new();
        K::pass(args, &mut passing)?;
        launch_kernel(self, K::INFO, grid.into(), &mut passing)
    }
}

/// Not generic, so that it is compiled once.
fn launch_kernel(
    stream: &CudaStream,
    info: &'static KernelInfo,
    grid: Grid,
    passing: &mut Passing<'_>,
) -> Result<()> {
    stream.timeline().bind()?;
    let (table, device) = (stream.table(), stream.device());
    // Each instance of a generic kernel has an `INFO` of its own.
    let key = std::ptr::from_ref(info).addr();
    let state = KernelState::of(table);
    let loaded =
        state.loaded(device).get(key, || super::load(table.driver().as_ref(), device, info))?;
    if bounds::enabled() == Bounds::Checked {
        passing.report(state.report(device)?);
    }
    submit(stream, info.name, &loaded, grid, info.threads, passing)
}

pub(super) fn submit(
    stream: &CudaStream,
    name: &str,
    loaded: &LoadedKernel,
    grid: Grid,
    threads: Option<[u32; 3]>,
    passing: &Passing<'_>,
) -> Result<()> {
    let Some(shape) = grid.resolve(name, loaded, threads)? else { return Ok(()) };
    let (timeline, raw) = (stream.timeline(), stream.raw());
    let point = timeline.open_point();
    for ((block, mode), access) in passing.blocks().iter().zip(passing.accesses()) {
        block.claim(stream, *mode, point, access.argument)?;
    }
    let launch = Launch {
        function: loaded.function,
        name,
        grid: shape.grid,
        block: shape.block,
        shared_bytes: shape.shared_bytes,
        params: passing.params(),
        accesses: passing.accesses(),
    };
    // SAFETY: the parameters are the kernel's: `Kernel` is an unsafe trait that promises it, and so
    // does the caller of `launch_function`. The memory is alive: its blocks are given up only after
    // the uses that were noted.
    let queued = unsafe { timeline.driver().launch(raw, &launch) };
    if !timeline.is_open(point) {
        passing.blocks().iter().for_each(|(block, mode)| block.note(stream, *mode));
    }
    Ok(queued?)
}
