//! Launching kernels on streams: each launch first waits for what its arguments need (law 7).

use std::sync::Arc;

use super::bounds::{self, Bounds, Report};
use super::{Grid, Kernel, KernelInfo, Passing};
use crate::driver::{DeviceId, DriverError, Image, KernelSource, Launch, LoadedKernel};
use crate::error::{Error, Result};
use crate::stream::{CudaStream, StreamTable};

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

    /// Queues a function of a [`Module`], after everything its arguments must come after.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// `pass` passes the parameters that the function has, in their order, and the function touches
    /// no other device memory than the slices passed, those passed for reading only to read.
    pub unsafe fn launch_function<'a>(
        &self,
        function: &Function,
        grid: impl Into<Grid>,
        pass: impl FnOnce(&mut Passing<'a>),
    ) -> Result<()> {
        if function.table.platform() != self.table().platform() {
            return Err(Error::ForeignPlatform { what: "a function" });
        }
        if function.device != self.device() {
            return Err(Error::WrongDevice {
                what: format!("function `{}`", function.name),
                memory: function.device,
                stream: self.device(),
            });
        }
        let mut passing = Passing::new();
        pass(&mut passing);
        self.timeline().bind()?;
        submit(self, &function.name, &function.loaded, grid.into(), &passing)
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
    let loaded =
        table.kernels(device).get(key, || super::load(table.driver().as_ref(), device, info))?;
    if bounds::enabled() == Bounds::Checked {
        passing.report(table.report(device, size_of::<Report>() as u64, look_at_report)?);
    }
    submit(stream, info.name, &loaded, grid, passing)
}

/// The first index out of range since the last look, as an error.
fn look_at_report(address: u64) -> Result<()> {
    // SAFETY: `StreamTable::report` gives the address of page-locked memory of this size, zeroed,
    // which lives as long as the table; host and device touch it by atomics alone.
    let report = unsafe { &*(address as *const Report) };
    report.take().map_or(Ok(()), Err)
}

fn submit(
    stream: &CudaStream,
    name: &str,
    loaded: &LoadedKernel,
    grid: Grid,
    passing: &Passing<'_>,
) -> Result<()> {
    let Some(shape) = grid.resolve(name, loaded)? else { return Ok(()) };
    for ((block, mode), access) in passing.blocks().iter().zip(passing.accesses()) {
        block.order(stream, *mode, access.argument)?;
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
    // the uses that are noted below.
    let queued = unsafe { stream.timeline().driver().launch(stream.raw(), &launch) };
    for (block, mode) in passing.blocks() {
        block.note(stream, *mode);
    }
    Ok(queued?)
}

/// Compiled code that was not made by [`#[kernel]`](macro@crate::kernel): PTX, a CUBIN or a fatbin.
/// Made by [`Platform::module`](crate::Platform::module).
#[derive(Debug, Clone)]
pub struct Module {
    table: Arc<StreamTable>,
    device: DeviceId,
    image: Arc<[u8]>,
}

impl Module {
    pub(crate) fn new(table: &Arc<StreamTable>, device: DeviceId, image: &[u8]) -> Self {
        Self { table: table.clone(), device, image: image.into() }
    }

    /// A function of the module, by its name in the compiled code (C++ names are mangled there).
    ///
    /// # Errors
    /// The driver's, when the code can't be loaded or has no such function. The host simulator runs
    /// no compiled code.
    pub fn function(&self, name: &str) -> Result<Function> {
        let driver = self.table.driver();
        driver.bind(self.device)?;
        let image = |_| -> Result<Image, DriverError> { Ok(Image(self.image.to_vec())) };
        let source = KernelSource { name, entry: name, host: None, image: &image };
        let loaded = driver.load_kernel(self.device, &source)?;
        let table = self.table.clone();
        Ok(Function { table, device: self.device, loaded, name: name.to_owned() })
    }
}

/// A function of a [`Module`], for [`CudaStream::launch_function`].
#[derive(Debug, Clone)]
pub struct Function {
    table: Arc<StreamTable>,
    device: DeviceId,
    loaded: LoadedKernel,
    name: String,
}
