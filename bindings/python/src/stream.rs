//! Streams and points on them.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use streamflow::stream::Point;
use streamflow::{CudaStream, CudaStreamPool, Error, Platform as Inner, device};

use crate::error::OrRaise;
use crate::platform::{Platform, default_platform};

/// An in-order queue of work on one device.
///
/// Other libraries can work on it: by `__cuda_stream__`, as `cupy.cuda.Stream.from_external(stream)`, or by its handle,
/// as `torch.cuda.ExternalStream(stream.handle)`. Keep the stream until that work is complete.
///
/// Parameters
/// ----------
/// platform : Platform, optional
///     The default platform by default.
/// device : int, optional
///     The index of the device on the platform.
///
/// Raises
/// ------
/// ValueError
///     If the platform has no such device.
#[pyclass(frozen, module = "streamflow")]
pub(crate) struct Stream {
    platform: Inner,
    /// One thread queues work at a time.
    stream: Mutex<CudaStream>,
}

impl Stream {
    /// Calls a function with the stream. Called without the interpreter lock if the call may block.
    pub(crate) fn with<R>(&self, call: impl FnOnce(&Inner, &CudaStream) -> R) -> R {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        call(&self.platform, &stream)
    }

    pub(crate) fn platform(&self) -> &Inner {
        &self.platform
    }

    /// A stream, or a new one of the default platform.
    pub(crate) fn or_new(py: Python<'_>, stream: Option<Py<Self>>) -> PyResult<Py<Self>> {
        match stream {
            Some(stream) => Ok(stream),
            None => Py::new(py, Self::new(py, None, 0)?),
        }
    }

    /// The handle of CUDA.
    pub(crate) fn cuda_handle(&self) -> PyResult<u64> {
        if self.platform.name() != "cuda" {
            return Err(PyRuntimeError::new_err(
                "a stream of the simulator has no CUDA handle; make it on `Platform(\"cuda\")`, on a machine with a GPU",
            ));
        }
        Ok(self.with(|_, stream| stream.raw().handle()))
    }
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (platform = None, *, device = 0))]
    fn new(py: Python<'_>, platform: Option<Py<Platform>>, device: u32) -> PyResult<Self> {
        let platform = match platform {
            Some(platform) => platform,
            None => default_platform(py)?,
        };
        let platform = platform.get().inner.clone();
        let made: Result<CudaStream, Error> = py.detach(|| {
            let pool = CudaStreamPool::new().device(self::device(device));
            platform.stream_pool("Python", &pool)?.allocate("a Python program")
        });
        Ok(Self { stream: Mutex::new(made.or_raise()?), platform })
    }

    /// The protocol of `cuda.core`.
    ///
    /// Returns
    /// -------
    /// tuple of (int, int)
    ///     The version of the protocol, 0, and the handle.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     On the simulator.
    fn __cuda_stream__(&self) -> PyResult<(u32, u64)> {
        Ok((0, self.cuda_handle()?))
    }

    /// The CUDA handle, a `cudaStream_t`, as an int. RuntimeError on the simulator.
    #[getter]
    fn handle(&self) -> PyResult<u64> {
        self.cuda_handle()
    }

    /// The same, by CuPy's name.
    #[getter]
    fn ptr(&self) -> PyResult<u64> {
        self.cuda_handle()
    }

    /// The same, by PyTorch's name.
    #[getter]
    fn cuda_stream(&self) -> PyResult<u64> {
        self.cuda_handle()
    }

    /// The index of the device on its platform.
    #[getter]
    fn device(&self) -> usize {
        self.with(|_, stream| stream.device().index())
    }

    /// Waits until all work that was queued so far is complete. Ctrl+C ends the wait with `KeyboardInterrupt`.
    ///
    /// Raises
    /// ------
    /// streamflow.Error
    ///     If earlier work has failed.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        loop {
            let done = py.detach(|| {
                self.with(|platform, stream| {
                    if platform.name() != "cuda" {
                        return stream.synchronize_blocking().map(|()| true);
                    }
                    for _ in 0..100 {
                        if stream.is_complete()? {
                            return Ok(true);
                        }
                        std::thread::sleep(Duration::from_micros(50));
                    }
                    Ok(false)
                })
            });
            if done.or_raise()? {
                return Ok(());
            }
            py.check_signals()?;
        }
    }

    /// Whether all work that was queued so far is complete. Does not wait.
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.with(|_, stream| stream.is_complete())).or_raise()
    }

    /// Notes a place on the stream: all work that was queued so far is before it.
    ///
    /// Returns
    /// -------
    /// Event
    fn record(&self, py: Python<'_>) -> PyResult<Event> {
        let point = py.detach(|| self.with(|_, stream| stream.record())).or_raise()?;
        Ok(Event(point))
    }

    /// Makes later work on this stream wait. Does not block the calling thread.
    ///
    /// Parameters
    /// ----------
    /// what : Event or Stream
    ///     A place on a stream, or all work that was queued on a stream so far.
    fn wait(&self, py: Python<'_>, what: &Bound<'_, PyAny>) -> PyResult<()> {
        let point = if let Ok(event) = what.cast::<Event>() {
            event.get().0
        } else if let Ok(other) = what.cast::<Stream>() {
            other.get().record(py)?.0
        } else {
            return Err(PyTypeError::new_err(
                "`wait` takes a streamflow.Event or a streamflow.Stream",
            ));
        };
        py.detach(|| self.with(|_, stream| stream.wait(point))).or_raise()
    }

    fn __repr__(&self) -> String {
        self.with(|platform, stream| {
            let (name, device) = (platform.name(), stream.device());
            format!("<streamflow.Stream of \"{name}\", {device}, {:?}>", stream.raw())
        })
    }
}

/// A place on a stream, made by `Stream.record`.
#[pyclass(frozen, module = "streamflow")]
pub(crate) struct Event(pub(crate) Point);
