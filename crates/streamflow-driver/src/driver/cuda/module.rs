//! The loading of compiled code, from an image to a function handle.

use std::ffi::{CString, c_void};
use std::sync::PoisonError;

use cudarc::driver::sys;

use super::error::{Failed, NOT_FOUND, STICKY, check_given_back, code_of, failure, sticky_reason};
use super::{CudaDriver, handle_of, pointer_to};
use crate::driver::{DeviceId, DriverError, DriverResult, Image, KernelSource};

/// The size of the buffer for the log of CUDA's PTX compiler. The compiler cuts off a longer log.
const LOG_BYTES: usize = 16 * 1024;

/// Code on a device that stays loaded until the driver is dropped.
pub(super) struct Module {
    pub(super) device: DeviceId,
    /// A `CUmodule`.
    handle: u64,
    /// The image, if it is within the program.
    embedded: Option<&'static [u8]>,
}

impl Module {
    /// Loads an image into the bound context.
    ///
    /// # Safety
    /// The contract of [`Driver::load_module`](crate::driver::Driver::load_module).
    pub(super) unsafe fn load(
        device: DeviceId,
        what: What<'_>,
        image: &Image,
    ) -> DriverResult<Self> {
        use sys::CUjit_option as Ask;

        if image.0.is_empty() {
            return Err(what.error("its image is empty; give PTX, a CUBIN or a fatbin".to_owned()));
        }
        // A NUL is added, since PTX is text that ends in NUL. A CUBIN or fatbin has its length in its header.
        let mut bytes = Vec::with_capacity(image.0.len() + 1);
        bytes.extend_from_slice(&image.0);
        bytes.push(0);

        let mut log = vec![0_u8; LOG_BYTES];
        let mut options = [Ask::CU_JIT_ERROR_LOG_BUFFER, Ask::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // An option's value is a pointer, or a number in place of a pointer. The size is one byte less than the
        // buffer's, so that the log ends in NUL.
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(LOG_BYTES - 1)];
        let mut module: sys::CUmodule = std::ptr::null_mut();
        // SAFETY: CUDA writes one handle to `module`. The image is complete, as the caller says, and ends in
        // NUL if it is text. There are two options and two values, and the log is as long as its option says.
        // CUDA keeps no pointer to any of these.
        let result = unsafe {
            sys::cuModuleLoadDataEx(
                &raw mut module,
                bytes.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if code_of(result) == 0 {
            return Ok(Self { device, handle: handle_of(module), embedded: None });
        }
        let log = log.split(|byte| *byte == 0).next().unwrap_or_default();
        Err(load_error("cuModuleLoadDataEx", device, what, result, || {
            String::from_utf8_lossy(log).trim().to_owned()
        }))
    }

    /// Loads an image that is within the program.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    pub(super) unsafe fn load_embedded(
        device: DeviceId,
        what: What<'_>,
        code: &'static [u8],
    ) -> DriverResult<Self> {
        // SAFETY: the caller keeps the same contract.
        let module = unsafe { Self::load(device, what, &Image(code.to_vec())) }?;
        Ok(Self { embedded: Some(code), ..module })
    }

    /// Whether this is the code of an image within the program on a device. The linker may have several copies of an image.
    pub(super) fn is_of(&self, device: DeviceId, code: &'static [u8]) -> bool {
        let is_same = |own: &'static [u8]| std::ptr::eq(own, code) || own == code;
        self.device == device && self.embedded.is_some_and(is_same)
    }

    /// The `CUmodule`.
    pub(super) fn handle(&self) -> u64 {
        self.handle
    }

    /// Unloads the code. Its context is bound and none of its kernels runs.
    pub(super) fn unload(self) -> DriverResult<()> {
        // SAFETY: this is the module's only owner, and the driver that handed its functions
        // out is being dropped.
        let result = unsafe { sys::cuModuleUnload(pointer_to(self.handle)) };
        check_given_back("cuModuleUnload", self.device, result)
    }
}

impl CudaDriver {
    /// Returns the `CUmodule` of an image within the program. The first call for a device loads the image into the bound context.
    ///
    /// # Safety
    /// As for [`Module::load`].
    pub(super) unsafe fn embedded(
        &self,
        device: DeviceId,
        kernel: &str,
        code: &'static [u8],
    ) -> DriverResult<u64> {
        // The lock is held while an image is loaded, so that two threads never load it twice.
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = modules.iter().find(|module| module.is_of(device, code)) {
            return Ok(known.handle());
        }
        // SAFETY: the caller keeps the same contract.
        let module = unsafe { Module::load_embedded(device, What::Kernel(kernel), code) }?;
        let handle = module.handle();
        modules.push(module);
        Ok(handle)
    }
}

/// Returns the function called `source.entry` of a module of the bound context.
///
/// # Safety
/// `module` is the handle of a module that is loaded.
pub(super) unsafe fn function(
    device: DeviceId,
    module: u64,
    source: &KernelSource<'_>,
) -> DriverResult<sys::CUfunction> {
    let what = What::Kernel(source.name);
    let entry = CString::new(source.entry)
        .map_err(|_| what.error(format!("the name {:?} has a NUL in it", source.entry)))?;
    let mut function: sys::CUfunction = std::ptr::null_mut();
    // SAFETY: CUDA writes one handle to `function`, the module is loaded, the name ends in NUL.
    let result =
        unsafe { sys::cuModuleGetFunction(&raw mut function, pointer_to(module), entry.as_ptr()) };
    if code_of(result) == 0 {
        return Ok(function);
    }
    Err(load_error("cuModuleGetFunction", device, what, result, || {
        if code_of(result) == NOT_FOUND {
            format!("the code has no function `{}`", source.entry)
        } else {
            String::new()
        }
    }))
}

/// The kernel or module that is being loaded, for the texts of errors.
#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    Kernel(&'a str),
    Module(&'a str),
}

impl What<'_> {
    fn error(self, message: String) -> DriverError {
        match self {
            Self::Kernel(name) => DriverError::Kernel { kernel: name.to_owned(), message },
            Self::Module(name) => DriverError::Module { module: name.to_owned(), message },
        }
    }
}

/// Returns the error of loading a kernel or module, with the kernel's or module's name. A sticky error of
/// earlier work is returned as an error of the call, without that name.
fn load_error(
    call: &'static str,
    device: DeviceId,
    what: What<'_>,
    result: sys::CUresult,
    detail: impl FnOnce() -> String,
) -> DriverError {
    let code = code_of(result);
    if sticky_reason(code).is_some() || STICKY.get().is_some() {
        return failure(call, device, result);
    }
    let failed = Failed::new(result);
    let mut message = format!("{call}: {} ({code}): {}", failed.name, failed.message);
    let remedy = match code {
        209 => "compile it for this device's compute capability",
        221 => "this driver has no PTX compiler: reinstall it, or give a CUBIN",
        222 => {
            "the PTX is newer than the driver: update the driver, or compile with an older NVRTC"
        }
        _ => "",
    };
    for more in [remedy.to_owned(), detail()] {
        if !more.is_empty() {
            message.push_str("; ");
            message.push_str(&more);
        }
    }
    what.error(message)
}
