//! The errors that CUDA documents for the functions behind each call of the driver.
//!
//! Source: `cuda.h` of CUDA 13.0 (`CUDA_VERSION` 13000), the list after `\return` of each function, in its order; the
//! same lists are in the *CUDA Driver API* reference. `CUDA_ERROR_NOT_READY` is left out: it is a query's answer. The
//! note "may also return error codes from previous, asynchronous launches" is there for all of these functions but
//! `cuMemAllocFromPoolAsync`, `cuMemFreeAsync` and `cuMemPoolTrimTo`; those errors are [`STICKY`].

/// An error code of CUDA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// The error's number.
    pub number: i32,
    /// The error's name, as `CUDA_ERROR_INVALID_VALUE`.
    pub name: &'static str,
}

impl Code {
    /// Whether the context can't execute anything after this error.
    pub fn is_sticky(self) -> bool {
        STICKY.contains(&self)
    }
}

/// A function of CUDA, and the errors that its documentation lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// The function's name.
    pub name: &'static str,
    /// The function's own errors, without those of earlier work.
    pub errors: &'static [Code],
}

/// Defines the error codes as constants.
macro_rules! codes {
    ($($name:ident = $number:literal,)*) => {
        $(pub(super) const $name: Code = Code { number: $number, name: concat!("CUDA_ERROR_", stringify!($name)) };)*
    };
}

codes! {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    ECC_UNCORRECTABLE = 214,
    INVALID_PTX = 218,
    NVLINK_UNCORRECTABLE = 220,
    JIT_COMPILER_NOT_FOUND = 221,
    UNSUPPORTED_PTX_VERSION = 222,
    CONTAINED = 226,
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
    SHARED_OBJECT_INIT_FAILED = 303,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    LAUNCH_INCOMPATIBLE_TEXTURING = 703,
    CONTEXT_IS_DESTROYED = 709,
    ASSERT = 710,
    HARDWARE_STACK_ERROR = 714,
    ILLEGAL_INSTRUCTION = 715,
    MISALIGNED_ADDRESS = 716,
    INVALID_ADDRESS_SPACE = 717,
    INVALID_PC = 718,
    LAUNCH_FAILED = 719,
    TENSOR_MEMORY_LEAK = 721,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    SYSTEM_DRIVER_MISMATCH = 803,
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    MPS_CLIENT_TERMINATED = 810,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_WRONG_THREAD = 908,
    EXTERNAL_DEVICE = 911,
    FUNCTION_NOT_LOADED = 913,
    INVALID_RESOURCE_TYPE = 914,
    INVALID_RESOURCE_CONFIGURATION = 915,
    UNKNOWN = 999,
}

/// The errors of earlier, asynchronous work after which the context is unusable.
///
/// By the description of each code in `cuda.h`, "the process must be terminated and relaunched". For 214, 220 and 709
/// the description has only the cause; see `sticky_reason` in `driver/cuda/error.rs`.
pub const STICKY: &[Code] = &[
    ILLEGAL_ADDRESS,
    ECC_UNCORRECTABLE,
    NVLINK_UNCORRECTABLE,
    CONTAINED,
    LAUNCH_TIMEOUT,
    CONTEXT_IS_DESTROYED,
    ASSERT,
    HARDWARE_STACK_ERROR,
    ILLEGAL_INSTRUCTION,
    MISALIGNED_ADDRESS,
    INVALID_ADDRESS_SPACE,
    INVALID_PC,
    LAUNCH_FAILED,
    TENSOR_MEMORY_LEAK,
    MPS_CLIENT_TERMINATED,
    EXTERNAL_DEVICE,
];

/// Defines the table: for each call of the driver, CUDA's functions, each with its errors.
macro_rules! table {
    ($($call:literal: $($function:ident [$($error:ident),*]),+;)*) => {
        /// CUDA's functions behind each [`call`](super::Injector) of the driver that can fail.
        pub const CALLS: &[(&str, &[Function])] = &[
            $(($call, &[$(Function { name: stringify!($function), errors: &[$($error),*] }),+]),)*
        ];
    };
}

table! {
    "bind": cuCtxSetCurrent [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT];
    "create_stream": cuStreamCreateWithPriority
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, OUT_OF_MEMORY];
    "destroy_stream": cuStreamDestroy
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_HANDLE];
    "query_stream": cuStreamQuery [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE];
    "synchronize_stream": cuStreamSynchronize
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE];
    "create_event": cuEventCreate
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, OUT_OF_MEMORY];
    "destroy_event": cuEventDestroy [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE];
    "record_event": cuEventRecord
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE];
    "wait_event": cuStreamWaitEvent [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE];
    "query_event": cuEventQuery [DEINITIALIZED, NOT_INITIALIZED, INVALID_HANDLE, INVALID_VALUE];
    "synchronize_event": cuEventSynchronize
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE];
    "allocate": cuMemAllocFromPoolAsync
        [INVALID_VALUE, NOT_INITIALIZED, INVALID_CONTEXT, NOT_SUPPORTED, OUT_OF_MEMORY];
    "free": cuMemFreeAsync [INVALID_VALUE, NOT_INITIALIZED, INVALID_CONTEXT, NOT_SUPPORTED];
    "wait_for_device": cuCtxRecordEvent
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, STREAM_CAPTURE_UNSUPPORTED];
    "trim": cuMemPoolTrimTo [NOT_INITIALIZED, INVALID_VALUE];
    "allocate_pinned": cuMemHostAlloc
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, OUT_OF_MEMORY];
    "free_pinned": cuMemFreeHost [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE];
    "copy to the device": cuMemcpyHtoDAsync
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_HANDLE];
    "copy to the host": cuMemcpyDtoHAsync
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_HANDLE];
    "copy on the device": cuMemcpyDtoDAsync
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_HANDLE];
    "copy between devices": cuMemcpyPeerAsync
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_HANDLE];
    "copy of rows": cuMemcpy2DAsync
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_HANDLE];
    "fill": cuMemsetD8Async [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE];
    "load_kernel":
        cuModuleLoadDataEx [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_PTX,
            UNSUPPORTED_PTX_VERSION, OUT_OF_MEMORY, NO_BINARY_FOR_GPU, SHARED_OBJECT_SYMBOL_NOT_FOUND,
            SHARED_OBJECT_INIT_FAILED, JIT_COMPILER_NOT_FOUND],
        cuModuleGetFunction [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, NOT_FOUND],
        cuFuncGetAttribute
            [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE, FUNCTION_NOT_LOADED],
        cuOccupancyMaxPotentialBlockSize
            [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, UNKNOWN];
    "launch": cuLaunchKernel [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, INVALID_IMAGE,
        INVALID_VALUE, LAUNCH_FAILED, LAUNCH_OUT_OF_RESOURCES, LAUNCH_TIMEOUT, LAUNCH_INCOMPATIBLE_TEXTURING,
        SHARED_OBJECT_INIT_FAILED, NOT_FOUND];
    // A library returns its own error numbers. These are the CUDA errors that its launches may meet.
    "call_library": cuLaunchKernelEx [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, INVALID_IMAGE,
        INVALID_VALUE, LAUNCH_FAILED, LAUNCH_OUT_OF_RESOURCES, LAUNCH_TIMEOUT, LAUNCH_INCOMPATIBLE_TEXTURING,
        SHARED_OBJECT_INIT_FAILED];
    "launch_host_function": cuLaunchHostFunc
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, NOT_SUPPORTED];
    "create_graph":
        cuGraphCreate [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE, OUT_OF_MEMORY],
        cuGraphAddKernelNode [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE],
        cuGraphAddMemcpyNode [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE],
        cuGraphAddMemsetNode [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE, INVALID_CONTEXT],
        cuGraphAddChildGraphNode [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE],
        cuStreamBeginCapture [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE],
        cuStreamEndCapture [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE,
            STREAM_CAPTURE_WRONG_THREAD],
        cuGraphGetNodes [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE],
        cuGraphInstantiateWithFlags [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE];
    "launch_graph": cuGraphLaunch [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE];
    "set_graph_kernel": cuGraphExecKernelNodeSetParams [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE];
    "destroy_graph": cuGraphExecDestroy [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE];
}

/// Returns the CUDA functions behind a driver call. The list is empty for a call that never reaches CUDA, such as
/// `recycle`.
pub fn functions(call: &str) -> &'static [Function] {
    CALLS.iter().find(|(name, _)| *name == call).map_or(&[], |(_, functions)| functions)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_call_and_each_function_is_listed_once_and_with_errors() {
        let mut seen = BTreeSet::new();
        for (call, functions) in CALLS {
            assert!(seen.insert(*call), "{call} twice");
            for function in *functions {
                assert!(seen.insert(function.name), "{} twice", function.name);
                let errors: BTreeSet<_> = function.errors.iter().collect();
                assert_eq!(errors.len(), function.errors.len(), "{}", function.name);
                assert!(errors.contains(&NOT_INITIALIZED), "{}", function.name);
            }
        }
    }

    #[test]
    fn no_sticky_error_is_listed_twice() {
        let numbers: BTreeSet<_> = STICKY.iter().map(|code| code.number).collect();
        assert_eq!(numbers.len(), STICKY.len());
    }
}
