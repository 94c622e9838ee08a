//! Streams of Python programs. The methods that Python calls are in `classes/stream.rs`.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use streamflow::driver::RawStream;
use streamflow::platform::DeviceId;
use streamflow::stream::ExternalStream;
use streamflow::{CudaStream, CudaStreamPool, Error, Platform as Inner, device};

use crate::error::OrRaise;
use crate::owner::Owner;
use crate::platform::{Platform, given_or_default};

/// An in-order queue of work on one device.
///
/// Other libraries can queue work on the stream: by `__cuda_stream__`, as `cupy.cuda.Stream.from_external(stream)`, or by its
/// handle, as `torch.cuda.ExternalStream(stream.handle)`. Keep the stream until that work is complete. `Stream.from_external`
/// makes a `Stream` of another library's stream.
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
pub struct Stream(pub(crate) Arc<Queue>);

/// A stream and its platform, in a form that threads can share.
pub(crate) struct Queue {
    platform: Inner,
    raw: RawStream,
    /// The stream, locked because only one thread may queue work at a time. No thread waits for a GPU while it holds this lock:
    /// the GPU's work may need the interpreter lock, and the thread that holds the interpreter lock may wait for this lock.
    stream: Mutex<Kind>,
    /// The Python object of another library's stream. The field is last, so that the object is dropped after the wrapper.
    _theirs: Option<Owner>,
}

/// The stream: one of streamflow, or a wrapper of another library's stream.
enum Kind {
    Ours(CudaStream),
    Theirs(ExternalStream<'static>),
}

impl Deref for Kind {
    type Target = CudaStream;

    fn deref(&self) -> &CudaStream {
        match self {
            Self::Ours(stream) => stream,
            Self::Theirs(stream) => stream,
        }
    }
}

impl Queue {
    pub(crate) fn new(platform: &Inner, stream: CudaStream) -> Arc<Self> {
        Arc::new(Self::of(platform, Kind::Ours(stream), None))
    }

    /// Creates a queue on a stream of another library. `theirs` is the Python object that keeps that stream alive.
    pub(crate) fn external(
        platform: &Inner,
        stream: ExternalStream<'static>,
        theirs: Owner,
    ) -> Arc<Self> {
        Arc::new(Self::of(platform, Kind::Theirs(stream), Some(theirs)))
    }

    fn of(platform: &Inner, stream: Kind, theirs: Option<Owner>) -> Self {
        let (platform, raw) = (platform.clone(), stream.raw());
        Self { platform, raw, stream: Mutex::new(stream), _theirs: theirs }
    }

    /// Creates a queue on a new stream of a platform.
    pub(crate) fn make(platform: &Inner, device: u32) -> Result<Arc<Self>, Error> {
        let pool = CudaStreamPool::new().device(self::device(device));
        let stream = platform.stream_pool("Python", &pool)?.allocate("a Python program")?;
        Ok(Self::new(platform, stream))
    }

    /// Calls `call` with the stream locked. `call` must not wait for a GPU, unless no other thread uses this stream.
    pub(crate) fn with<R>(&self, call: impl FnOnce(&Inner, &CudaStream) -> R) -> R {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        call(&self.platform, &stream)
    }

    pub(crate) fn platform(&self) -> &Inner {
        &self.platform
    }

    /// Returns CUDA's handle of the stream. `None` on the simulator.
    pub(crate) fn handle(&self) -> Option<u64> {
        let is_cuda = self.platform.name() == "cuda";
        is_cuda.then(|| self.raw.handle())
    }

    pub(crate) fn device(&self) -> DeviceId {
        self.raw.device()
    }

    /// Returns the handle and the device, for an error text.
    pub(crate) fn raw(&self) -> RawStream {
        self.raw
    }
}

impl Stream {
    /// Calls `call` with this stream, as [`Queue::with`] does.
    pub(crate) fn with<R>(&self, call: impl FnOnce(&Inner, &CudaStream) -> R) -> R {
        self.0.with(call)
    }

    pub(crate) fn device_id(&self) -> DeviceId {
        self.0.device()
    }

    /// The index of the stream's device.
    pub(crate) fn index(&self) -> u32 {
        self.device_id().index() as u32
    }

    pub(crate) fn platform(&self) -> &Inner {
        self.0.platform()
    }

    /// Makes a stream on a platform: the given one, or the default platform.
    pub(crate) fn make(
        py: Python<'_>,
        platform: Option<Py<Platform>>,
        device: u32,
    ) -> PyResult<Self> {
        let platform = given_or_default(py, platform)?;
        Ok(Self(py.detach(|| Queue::make(&platform, device)).or_raise()?))
    }

    /// Returns the given stream, or a new stream of the default platform.
    pub(crate) fn or_new(py: Python<'_>, stream: Option<Py<Self>>) -> PyResult<Py<Self>> {
        match stream {
            Some(stream) => Ok(stream),
            None => Py::new(py, Self::make(py, None, 0)?),
        }
    }

    /// Makes the stream of a graph's port: a new stream, or the default stream of device 0.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn of_port(
        platform: &Inner,
        port: &str,
        use_default_stream: bool,
    ) -> Result<Self, Error> {
        let pool = CudaStreamPool::new();
        let stream = match use_default_stream {
            true => platform.default_stream(self::device(0))?,
            false => platform.stream_pool("the ports", &pool)?.allocate(port.to_owned())?,
        };
        Ok(Self(Queue::new(platform, stream)))
    }

    /// Waits until all work that was queued on the stream so far is complete. Ctrl+C ends the wait with `KeyboardInterrupt`.
    pub(crate) fn wait_until_complete(&self, py: Python<'_>) -> PyResult<()> {
        wait_until(py, || {
            self.with(|platform, stream| {
                if platform.name() != "cuda" {
                    return stream.synchronize_blocking().map(|()| true);
                }
                stream.is_complete()
            })
        })
    }

    /// Returns the number by which DLPack and the CUDA array interface name the stream: its handle, or 1 for the legacy default
    /// stream, whose handle is 0.
    pub(crate) fn protocol_number(&self) -> PyResult<u64> {
        Ok(self.cuda_handle()?.max(1))
    }

    /// Returns CUDA's handle of the stream. Raises an exception on the simulator.
    pub(crate) fn cuda_handle(&self) -> PyResult<u64> {
        self.0.handle().ok_or_else(|| {
            PyRuntimeError::new_err(
                "a stream of the simulator has no CUDA handle; make it on `Platform(\"cuda\")`, on a machine with a GPU",
            )
        })
    }
}

/// Calls `is_done` again and again until it returns `true`. Ctrl+C ends the wait with `KeyboardInterrupt`.
pub(crate) fn wait_until(
    py: Python<'_>,
    is_done: impl Fn() -> Result<bool, Error> + Sync,
) -> PyResult<()> {
    loop {
        let done = py.detach(|| {
            for _ in 0..100 {
                if is_done()? {
                    return Ok(true);
                }
                std::thread::sleep(Duration::from_micros(50));
            }
            Ok(false)
        });
        if done.or_raise()? {
            return Ok(());
        }
        py.check_signals()?;
    }
}
