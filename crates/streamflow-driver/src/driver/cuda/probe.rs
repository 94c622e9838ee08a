//! The check whether CUDA can be used, made before any call that would panic without it.
//!
//! The bindings load `libcuda` and each of its functions on first use, and panic when one is missing. So this module
//! first looks up the library, the driver's version and every function that is called by the bindings. A missing
//! library or function is an error with a remedy. Newer functions are [optional](super::optional).

use cudarc::driver::sys;

use super::error::{Failed, code_of, failure, sticky_reason};
use super::symbols;
use crate::driver::{DeviceId, DriverError, DriverResult};

/// The oldest supported driver, in CUDA's numbering: 12.0.
///
/// From 12.0 on the driver has all functions that are called, whichever CUDA version feature is chosen.
const OLDEST_DRIVER: i32 = 12_000;

/// The end of each remedy: the way to run without a GPU.
const USE_HOST: &str = "or run on the host simulator";

/// All functions of `libcuda` that `driver::cuda` calls by the bindings, itself or through cudarc. CUDA 12.0 has all of them.
const FUNCTIONS: &[&str] = &[
    "cuCtxGetCurrent",
    "cuCtxGetStreamPriorityRange",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuDeviceCanAccessPeer",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGraphAddChildGraphNode",
    "cuGraphAddKernelNode_v2",
    "cuGraphAddMemcpyNode",
    "cuGraphAddMemsetNode",
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphGetNodes",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuInit",
    "cuLaunchHostFunc",
    "cuLaunchKernel",
    "cuMemAllocFromPoolAsync",
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuMemHostAlloc",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolSetAccess",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemcpy2DAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyPeerAsync",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuOccupancyMaxPotentialBlockSize",
    "cuStreamBeginCapture_v2",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamEndCapture",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

/// Starts CUDA and counts the devices: at least one.
pub(super) fn start() -> DriverResult<usize> {
    if !symbols::is_present() {
        return Err(unavailable(
            "the CUDA driver library (libcuda) was not found",
            "install the NVIDIA driver, release 525 or later, and make sure that its library is on the \
             library path",
        ));
    }
    require("cuDriverGetVersion")?;
    check_version()?;
    FUNCTIONS.iter().try_for_each(|name| require(name))?;

    // SAFETY: 0 is the only flag that is allowed. The function may be called again.
    let started = unsafe { sys::cuInit(0) };
    if code_of(started) != 0 {
        return Err(cannot_start("cuInit", DeviceId(0), started));
    }
    let mut count = 0;
    // SAFETY: CUDA writes one integer to `count`.
    let counted = unsafe { sys::cuDeviceGetCount(&raw mut count) };
    if code_of(counted) != 0 {
        return Err(cannot_start("cuDeviceGetCount", DeviceId(0), counted));
    }
    match usize::try_from(count) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(unavailable("CUDA lists no device", NO_DEVICE)),
    }
}

/// The remedy when there is a driver and no GPU.
const NO_DEVICE: &str = "check whether `nvidia-smi` lists a GPU, whether CUDA_VISIBLE_DEVICES hides \
                         it, and whether the container has access to it";

/// Refuses a driver library without the function `name`.
fn require(name: &str) -> DriverResult<()> {
    if symbols::has(name) {
        return Ok(());
    }
    Err(unavailable(
        &format!("the CUDA driver library has no function {name}"),
        "update the NVIDIA driver to release 525 or later",
    ))
}

/// Refuses a driver older than [`OLDEST_DRIVER`].
fn check_version() -> DriverResult<()> {
    let mut version = 0;
    // SAFETY: CUDA writes one integer to `version`; the call needs no `cuInit`.
    let result = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    if code_of(result) != 0 {
        return Err(cannot_start("cuDriverGetVersion", DeviceId(0), result));
    }
    // A stub library, or a driver that can't reach its kernel module, may return 0: `cuInit` returns the reason.
    if version == 0 || version >= OLDEST_DRIVER {
        return Ok(());
    }
    Err(unavailable(
        &format!("the NVIDIA driver is for {}, and 12.0 is the oldest that works", name(version)),
        "update the NVIDIA driver to release 525 or later",
    ))
}

/// Formats a version of CUDA, which is 1000 × major + 10 × minor, in the usual form.
fn name(version: i32) -> String {
    format!("CUDA {}.{}", version / 1000, version % 1000 / 10)
}

/// Returns the error of a call that CUDA needs to start. If other code of this process has met a sticky error before,
/// the call may fail with that error.
pub(super) fn cannot_start(
    call: &'static str,
    device: DeviceId,
    result: sys::CUresult,
) -> DriverError {
    if sticky_reason(code_of(result)).is_some() {
        return failure(call, device, result);
    }
    let failed = Failed::new(result);
    unavailable(
        &format!(
            "CUDA cannot be used: {call} returned {} ({}): {}",
            failed.name, failed.code, failed.message
        ),
        remedy(failed.code),
    )
}

/// The remedy for an error code that keeps CUDA from starting.
fn remedy(code: i32) -> &'static str {
    match code {
        2 => "free memory of the device: `nvidia-smi` lists the processes that use it",
        // The library of a toolkit's `stubs` folder, made for linking only.
        34 => "take the CUDA toolkit's `stubs` folder off the library path",
        46 => "end the process that holds the device in exclusive mode",
        100 | 101 => NO_DEVICE,
        802 => "wait until the fabric manager runs (`systemctl status nvidia-fabricmanager`)",
        803 => "restart the machine: the driver's library and its kernel module differ in version",
        804 => "take the forward-compatibility libcuda off the library path: this GPU can't use it",
        304 | 999 => "check whether `nvidia-smi` works and whether /dev/nvidia* may be opened",
        _ => "check whether `nvidia-smi` works",
    }
}

/// Returns an error with its remedy and with the remedy that needs no GPU.
pub(super) fn unavailable(what: &str, remedy: &str) -> DriverError {
    DriverError::Unavailable { what: what.to_owned(), remedy: format!("{remedy}, {USE_HOST}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_the_usual_form() {
        assert_eq!(name(11_080), "CUDA 11.8");
        assert_eq!(name(13_000), "CUDA 13.0");
    }

    #[test]
    fn every_error_names_the_host_simulator() {
        for code in [2, 34, 46, 100, 101, 304, 802, 803, 804, 999, 5] {
            let error = unavailable("x", remedy(code)).to_string();
            assert!(error.ends_with("or run on the host simulator"), "{error}");
        }
    }

    #[test]
    fn functions_are_listed_once_and_in_order() {
        assert!(FUNCTIONS.is_sorted_by(|a, b| a < b), "{FUNCTIONS:?}");
    }
}
