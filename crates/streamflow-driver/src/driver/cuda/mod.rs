//! The driver that runs on real GPUs, through cudarc.
//!
//! Calls go to cudarc's raw bindings. cudarc's safe layer binds the context at every call and, with its
//! tracking on, makes and waits for events; streamflow does the ordering itself.
//!
//! Handles are CUDA's: [`RawStream::handle`], [`RawEvent::handle`] and [`RawFunction::handle`] are
//! the `CUstream`, `CUevent` and `CUfunction` pointers as `u64`, so that users can pass them to other
//! libraries. A stream handle of 0 is the legacy default stream of the bound context.
//!
//! The code that makes an error after a sticky error is out of line, and a launch writes only the addresses of the
//! parameters that it has. A record, a wait and a query take 71 instructions in place of 150, and a launch 220 in place
//! of 342, counted by callgrind.
//!
//! [`RawStream::handle`]: super::RawStream::handle
//! [`RawEvent::handle`]: super::RawEvent::handle
//! [`RawFunction::handle`]: super::RawFunction::handle

mod calls;
mod context;
mod device;
mod error;
mod everything;
mod foreign_stream;
mod functions;
mod graph;
mod green;
mod libraries;
mod module;
mod optional;
mod peer;
mod pool;
mod probe;
mod submit;
mod symbols;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaContext;

use self::device::Device;
use self::functions::Functions;
use self::green::Green;
use self::module::Module;
use crate::driver::error::report_in_drop;
use crate::driver::{DeviceId, DriverError, DriverResult};

/// Runs on NVIDIA GPUs. See the [module](self).
///
/// # The bound context
/// [`bind`](crate::driver::Driver::bind) makes a device's context current on the calling thread. All other
/// calls that reach CUDA require that their device is bound. A caller on a thread that other code may have
/// used binds first, also before it destroys handles and frees memory. The calls that load kernels and modules
/// bind the device themselves.
///
/// # After a sticky error
/// The first call that fails with a sticky error returns it as [`DriverError::Call`]. From then on every call
/// that would submit or wait returns [`DriverError::Sticky`] without calling CUDA, and every call that frees
/// or destroys does nothing: the end of the process frees all objects. This holds for all `CudaDriver`s of the
/// process, because they share CUDA's contexts.
pub struct CudaDriver {
    devices: Box<[Device]>,
    /// The loaded modules. They are kept until the driver is dropped, because functions are handed out as plain numbers.
    modules: Mutex<Vec<Module>>,
    functions: Functions,
    green: Mutex<Vec<Green>>,
    copiers: graph::Copiers,
}

/// The name of the call in the error that refuses to open devices after a sticky error.
const OPENING: &str = "opening the CUDA devices";

impl CudaDriver {
    /// Opens all devices that CUDA lists, with CUDA's numbers.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] with a remedy when there is no `libcuda`, no device, a driver older than
    /// CUDA 12.0, or a device that can't be opened or has no memory pools. No such failure panics.
    pub fn new() -> DriverResult<Self> {
        error::STICKY.usable(OPENING)?;
        let count = probe::start()?;
        Self::open(0..count)
    }

    /// Opens the devices with the given CUDA numbers: the first becomes device 0 of the platform, and so on.
    /// The same number twice makes two devices that share one GPU and its context.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), and when `ordinals` is empty or has a number that CUDA does not list.
    pub fn with_devices(ordinals: &[usize]) -> DriverResult<Self> {
        error::STICKY.usable(OPENING)?;
        let count = probe::start()?;
        if ordinals.is_empty() {
            return Err(probe::unavailable(
                "the list of CUDA devices is empty",
                "name at least one",
            ));
        }
        if let Some(missing) = ordinals.iter().find(|ordinal| **ordinal >= count) {
            return Err(probe::unavailable(
                &format!("there is no CUDA device {missing}: CUDA shows {count}, counted from 0"),
                "name another device",
            ));
        }
        Self::open(ordinals.iter().copied())
    }

    fn open(ordinals: impl Iterator<Item = usize>) -> DriverResult<Self> {
        let devices = (0..)
            .zip(ordinals)
            .map(|(index, ordinal)| Device::open(DeviceId(index), ordinal))
            .collect::<DriverResult<_>>()?;
        Ok(Self {
            devices,
            modules: Mutex::default(),
            functions: Functions::default(),
            green: Mutex::default(),
            copiers: graph::Copiers::default(),
        })
    }

    /// cudarc's context of a device, for direct use of cudarc; `None` for a device of another platform.
    ///
    /// The context is the device's primary context, one object per GPU and process, and never released.
    ///
    /// # Safety
    /// cudarc's event tracking is off, and cudarc's own interface is safe only with it: the user must order
    /// the uses of a `CudaSlice` from this context wherever a second stream uses it, also when it is dropped.
    /// The tracking must not be turned on again. The primary context must not be reset: that would destroy
    /// all objects of streamflow.
    pub unsafe fn context(&self, device: DeviceId) -> Option<&Arc<CudaContext>> {
        self.devices.get(device.index()).map(|device| &device.context)
    }

    /// Keeps code on the device until the driver is dropped.
    fn keep(&self, module: Module) {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).push(module);
    }

    fn device(&self, device: DeviceId) -> DriverResult<&Device> {
        self.devices.get(device.index()).ok_or_else(|| self.no_device(device))
    }

    #[cold]
    fn no_device(&self, device: DeviceId) -> DriverError {
        DriverError::Unavailable {
            what: format!("{device} is not one of this platform's {}", self.devices.len()),
            remedy: "name one of its devices, counted from 0".to_owned(),
        }
    }
}

impl fmt::Debug for CudaDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.devices.iter().map(|device| &device.info.name);
        f.debug_tuple("CudaDriver").field(&names.collect::<Vec<_>>()).finish()
    }
}

impl Drop for CudaDriver {
    /// Unloads the kernels. Streams and buffers hold a reference to the driver, so no stream or buffer is left. Their
    /// last kernels may still run: the drop waits for these kernels, because their code must stay loaded until they
    /// end.
    fn drop(&mut self) {
        let slot = self.modules.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut modules = std::mem::take(slot);
        if error::STICKY.get().is_some() {
            // Dropping a function that cudarc has loaded calls CUDA, and CUDA must not be called after a sticky error.
            std::mem::forget(modules);
            return;
        }
        for (index, device) in (0..).zip(&self.devices) {
            let id = DeviceId(index);
            let own: Vec<Module> = modules.extract_if(.., |module| module.device == id).collect();
            if own.is_empty() {
                continue;
            }
            let idle = context::bind(&device.context, id).and_then(|()| context::synchronize(id));
            // If the context can't be waited for, for example while another library captures a stream, the modules stay
            // loaded. This leak is small; unloading the code of a running kernel is worse.
            if idle.is_err() {
                report_in_drop("unloading kernels", idle);
                std::mem::forget(own);
                continue;
            }
            for module in own {
                // Unloading an earlier module may have met a sticky error; then no more modules are unloaded.
                if error::STICKY.get().is_none() {
                    report_in_drop("unloading a kernel", module.unload());
                }
            }
        }
    }
}

/// A CUDA handle as the number that the driver interface uses.
fn handle_of<T>(pointer: *mut T) -> u64 {
    pointer.expose_provenance() as u64
}

/// The CUDA handle, or host address, of a number from the driver interface.
fn pointer_to<T>(handle: u64) -> *mut T {
    // Addresses are as wide as `usize` on every platform that CUDA runs on.
    std::ptr::with_exposed_provenance_mut(handle as usize)
}

#[cfg(test)]
mod tests;
