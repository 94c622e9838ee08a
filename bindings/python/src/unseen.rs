//! Orders work for libraries that do not say how their work is ordered, or that ignore the stream that they are given.

use std::env;

use pyo3::prelude::*;
use streamflow::platform::DeviceId;
use streamflow::stream::BorrowedStream;

use crate::error::OrRaise;
use crate::stream::Stream;

/// Libraries that ignore the stream passed to their `__dlpack__`, by the beginning of their modules' names. CV-CUDA
/// (`nvcv` in its older versions) names the stream in its CUDA array interface alone.
const IGNORE_STREAMS: [&str; 3] = ["cuda.core", "cvcuda", "nvcv"];

/// Environment variables that, set to 0, make a library ignore the stream of a CUDA array interface.
const SWITCHES: [&str; 2] =
    ["NUMBA_CUDA_ARRAY_INTERFACE_SYNC", "HOLOSCAN_CUDA_ARRAY_INTERFACE_SYNC"];

/// Makes a stream of a GPU wait for all work that the device has now, of every library. The calling thread does not wait. This is
/// for the memory of a library that names no stream.
pub(crate) fn come_after_everything(py: Python<'_>, stream: &Stream) -> PyResult<()> {
    let ordered = py.detach(|| {
        stream.with(|platform, stream| {
            platform.driver().bind(stream.device())?;
            // SAFETY: the stream is alive during the call.
            unsafe { platform.driver().wait_for_device(stream.raw()) }
        })
    });
    ordered.map_err(streamflow::Error::from).or_raise()
}

/// Whether the library with this module name ignores the stream that is passed to its `__dlpack__`.
pub(crate) fn ignores_streams(module: &str) -> bool {
    IGNORE_STREAMS.iter().any(|known| module.starts_with(known))
}

/// Makes the libraries that ignore the stream of a CUDA array interface come after a tensor's stream. PyTorch always ignores it,
/// other libraries if a variable is set. The current streams of PyTorch and CuPy wait; for other libraries the calling thread
/// does.
pub(crate) fn order_who_ignores_streams(py: Python<'_>, stream: &Stream) -> PyResult<()> {
    if SWITCHES.iter().any(|switch| env::var_os(switch).is_some_and(|value| value == "0")) {
        return stream.wait_until_complete(py);
    }
    let on = stream.device_id();
    let modules = py.import("sys")?.getattr("modules")?;
    for current in [current_of_torch, current_of_cupy] {
        if let Some(handle) = current(&modules, on)? {
            wait(py, stream, on, handle)?;
        }
    }
    Ok(())
}

/// Makes the stream with this handle wait for a tensor's stream.
fn wait(py: Python<'_>, stream: &Stream, on: DeviceId, handle: u64) -> PyResult<()> {
    let ordered = py.detach(|| {
        let (platform, point) = (stream.platform(), stream.with(|_, own| own.record())?);
        if handle <= 1 {
            return platform.default_stream(on)?.wait(point);
        }
        // SAFETY: the stream is the current one of its library on this thread, and the wrapper does not outlive the call.
        let theirs = unsafe { BorrowedStream::new(on, handle) };
        platform.external_stream(theirs)?.wait(point)
    });
    ordered.or_raise()
}

/// Returns PyTorch's current stream on a device, if the program uses PyTorch on GPUs.
fn current_of_torch(modules: &Bound<'_, PyAny>, on: DeviceId) -> PyResult<Option<u64>> {
    let Ok(torch) = modules.get_item("torch") else { return Ok(None) };
    let Ok(cuda) = torch.getattr("cuda") else { return Ok(None) };
    let is_used = cuda.call_method0("is_initialized").and_then(|it| it.is_truthy());
    if !is_used.unwrap_or(false) {
        return Ok(None);
    }
    let stream = cuda.call_method1("current_stream", (on.index(),))?;
    stream.getattr("cuda_stream")?.extract().map(Some)
}

/// Returns CuPy's current stream, if the program uses CuPy and a variable makes CuPy ignore the streams of interfaces.
fn current_of_cupy(modules: &Bound<'_, PyAny>, _: DeviceId) -> PyResult<Option<u64>> {
    if env::var_os("CUPY_CUDA_ARRAY_INTERFACE_SYNC").is_none_or(|value| value != "0") {
        return Ok(None);
    }
    let Ok(cupy) = modules.get_item("cupy") else { return Ok(None) };
    let stream = cupy.getattr("cuda")?.call_method0("get_current_stream")?;
    stream.getattr("ptr")?.extract().map(Some)
}
