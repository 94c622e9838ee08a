//! Modules of compiled code that `#[kernel]` did not make, their functions, and launches of these functions.

use std::panic::Location;
use std::sync::Arc;

use super::compiled_code::CompiledCode;
use super::grid::IntoGrid;
use super::launch::submit;
use super::remembered::Checked;
use super::{Grid, Passing};
use crate::driver::{Code, DeviceId, KernelSource, LoadedKernel, RawModule, promise};
use crate::error::{Error, Result};
use crate::memory::access::{self, Order};
use crate::stream::{CudaStream, StreamTable};

impl CudaStream {
    /// Queues a function of a [`Module`], after all work that its arguments must come after. Any legal grid is launched, since
    /// streamflow does not know which grids the function needs.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// `pass` passes the parameters of the function, in order. The function touches no other device memory than the slices
    /// passed, and only reads the slices that are passed for reading.
    #[track_caller]
    pub unsafe fn launch_function<'a>(
        &self,
        function: &Function,
        grid: impl IntoGrid,
        pass: impl FnOnce(&mut Passing<'a>),
    ) -> Result<()> {
        let mut passing = Passing::new();
        pass(&mut passing);
        let checked = function.checked(self, &grid.into());
        match access::prepared(checked, passing.uses())? {
            // SAFETY: the caller vouches for the parameters, and the slices are passed by reference.
            Some(checked) => unsafe {
                submit(self, checked, &passing, Order::ByData, Location::caller())
            },
            None => Ok(()),
        }
    }
}

impl Function {
    /// Checks the stream and the grid of a launch. Returns `None` for an empty grid, which launches nothing.
    fn checked(&self, stream: &CudaStream, grid: &Grid) -> Result<Option<Checked<'_>>> {
        if self.table.platform() != stream.table().platform() {
            return Err(Error::foreign("a function"));
        }
        if self.device != stream.device() {
            let (what, memory) = (format!("function `{}`", self.name), self.device);
            return Err(Error::WrongDevice { what, memory, stream: stream.device() });
        }
        stream.timeline().ready()?;
        let (name, loaded) = (&*self.name, &self.loaded);
        match grid.shape(loaded, None) {
            Some(shape) => Ok(Some(Checked { function: loaded.function, name, shape })),
            None => grid.refuse(name, loaded, None).map(|()| None),
        }
    }
}

/// [Compiled code](CompiledCode) that is loaded on a device. [`Platform::module`](crate::Platform::module) makes it.
#[derive(Debug, Clone)]
pub struct Module {
    table: Arc<StreamTable>,
    device: DeviceId,
    raw: RawModule,
}

impl Module {
    /// Loads the module for [`Platform::module`](crate::Platform::module), on a device of the platform that the stream table belongs to.
    pub(crate) fn load(
        table: &Arc<StreamTable>,
        device: DeviceId,
        code: CompiledCode<'_>,
    ) -> Result<Self> {
        let driver = table.driver();
        table.bind(device)?;
        // SAFETY: the compiler has made the code, or the caller of `CompiledCode::new` guarantees that it is complete.
        let raw = unsafe { driver.load_module(device, "a module", &code.into_image()) }?;
        let raw = promise::check_module(device, raw)?;
        Ok(Self { table: table.clone(), device, raw })
    }

    /// Returns the function of this name. The name is the one in the compiled code, where C++ mangles names. All functions of a
    /// module share its variables.
    ///
    /// # Errors
    /// The driver's error when the code has no such function.
    pub fn function(&self, name: &str) -> Result<Function> {
        let driver = self.table.driver();
        self.table.bind(self.device)?;
        let source = KernelSource { name, entry: name, host: None, code: Code::Module(self.raw) };
        // SAFETY: this driver loaded the module on this device.
        let loaded = unsafe { driver.load_kernel(self.device, &source) }?;
        let loaded = promise::check_loaded(self.device, loaded)?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::driver::Image;
    use crate::driver::host::HostDriver;
    use crate::driver::{Driver, DriverError, DriverResult, HostArgs, Layer, LoadedKernel};
    use crate::{Platform, device};

    /// A driver that accepts any text as a module, with the one function `nothing`.
    #[derive(Debug)]
    struct Loads {
        below: HostDriver,
        /// The device of every module that this driver returns, even if the caller has named another device.
        device: DeviceId,
        modules: AtomicU32,
    }

    unsafe fn nothing(_: HostArgs<'_>) {}

    // SAFETY: each loaded function does nothing.
    unsafe impl Layer for Loads {
        fn below(&self) -> &dyn Driver {
            &self.below
        }

        unsafe fn load_module(&self, _: DeviceId, _: &str, _: &Image) -> DriverResult<RawModule> {
            let number = self.modules.fetch_add(1, Ordering::Relaxed);
            Ok(RawModule::new(self.device, number.into()))
        }

        unsafe fn load_kernel(
            &self,
            device: DeviceId,
            source: &KernelSource<'_>,
        ) -> DriverResult<LoadedKernel> {
            let Code::Module(module) = source.code else {
                let message = "not of a module".to_owned();
                return Err(DriverError::Kernel { kernel: source.name.to_owned(), message });
            };
            let host = (source.entry == "nothing").then_some(nothing as _);
            let source = KernelSource {
                name: source.name,
                entry: source.entry,
                host,
                code: Code::Module(module),
            };
            // SAFETY: the simulator uses only the host body.
            unsafe { self.below.load_kernel(device, &source) }
        }
    }

    #[test]
    fn a_module_of_another_device_breaks_the_contract() {
        let below = HostDriver::builder().build();
        let driver = Arc::new(Loads { below, device: device(1), modules: AtomicU32::new(0) });
        let platform = Platform::builder().driver(driver).unwrap();
        // SAFETY: the image is text.
        let module = platform.module(device(0), unsafe { CompiledCode::new(b"text") });
        let text = module.map(drop).unwrap_err().to_string();
        assert!(text.contains("load_module") && text.contains("object of device 1"), "{text}");
    }

    #[test]
    fn a_module_is_loaded_once_for_all_its_functions() {
        let below = HostDriver::builder().build();
        let driver = Arc::new(Loads { below, device: device(0), modules: AtomicU32::new(0) });
        let platform = Platform::builder().driver(driver.clone()).unwrap();
        // SAFETY: the image is text.
        let module = platform.module(device(0), unsafe { CompiledCode::new(b"text") }).unwrap();
        let stream = platform.default_stream(device(0)).unwrap();
        for _ in 0..3 {
            let function = module.function("nothing").unwrap();
            // SAFETY: the function has no parameters and does nothing.
            unsafe { stream.launch_function(&function, 1, |_| ()) }.unwrap();
        }
        // SAFETY: the function has no parameters and does nothing.
        let many = unsafe {
            stream.launch_function(&module.function("nothing").unwrap(), 1, |args| {
                (0..33).for_each(|value: i32| args.scalar(value));
            })
        };
        let text = many.unwrap_err().to_string();
        assert!(text.contains("33 parameters, and 32 is the most"), "{text}");
        assert!(module.function("missing").is_err());
        stream.synchronize_blocking().unwrap();
        assert_eq!(driver.modules.load(Ordering::Relaxed), 1);
        // SAFETY: the image is text.
        let missing = platform.module(device(1), unsafe { CompiledCode::new(b"text") });
        assert!(matches!(missing, Err(Error::NoSuchDevice { .. })));
    }
}
