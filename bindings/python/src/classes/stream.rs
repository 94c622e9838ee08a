//! The methods of `Stream`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use streamflow::driver::DriverError;
use streamflow::stream::{BorrowedEvent, BorrowedStream};
use streamflow::{CudaStream, Error, device};

use crate::error::{OrRaise, exception};
use crate::event::{Event, foreign_event};
use crate::handle::{handle_of, number};
use crate::own::{not_of_another_module, own_or_none};
use crate::owner::Owner;
use crate::platform::{Platform, given_or_default};
use crate::stream::{Queue, Stream};

/// Returns the handle of a stream that a library has made, after checking the number.
///
/// # Errors
/// `ValueError` for a handle that names a default stream, and for a negative one.
fn not_a_default_stream(handle: i64) -> PyResult<u64> {
    let refuse = |what: &str, remedy: &str| Err(PyValueError::new_err(format!("{what}; {remedy}")));
    match handle {
        0 | 1 => refuse(
            &format!("the handle {handle} names the legacy default stream"),
            "ask for it by name: `Stream.default(device=0)`",
        ),
        2 => refuse(
            "the handle 2 names the default stream of the calling thread, another one on each thread",
            "pass a stream that the library has made, as `torch.cuda.Stream()` or \
             `cupy.cuda.Stream(non_blocking=True)`",
        ),
        3.. => Ok(handle.unsigned_abs()),
        ..0 => refuse(
            &format!("{handle} is the handle of no stream"),
            "pass the stream itself, or its `cudaStream_t` as an int",
        ),
    }
}

/// Calls `call` with the queue's stream and the stream that `handle` names: the default stream for 0 and 1, or a stream of
/// another library, which is borrowed only during the call.
fn with_borrowed<R>(
    queue: &Queue,
    handle: i64,
    call: impl FnOnce(&CudaStream, &CudaStream) -> Result<R, Error>,
) -> PyResult<R> {
    let handle = match handle {
        0 | 1 => None,
        other => Some(not_a_default_stream(other)?),
    };
    let done = queue.with(|platform, own| match handle {
        None => call(own, &platform.default_stream(own.device())?),
        Some(handle) => {
            // SAFETY: the caller of the Python function keeps the stream alive during the call, and the wrapper does not outlive
            // the call.
            let borrowed = unsafe { BorrowedStream::find(&**platform.driver(), handle) }?;
            call(own, &*platform.external_stream(borrowed)?)
        }
    });
    done.or_raise()
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (platform = None, *, device = 0))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = own_or_none)] platform: Option<Py<Platform>>,
        device: u32,
    ) -> PyResult<Self> {
        Self::make(py, platform, device)
    }

    /// A stream of another library, for calls of streamflow. The library's object is kept alive as long as this one.
    ///
    /// Work that streamflow queues on the stream is ordered by its data, as on any stream. Work that the other library queues
    /// itself is ordered by `record` and `wait`, or by an exchange of the data by DLPack.
    ///
    /// Parameters
    /// ----------
    /// stream : object with ``__cuda_stream__``, or int
    ///     A stream of PyTorch, CuPy, Numba, cuda.core, RMM or CV-CUDA; or a ``cudaStream_t`` as an int. Keep what an int
    ///     names alive yourself: CUDA does not report the handle of a destroyed stream.
    /// platform : Platform, optional
    ///     The default platform by default. The stream's device is looked up on it.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For an object that is no stream.
    /// ValueError
    ///     For 0, 1 and 2, since these name default streams; for a number that is no stream's handle; on the simulator;
    ///     for a stream of another context, or of a device that the platform has not. The text says what to write.
    #[staticmethod]
    #[pyo3(signature = (stream, /, platform = None))]
    fn from_external(
        stream: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = own_or_none)] platform: Option<Py<Platform>>,
    ) -> PyResult<Py<Self>> {
        let py = stream.py();
        if let Ok(own) = stream.cast::<Self>() {
            return Ok(own.clone().unbind());
        }
        let handle = not_a_default_stream(handle_of(stream)?)?;
        let platform = given_or_default(py, platform)?;
        if platform.name() != "cuda" {
            return Err(PyValueError::new_err(
                "the simulator has no streams of other libraries; use `Platform(\"cuda\")`, on a machine with a GPU, or \
                 make a stream by `Stream(platform)`",
            ));
        }
        // SAFETY: the object owns the stream, and is dropped after the wrapper. If the argument is an int, the caller keeps the
        // stream alive, as the documentation requires.
        let found = unsafe { BorrowedStream::find(&**platform.driver(), handle) };
        let wrapped = found.map_err(Error::from).and_then(|found| platform.external_stream(found));
        let wrapped = wrapped.map_err(|error| match error {
            Error::Driver(DriverError::Call { .. }) => PyValueError::new_err(error.to_string()),
            other => exception(other),
        })?;
        Py::new(py, Self(Queue::external(&platform, wrapped, Owner::new(stream))))
    }

    /// The legacy default stream of a device. This stream waits for the blocking streams of other libraries, and these streams
    /// wait for it. Streams of streamflow and `cupy.cuda.Stream(non_blocking=True)` are not blocking.
    ///
    /// Parameters
    /// ----------
    /// platform : Platform, optional
    ///     The default platform by default.
    /// device : int, optional
    ///     The index of the device on the platform.
    ///
    /// Returns
    /// -------
    /// Stream
    #[staticmethod]
    #[pyo3(signature = (platform = None, *, device = 0))]
    fn default(
        py: Python<'_>,
        #[pyo3(from_py_with = own_or_none)] platform: Option<Py<Platform>>,
        device: u32,
    ) -> PyResult<Self> {
        let platform = given_or_default(py, platform)?;
        let stream = platform.default_stream(self::device(device)).or_raise()?;
        Ok(Self(Queue::new(&platform, stream)))
    }

    /// The protocol of `cuda.core` for streams.
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

    /// The CUDA handle, under CuPy's name for it.
    #[getter]
    fn ptr(&self) -> PyResult<u64> {
        self.cuda_handle()
    }

    /// The CUDA handle, under PyTorch's name for it.
    #[getter]
    fn cuda_stream(&self) -> PyResult<u64> {
        self.cuda_handle()
    }

    /// The index of the device on its platform.
    #[getter]
    fn device(&self) -> usize {
        self.device_id().index()
    }

    /// Waits until all work that was queued so far is complete. Ctrl+C ends the wait with `KeyboardInterrupt`.
    ///
    /// Raises
    /// ------
    /// streamflow.Error
    ///     If earlier work has failed.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        self.wait_until_complete(py)
    }

    /// Whether all work that was queued so far is complete. Does not wait.
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.with(|_, stream| stream.is_complete())).or_raise()
    }

    /// Notes a place on the stream: an event that stands for all work queued on the stream so far.
    ///
    /// Parameters
    /// ----------
    /// timing : bool, optional
    ///     Whether the event has a time, for `Event.elapsed_time`. A record with a time costs several times as much.
    ///
    /// Returns
    /// -------
    /// Event
    #[pyo3(signature = (*, timing = false))]
    fn record(&self, py: Python<'_>, timing: bool) -> PyResult<Event> {
        let event = Event::unrecorded(timing);
        event.record_on(py, &self.0)?;
        Ok(event)
    }

    /// Makes work that is queued on this stream later wait. Does not block the calling thread.
    ///
    /// Parameters
    /// ----------
    /// what : Event, Stream, or an event or a stream of another library
    ///     An event, or all work that was queued on a stream so far. Events of PyTorch and CuPy must be recorded before.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For another object.
    /// ValueError
    ///     For an event that was not recorded, for a number that is no event's handle, and as for `from_external`.
    fn wait(&self, py: Python<'_>, what: &Bound<'_, PyAny>) -> PyResult<()> {
        let point = if let Ok(event) = what.cast::<Event>() {
            event.get().point()?
        } else if let Ok(other) = what.cast::<Stream>() {
            other.get().record(py, false)?.point()?
        } else if let Some(handle) = foreign_event(what)? {
            self.on_cuda()?;
            let done = py.detach(|| {
                self.with(|_, stream| {
                    // SAFETY: the Python object keeps its event alive during the call.
                    stream.wait_for_event(unsafe { BorrowedEvent::new(stream.device(), handle) })
                })
            });
            return done.or_raise();
        } else {
            let wrong = |_| {
                // The object is no event or stream that a library shares. For one of another copy of this module the error
                // says so.
                let of_another = not_of_another_module::<Event>(what)
                    .and_then(|()| not_of_another_module::<Stream>(what));
                if let Err(error) = of_another {
                    return error;
                }
                let ty =
                    what.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
                PyTypeError::new_err(format!(
                    "`wait` takes an event or a stream, and not a {ty}; pass a streamflow.Event, a streamflow.Stream, one \
                     of another library, or for a handle `Stream.from_external(handle)`"
                ))
            };
            // An int is refused, since it could be the handle of an event or of a stream.
            if number(what)?.is_some() {
                return Err(wrong(()));
            }
            let handle = handle_of(what).map_err(|_| wrong(()))?;
            self.on_cuda()?;
            return py.detach(|| {
                with_borrowed(&self.0, handle, |own, theirs| own.wait(theirs.record()?))
            });
        };
        py.detach(|| self.with(|_, stream| stream.wait(point))).or_raise()
    }

    /// Makes later work on a stream of another library wait for all work that was queued on this stream so far. Does not
    /// block the calling thread.
    ///
    /// Parameters
    /// ----------
    /// stream : object with ``__cuda_stream__``, or int
    ///     As for `from_external`. 0 and 1 name the legacy default stream.
    fn precede(&self, py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(other) = stream.cast::<Self>() {
            let point = self.record(py, false)?.point()?;
            let other = other.get();
            return py.detach(|| other.with(|_, other| other.wait(point))).or_raise();
        }
        let handle = handle_of(stream)?;
        self.on_cuda()?;
        py.detach(|| with_borrowed(&self.0, handle, |own, theirs| theirs.wait(own.record()?)))
    }

    fn __repr__(&self) -> String {
        let (name, device) = (self.platform().name(), self.device_id());
        format!("<streamflow.Stream of \"{name}\", {device}, {:?}>", self.0.raw())
    }
}

impl Stream {
    /// Returns an error on the simulator, where there are no streams or events of other libraries.
    fn on_cuda(&self) -> PyResult<()> {
        self.cuda_handle().map(drop)
    }
}
