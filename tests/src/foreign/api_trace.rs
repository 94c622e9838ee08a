//! Reads the trace of CUDA API calls that `tests/api_trace/api_trace.c` makes.

use std::env;
use std::ffi::{c_char, c_int};
use std::path::PathBuf;

use libloading::Library;

use crate::Failed;

/// The environment variable that makes the CUDA driver load the trace library.
pub const INJECTION: &str = "CUDA_INJECTION64_PATH";

/// A CUDA function, and how often it was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiCalls {
    /// The function's name, such as `cuLaunchKernel`, or `cudaMalloc_v3020` for the runtime API.
    pub function: String,
    /// How often the function was called.
    pub count: u64,
}

impl ApiCalls {
    /// Whether the function makes or frees memory or another resource of a device.
    pub fn is_allocation(&self) -> bool {
        const WORDS: [&str; 13] = [
            "Alloc",
            "Malloc",
            "Free",
            "Register",
            "Unregister",
            "Create",
            "Destroy",
            "Release",
            "MemMap",
            "MemUnmap",
            "AddressReserve",
            "PoolTrim",
            "Load",
        ];
        WORDS.iter().any(|word| self.function.contains(word))
    }

    /// Whether a library has allocated or freed memory in stream order. streamflow's own calls (`cuMemAllocFromPoolAsync`
    /// and `cuMemFreeAsync`, directly in the driver API) do not count.
    pub fn is_in_stream_order(&self) -> bool {
        let is_runtime = ["Malloc", "Free"].iter().any(|word| self.function.contains(word));
        let is_async = self.function.contains("Async");
        self.function.starts_with("cuMemAllocAsync")
            || self.function.starts_with("cuda") && is_runtime && is_async
    }

    /// Whether the function waits for the device.
    pub fn is_synchronization(&self) -> bool {
        let is_copy = ["Memcpy", "Memset"].iter().any(|word| self.function.contains(word));
        self.function.contains("Synchronize") || is_copy && !self.function.contains("Async")
    }
}

/// Parses a trace, with lines such as `driver cuLaunchKernel 100`.
///
/// # Errors
/// The first line that does not belong to a trace.
pub fn parse(text: &str) -> Result<Vec<ApiCalls>, Failed> {
    let line = |line: &str| {
        let mut words = line.split(' ').skip(1);
        let function = words.next()?.to_owned();
        Some(ApiCalls { function, count: words.next()?.parse().ok()? })
    };
    let parsed =
        |text| line(text).ok_or_else(|| Failed::msg(format!("no line of a trace: {text}")));
    text.lines().map(parsed).collect()
}

/// The trace library in this process.
#[derive(Debug)]
pub struct ApiTrace {
    begin: unsafe extern "C" fn() -> c_int,
    end: unsafe extern "C" fn(),
    text: unsafe extern "C" fn(*mut c_char, usize) -> usize,
}

impl ApiTrace {
    /// Opens the trace library if the process was started with one.
    ///
    /// # Errors
    /// The variable names no such library.
    pub fn open() -> Result<Option<Self>, Failed> {
        let Some(path) = env::var_os(INJECTION).map(PathBuf::from) else { return Ok(None) };
        // SAFETY: the driver loads the same library from this path. The library has no initialisers.
        let library = unsafe { Library::new(path) }?;
        // The library is never unloaded, since the driver uses it until the process ends.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the types of the functions are those in `api_trace.c`.
        unsafe {
            Ok(Some(Self {
                begin: *library.get(b"api_trace_begin")?,
                end: *library.get(b"api_trace_end")?,
                text: *library.get(b"api_trace_text")?,
            }))
        }
    }

    /// Starts to count the calls of all threads, from zero.
    ///
    /// # Errors
    /// The driver has not loaded the trace library, or CUPTI has refused it.
    pub fn begin(&self) -> Result<(), Failed> {
        // SAFETY: the function has no preconditions.
        match unsafe { (self.begin)() } {
            0 => Ok(()),
            15 => Err(Failed::msg(format!("the CUDA driver has not loaded {INJECTION}"))),
            status => Err(Failed::msg(format!("CUPTI has refused the trace: status {status}"))),
        }
    }

    /// Stops counting. Makes no allocation.
    pub fn end(&self) {
        // SAFETY: the function has no preconditions.
        unsafe { (self.end)() }
    }

    /// Returns the counted calls.
    ///
    /// # Errors
    /// The library's text is not a trace.
    pub fn calls(&self) -> Result<Vec<ApiCalls>, Failed> {
        let mut text = vec![0_u8; 1 << 20];
        // SAFETY: the function writes at most as many bytes as the length that it gets.
        let length = unsafe { (self.text)(text.as_mut_ptr().cast(), text.len()) };
        if length >= text.len() {
            return Err(Failed::msg("the trace is longer than a megabyte"));
        }
        text.truncate(length);
        parse(&String::from_utf8(text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: &str) -> (bool, bool) {
        let calls = ApiCalls { function: function.to_owned(), count: 1 };
        (calls.is_allocation(), calls.is_synchronization())
    }

    #[test]
    fn functions_that_allocate_or_wait_are_known() {
        let allocations = [
            "cuMemAlloc_v2",
            "cuMemAllocAsync",
            "cuMemAllocFromPoolAsync_ptsz",
            "cuMemAllocHost_v2",
            "cuMemHostAlloc",
            "cuMemFree_v2",
            "cuMemFreeAsync",
            "cuMemAllocPitch_v2",
            "cuMemCreate",
            "cudaMalloc_v3020",
            "cudaMallocAsync_v11020",
            "cudaFreeHost_v3020",
            "cuStreamCreateWithPriority",
            "cuEventDestroy_v2",
            "cuModuleLoadDataEx",
            "cuLibraryLoadData",
            "cuMemPoolTrimTo",
        ];
        let synchronizations = [
            "cuStreamSynchronize",
            "cuStreamSynchronize_ptsz",
            "cuCtxSynchronize",
            "cuEventSynchronize",
            "cudaDeviceSynchronize_v3020",
            "cuMemcpyDtoH_v2",
            "cuMemcpy2D_v2",
            "cuMemsetD8_v2",
            "cudaMemcpy_v3020",
        ];
        let neither = [
            "cuLaunchKernel",
            "cuLaunchKernelEx",
            "cuMemcpyDtoDAsync_v2",
            "cuMemsetD8Async",
            "cuEventRecord",
            "cuEventQuery",
            "cuStreamWaitEvent",
            "cuStreamGetCaptureInfo_v2",
            "cuCtxSetCurrent",
            "cudaLaunchKernel_v7000",
            "cudaGetLastError_v3020",
        ];
        assert!(allocations.iter().all(|name| of(name) == (true, false)));
        assert!(synchronizations.iter().all(|name| of(name) == (false, true)));
        assert!(neither.iter().all(|name| of(name) == (false, false)));
    }

    #[test]
    fn memory_in_the_order_of_a_stream_is_known() {
        let is_found = |function: &&str| {
            ApiCalls { function: (*function).to_owned(), count: 1 }.is_in_stream_order()
        };
        let of_libraries = [
            "cuMemAllocAsync",
            "cuMemAllocAsync_ptsz",
            "cudaMallocAsync_v11020",
            "cudaMallocFromPoolAsync_ptsz_v11020",
            "cudaFreeAsync_v11020",
        ];
        let others = [
            "cuMemAllocFromPoolAsync",
            "cuMemFreeAsync",
            "cuMemAlloc_v2",
            "cudaMalloc_v3020",
            "cudaFree_v3020",
            "cudaMemcpyAsync_v3020",
        ];
        assert!(of_libraries.iter().all(is_found));
        assert!(!others.iter().any(is_found));
    }

    #[test]
    fn a_trace_is_parsed() {
        let parsed = parse("driver cuLaunchKernel 100\nruntime cudaMalloc_v3020 2\n");
        let expected = [("cuLaunchKernel", 100), ("cudaMalloc_v3020", 2)]
            .map(|(function, count)| ApiCalls { function: function.to_owned(), count });
        assert!(parsed.is_ok_and(|parsed| parsed == expected));
        assert!(parse("driver cuLaunchKernel").is_err());
    }
}
