//! Functions of `libcuda` that the oldest supported driver may lack, found when they are first called.
//!
//! A program that is linked with `libcuda` refers to each function that it calls by cudarc's bindings, and the system does not
//! start the program with a driver that lacks any of these functions. So no code calls the functions of this module by the
//! bindings.

use std::sync::OnceLock;

use cudarc::driver::sys::{
    CUcontext, CUdevResource, CUdevResourceDesc, CUdevResourceType, CUdevice, CUevent, CUgreenCtx,
    CUresult, CUstream,
};

use super::symbols;
use crate::driver::{DriverError, DriverResult};

/// A function of type `F`, and the CUDA version that has it.
pub(super) struct Optional<F: 'static> {
    name: &'static str,
    what: &'static str,
    since: &'static str,
    found: OnceLock<Option<F>>,
}

impl<F: Copy> Optional<F> {
    /// # Safety
    /// `F` is a pointer to a function with the signature of `name`.
    const unsafe fn new(name: &'static str, what: &'static str, since: &'static str) -> Self {
        Self { name, what, since, found: OnceLock::new() }
    }

    /// Returns the function. The driver was started before.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`], if this driver lacks it.
    pub(super) fn get(&self) -> DriverResult<F> {
        // SAFETY: `new`'s contract.
        let found = self.found.get_or_init(|| unsafe { symbols::find(self.name) });
        found.ok_or_else(|| DriverError::Unavailable {
            what: format!("{} need {}, which this NVIDIA driver lacks", self.what, self.name),
            remedy: format!("update the driver to one of CUDA {}", self.since),
        })
    }
}

macro_rules! optional {
    ($($what:literal, since $since:literal: $($name:ident($($argument:ty),*))*;)*) => {
        $($(
            #[allow(non_upper_case_globals, reason = "CUDA's name")]
            pub(super) static $name: Optional<unsafe extern "C" fn($($argument),*) -> CUresult> =
                // SAFETY: the compiler compares the signature with the bindings' signature, below.
                unsafe { Optional::new(stringify!($name), $what, $since) };
        )*)*

        /// Checks that the signatures are equal to those of cudarc's bindings. Only tests may refer to the bindings' functions.
        #[cfg(test)]
        const _: () = {
            $($(let _: unsafe fn($($argument),*) -> CUresult = cudarc::driver::sys::$name;)*)*
        };
    };
}

optional! {
    "memory that was handed to other code", since "12.5, release 555 or later":
        cuCtxRecordEvent(CUcontext, CUevent);
    "streams of other libraries, whose device is looked up,", since
        "12.5, release 555 or later; or name the device by `BorrowedStream::new`":
        cuStreamGetCtx_v2(CUstream, *mut CUcontext, *mut CUgreenCtx);
    "times between events", since "12.8, release 570 or later":
        cuEventElapsedTime_v2(*mut f32, CUevent, CUevent);
    "green contexts", since "12.5, release 560 or later":
        cuDeviceGetDevResource(CUdevice, *mut CUdevResource, CUdevResourceType)
        cuDevSmResourceSplitByCount(
            *mut CUdevResource, *mut u32, *const CUdevResource, *mut CUdevResource, u32, u32
        )
        cuDevResourceGenerateDesc(*mut CUdevResourceDesc, *mut CUdevResource, u32)
        cuGreenCtxCreate(*mut CUgreenCtx, CUdevResourceDesc, CUdevice, u32)
        cuGreenCtxDestroy(CUgreenCtx)
        cuGreenCtxGetDevResource(CUgreenCtx, *mut CUdevResource, CUdevResourceType)
        cuGreenCtxStreamCreate(*mut CUstream, CUgreenCtx, u32, i32);
}
