//! The errors that CUDA documents for the functions that `CudaDriver` calls by itself: to open devices, to make pools and
//! green contexts, to load and unload code, and to destroy the template of a graph. No call of the driver stands for one of them alone.
//!
//! Source: as for [`CALLS`].

use super::documented::*;

/// Defines the list of functions, each with its errors.
macro_rules! list {
    ($($function:ident [$($error:ident),*];)*) => {
        /// The functions that are not in [`CALLS`].
        pub const INTERNAL: &[Function] =
            &[$(Function { name: stringify!($function), errors: &[$($error),*] }),*];
    };
}

list! {
    cuInit [INVALID_VALUE, INVALID_DEVICE, SYSTEM_DRIVER_MISMATCH, COMPAT_NOT_SUPPORTED_ON_DEVICE];
    cuDriverGetVersion [INVALID_VALUE];
    cuDeviceGetCount [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE];
    cuDeviceGet [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_DEVICE];
    cuDeviceGetName [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_DEVICE];
    cuDeviceTotalMem [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_DEVICE];
    cuDeviceGetAttribute [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, INVALID_DEVICE];
    cuDevicePrimaryCtxRetain
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, OUT_OF_MEMORY, UNKNOWN];
    cuCtxGetCurrent [DEINITIALIZED, NOT_INITIALIZED];
    cuCtxSynchronize [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT];
    cuCtxGetStreamPriorityRange [INVALID_VALUE];
    cuMemPoolCreate [NOT_INITIALIZED, INVALID_VALUE, OUT_OF_MEMORY, NOT_PERMITTED, NOT_SUPPORTED];
    cuMemPoolDestroy [INVALID_VALUE];
    cuMemPoolSetAttribute [INVALID_VALUE];
    cuMemPoolSetAccess [NOT_INITIALIZED, INVALID_VALUE];
    cuGraphDestroy [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE];
    cuDeviceCanAccessPeer [DEINITIALIZED, NOT_INITIALIZED, INVALID_DEVICE];
    cuModuleUnload [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, NOT_PERMITTED];
    cuFuncSetAttribute [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE];
    cuStreamGetCtx [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, NOT_SUPPORTED];
    cuEventElapsedTime [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, UNKNOWN];
    cuDeviceGetDevResource
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_RESOURCE_TYPE, INVALID_VALUE, INVALID_DEVICE];
    cuDevSmResourceSplitByCount [DEINITIALIZED, NOT_INITIALIZED, INVALID_DEVICE, INVALID_VALUE,
        INVALID_RESOURCE_TYPE, INVALID_RESOURCE_CONFIGURATION];
    cuDevResourceGenerateDesc
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_VALUE, INVALID_RESOURCE_TYPE, INVALID_RESOURCE_CONFIGURATION];
    cuGreenCtxCreate
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_DEVICE, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY];
    cuGreenCtxDestroy [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, CONTEXT_IS_DESTROYED];
    cuGreenCtxGetDevResource
        [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_RESOURCE_TYPE, INVALID_VALUE];
    cuGreenCtxStreamCreate [DEINITIALIZED, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_VALUE, OUT_OF_MEMORY];
}

/// Returns the errors that CUDA documents for a function, by its symbol's name: `cuStreamDestroy_v2` means
/// `cuStreamDestroy`.
pub fn documented(symbol: &str) -> Option<&'static Function> {
    let name = symbol.strip_suffix("_v2").unwrap_or(symbol);
    let of_calls = CALLS.iter().flat_map(|(_, functions)| functions.iter());
    of_calls.chain(INTERNAL).find(|function| function.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_function_is_listed_once_and_with_errors() {
        let of_calls = CALLS.iter().flat_map(|(_, functions)| functions.iter());
        let names: Vec<_> = of_calls.chain(INTERNAL).map(|function| function.name).collect();
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert!(INTERNAL.iter().all(|function| !function.errors.is_empty()));
    }
}
