//! Launching kernels on streams: the stream first waits for the work that the arguments depend on (law 7).

use std::panic::Location;

use super::bounds::{self, Bounds};
use super::grid::IntoGrid;
use super::remembered::{self, Checked};
use super::state::KernelState;
use super::{Coverage, Grid, Kernel, KernelInfo, Passing, axes, coverage, launched, recorded};
use crate::driver::{Launch, Note, SourceLocation};
use crate::error::Result;
use crate::memory::access::{self, Order};
use crate::stream::CudaStream;

impl CudaStream {
    /// Queues a kernel on this stream, after the work on any stream that its arguments must come after. Does not block the host.
    /// `grid` is a number of elements, or a [`Grid`].
    ///
    /// The kernel is compiled the first time that it is launched on a device.
    ///
    /// Write the tuple of arguments in the call itself. The compiler then knows the types of the parameters, so a `&Tensor` or a
    /// `&Buffer` becomes the `&DeviceSlice` that the kernel takes. In a tuple that was first stored in a variable, the argument
    /// stays a `&Tensor`, which is a type error.
    ///
    /// # Errors
    /// A requirement of the kernel that does not hold; an illegal grid, one that is too small for the kernel's
    /// `&mut` slices, or one with other dimensions than the CUDA body reads, as [`#[kernel]`](macro@crate::kernel) says under
    /// *The grid*; memory of another device or platform; [`Error::Unwritten`](crate::Error::Unwritten) for memory that a call which
    /// has failed was to write; CUDA source that does not compile; the driver's.
    #[track_caller]
    #[inline(always)]
    pub fn launch<K: Kernel>(&self, grid: impl IntoGrid, args: K::Args<'_>) -> Result<()> {
        // The grid is converted in this inlined function and not in a callee, so that it is not copied.
        let grid = grid.into();
        // SAFETY: the order is by data.
        unsafe { launch_typed::<K>(self, &grid, args, Order::ByData, Location::caller()) }
    }

    /// Queues a kernel as [`launch`](Self::launch) does, but without waiting for the work that its arguments must come after.
    /// Later uses of the memory wait for this kernel, as after any launch.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// This stream already comes after the last write of each argument, and after the last reads of the arguments that
    /// the kernel writes, allocation and reuse included; or the kernel touches other elements than those uses do. The
    /// [race checker](crate::driver::race) reports launches that break this.
    #[track_caller]
    pub unsafe fn launch_unordered<K: Kernel>(
        &self,
        grid: impl IntoGrid,
        args: K::Args<'_>,
    ) -> Result<()> {
        // SAFETY: the caller vouches for the order.
        unsafe { launch_typed::<K>(self, &grid.into(), args, Order::ByCaller, Location::caller()) }
    }
}

/// # Safety
/// The order is `ByData`, or the caller keeps the promise of [`CudaStream::launch_unordered`].
unsafe fn launch_typed<K: Kernel>(
    stream: &CudaStream,
    grid: &Grid,
    args: K::Args<'_>,
    order: Order,
    location: SourceLocation,
) -> Result<()> {
    launched::note::<launched::OfKernel<K>>();
    let mut passing = Passing::new();
    if let Err(error) = K::pass(args, &mut passing) {
        passing.fail(&error);
        return Err(error);
    }
    // SAFETY: the unsafe trait `Kernel` promises that the arguments, which are references and values, are passed as the kernel
    // takes them. The caller vouches for the order.
    unsafe { launch_kernel(stream, K::INFO, grid, &mut passing, order, location) }
}

/// Launches a kernel. This function is not generic, so that it is compiled only once for all kernels.
///
/// # Safety
/// - The parameters of `passing` are those of the kernel, in order.
/// - The accesses of `passing` are all memory that the kernel touches, with `Write` where it writes. The caller has a `&mut` to the
///   memory that is written, and a `&` to the memory that is read.
/// - The order is `ByData`, or the caller keeps the promise of [`CudaStream::launch_unordered`].
pub(crate) unsafe fn launch_kernel(
    stream: &CudaStream,
    info: &'static KernelInfo,
    grid: &Grid,
    passing: &mut Passing<'_>,
    order: Order,
    location: SourceLocation,
) -> Result<()> {
    let timeline = &**stream.timeline();
    access::prepared(timeline.ready(), passing.uses())?;
    if info.reports {
        let state = KernelState::of(stream.table());
        let report = state
            .made_report(stream.device())
            .map_or_else(|| timeline.bind().and_then(|()| state.report(stream.device())), Ok);
        passing.report(access::prepared(report, passing.uses())?);
    }
    let longest = passing.longest_written().len;
    let checked = match remembered::find(info, grid, timeline, longest) {
        Some(checked) => checked,
        None => {
            let checked = check(stream, info, grid, passing);
            match access::prepared(checked, passing.uses())? {
                Some(checked) => checked,
                None => return Ok(()),
            }
        }
    };
    // SAFETY: the caller vouches for the arguments and the order, and the kernel is the one of `info`.
    unsafe { submit(stream, checked, passing, order, location) }
}

/// Finds the loaded kernel, compiling it first if this is its first launch on the device, and checks the grid. Returns `None` for
/// an empty grid, which launches nothing.
#[cold]
#[inline(never)]
fn check(
    stream: &CudaStream,
    info: &'static KernelInfo,
    grid: &Grid,
    passing: &mut Passing<'_>,
) -> Result<Option<Checked<'static>>> {
    let (table, device) = (stream.table(), stream.device());
    // The address identifies the kernel: each instance of a generic kernel has its own `INFO`.
    let key = std::ptr::from_ref(info).addr();
    let state = KernelState::of(table);
    let loaded = state.loaded(device).get(key, || {
        // Only here, since it allocates: this function is called again when other kernels have the kernel's remembered place.
        if info.reports {
            bounds::remember(info);
        }
        stream.timeline().bind()?;
        super::load(table.driver().as_ref(), device, info)
    })?;
    let is_plain = bounds::enabled() == Bounds::Unchecked || info.cuda.image().is_some();
    if !is_plain && !info.reports {
        stream.timeline().bind()?;
        passing.report(state.report(device)?);
    }
    let kernel = (info.name, &loaded, info.threads);
    coverage::check(kernel, (info.coverage, info.axes), grid, passing)?;
    passing.check(info.name)?;
    let Some(shape) = grid.shape(&loaded, info.threads) else {
        return grid.refuse(info.name, &loaded, info.threads).map(|()| None);
    };
    if info.coverage == Coverage::Elementwise {
        axes::check_read(kernel, info.axes, grid)?;
    }
    axes::check_unread(kernel, info.axes, grid)?;
    axes::check_shared_bytes(info.name, info.axes, grid)?;
    recorded::note(info, grid, passing);
    // A launch that checks indices is not remembered, because each such launch needs a parameter more, which this function adds.
    if is_plain {
        remembered::remember(info, grid, stream.timeline(), (&loaded, shape));
    }
    Ok(Some(Checked { function: loaded.function, name: info.name, shape }))
}

/// Queues a launch whose grid was checked.
///
/// # Safety
/// As for [`launch_kernel`], for the function of `checked`.
#[inline(always)]
pub(super) unsafe fn submit(
    stream: &CudaStream,
    checked: Checked<'_>,
    passing: &Passing<'_>,
    order: Order,
    location: SourceLocation,
) -> Result<()> {
    access::prepared(passing.check(checked.name), passing.uses())?;
    let launch = Launch {
        function: checked.function,
        name: checked.name,
        grid: checked.shape.grid.into(),
        block: checked.shape.block.into(),
        shared_bytes: checked.shape.shared_bytes,
        params: passing.params(),
        accesses: passing.accesses(),
        rows: passing.rows(),
    };
    access::queue(stream, order, passing.uses(), || {
        stream.table().observe(&Note::At(location));
        let timeline = stream.timeline();
        // SAFETY: the parameters are those of the kernel, as the caller promises. The memory is alive, because its blocks are
        // freed only after the uses that are noted.
        Ok(unsafe { timeline.driver().launch(timeline.raw(), &launch) }?)
    })
}
