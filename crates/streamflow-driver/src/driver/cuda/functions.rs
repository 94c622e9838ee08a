//! The loaded functions: their best block size, and the dynamic shared memory that a launch may use.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys;
use sys::CUfunction_attribute as Ask;

use super::error::{check, explain};
use super::{handle_of, pointer_to};
use crate::driver::{DeviceId, DriverResult, Launch, LoadedKernel, RawFunction};

/// The most shared memory of a block, static and dynamic together, in bytes, for a function whose limit was not raised.
/// The number is the same on all devices (CUDA C++ Programming Guide, *Shared Memory* of each compute capability).
const DEFAULT_SHARED_BYTES: u32 = 48 * 1024;

/// The functions that were loaded, with their limits.
#[derive(Debug)]
pub(super) struct Functions {
    known: boxcar::Vec<Function>,
    /// The lowest limit of all known functions. A launch that uses no more shared memory than this, as most
    /// launches do, skips the search for its function.
    lowest_limit: AtomicU32,
    /// The lock that is held while a limit is raised, so that two launches can't lower each other's limits.
    raising: Mutex<()>,
}

#[derive(Debug)]
struct Function {
    raw: RawFunction,
    /// The bytes of dynamic shared memory that a launch may use at present. The limit only grows.
    limit: AtomicU32,
}

impl Default for Functions {
    fn default() -> Self {
        Self {
            known: boxcar::Vec::new(),
            lowest_limit: AtomicU32::new(DEFAULT_SHARED_BYTES),
            raising: Mutex::new(()),
        }
    }
}

impl Functions {
    /// Adds a loaded function, and queries its best block size. The function's device is bound.
    pub(super) fn add(
        &self,
        device: DeviceId,
        function: sys::CUfunction,
    ) -> DriverResult<LoadedKernel> {
        let max_block_size =
            attribute(device, function, Ask::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let fixed = attribute(device, function, Ask::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let allowed =
            attribute(device, function, Ask::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?;

        let (mut grid, mut block_size) = (0, 0);
        // SAFETY: CUDA writes one integer each to `grid` and `block_size`, and the function is loaded. There is no
        // callback: dynamic shared memory is 0 for every block size.
        let result = unsafe {
            sys::cuOccupancyMaxPotentialBlockSize(
                &raw mut grid,
                &raw mut block_size,
                function,
                None,
                0,
                0,
            )
        };
        check("cuOccupancyMaxPotentialBlockSize", device, result)?;

        let raw = RawFunction::new(device, handle_of(function));
        // `allowed` may be above the default, if the user has raised the limit of an adopted function. Raising it again
        // is harmless.
        let limit = allowed.min(DEFAULT_SHARED_BYTES.saturating_sub(fixed));
        // The limit is stored before the function: a launch that finds the function sees the limit.
        self.lowest_limit.fetch_min(limit, Ordering::Release);
        // A module's function that is loaded again is not stored a second time.
        if !self.known.iter().any(|(_, known)| known.raw == raw) {
            self.known.push(Function { raw, limit: AtomicU32::new(limit) });
        }
        Ok(LoadedKernel {
            function: raw,
            block_size: u32::try_from(block_size).unwrap_or(0).clamp(1, max_block_size.max(1)),
            max_block_size,
        })
    }

    /// Raises the function's limit of dynamic shared memory if this launch needs more.
    #[inline]
    pub(super) fn allow_shared(&self, launch: &Launch<'_>, most: u32) -> DriverResult<()> {
        if launch.shared_bytes <= self.lowest_limit.load(Ordering::Acquire) {
            return Ok(());
        }
        self.raise(launch, most)
    }

    fn raise(&self, launch: &Launch<'_>, most: u32) -> DriverResult<()> {
        let wanted = launch.shared_bytes;
        let function = self.known.iter().map(|(_, known)| known).find(|f| f.raw == launch.function);
        if function.is_some_and(|f| wanted <= f.limit.load(Ordering::Acquire)) {
            return Ok(());
        }
        let _raising = self.raising.lock().unwrap_or_else(PoisonError::into_inner);
        if function.is_some_and(|f| wanted <= f.limit.load(Ordering::Acquire)) {
            return Ok(());
        }
        let device = launch.function.device();
        // SAFETY: the function is loaded, by the contract of the launch. A value that is too large for
        // CUDA's integer is also too large for the device, and is refused.
        let result = unsafe {
            sys::cuFuncSetAttribute(
                pointer_to(launch.function.handle()),
                Ask::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                i32::try_from(wanted).unwrap_or(i32::MAX),
            )
        };
        check("cuFuncSetAttribute", device, result).map_err(|error| {
            explain(error, || {
                format!(
                    "kernel `{}` was launched with {wanted} bytes of dynamic shared memory per block, and \
                     this device has {most} for static and dynamic together",
                    launch.name
                )
            })
        })?;
        if let Some(function) = function {
            function.limit.fetch_max(wanted, Ordering::Release);
        }
        Ok(())
    }
}

/// An attribute of a function. The attributes that are queried here are never negative.
fn attribute(
    device: DeviceId,
    function: sys::CUfunction,
    what: sys::CUfunction_attribute,
) -> DriverResult<u32> {
    let mut value = 0;
    // SAFETY: CUDA writes one integer to `value`, the function is loaded.
    let result = unsafe { sys::cuFuncGetAttribute(&raw mut value, what, function) };
    check("cuFuncGetAttribute", device, result)?;
    Ok(u32::try_from(value).unwrap_or(0))
}
