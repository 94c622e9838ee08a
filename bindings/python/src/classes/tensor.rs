//! The methods of `Tensor`, and the protocols by which other libraries get a tensor.

use pyo3::exceptions::{PyAttributeError, PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use streamflow::memory::dlpack::{Abi, Consumer, DlDevice, DlExport};
use streamflow::stream::BorrowedStream;

use crate::error::{OrRaise, exception, exception_about_stream};
use crate::handle::handle_of;
use crate::stream::{Queue, Stream};
use crate::stream_argument::StreamArgument;
use crate::tensor::Tensor;
use crate::{array_interface, capsule, cuda_interface, exchange};

#[pymethods]
impl Tensor {
    /// The lengths of the dimensions, outermost first: a tuple of int.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.held().shape())
    }

    /// The type of the elements, by NumPy's name.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.held().dtype()
    }

    /// How many dimensions the tensor has.
    #[getter]
    fn ndim(&self) -> usize {
        self.held().shape().len()
    }

    /// How many elements the tensor has.
    #[getter]
    fn size(&self) -> usize {
        self.held().len()
    }

    /// Whether other libraries may only read the tensor.
    #[getter]
    fn read_only(&self) -> bool {
        self.held().is_read_only()
    }

    /// The stream that the tensor belongs to.
    #[getter]
    #[pyo3(name = "stream")]
    fn own_stream(&self, py: Python<'_>) -> Py<Stream> {
        self.stream_object(py)
    }

    fn __len__(&self) -> PyResult<usize> {
        let rows = self.held().shape().first();
        rows.copied()
            .ok_or_else(|| PyTypeError::new_err("a tensor without dimensions has no length"))
    }

    /// The device, in DLPack's terms.
    ///
    /// Returns
    /// -------
    /// tuple of (int, int)
    ///     The type of the device, 1 for the CPU and 2 for CUDA, and its number.
    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        self.dl_device().map(|device| (device.kind, device.id))
    }

    /// The tensor for another library, by DLPack. The other library's `from_dlpack` calls this.
    ///
    /// Parameters
    /// ----------
    /// stream : int or object with ``__cuda_stream__``, optional
    ///     On a GPU, the stream that the other library uses the tensor on: 1 or None for the legacy default stream, 2
    ///     for that of the thread, the handle of a stream, or -1 for no order. The stream waits, the calling thread
    ///     does not. On the CPU None, and the calling thread waits.
    /// max_version : tuple of (int, int), optional
    ///     The newest version that the other library takes. Without it the capsule has no flags.
    /// dl_device : tuple of (int, int), optional
    ///     The device that the other library needs: that of the tensor, or (1, 0) for a copy on the CPU.
    /// copy : bool, optional
    ///     True makes a copy, False and None make none.
    ///
    /// Returns
    /// -------
    /// capsule
    ///
    /// Raises
    /// ------
    /// BufferError
    ///     If the tensor can't be exported in this way. The text says what to do.
    /// ValueError
    ///     For a stream that DLPack does not have, and for a number that is no stream's handle.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let abi = match max_version {
            Some((major, _)) if major >= 1 => Abi::Versioned,
            _ => Abi::Legacy,
        };
        let own = self.dl_device()?;
        let asked = dl_device.unwrap_or((own.kind, own.id));
        let exported = if asked != (own.kind, own.id) {
            if asked != (DlDevice::CPU, 0) {
                return Err(PyBufferError::new_err(format!(
                    "the tensor is on device {:?}, and can't be exported to {asked:?}; ask for its own device, or for \
                     (1, 0), a copy on the CPU",
                    (own.kind, own.id)
                )));
            }
            if copy == Some(false) {
                return Err(PyBufferError::new_err(
                    "a tensor of a GPU can't be on the CPU without a copy; pass `copy=None` or `copy=True`",
                ));
            }
            if stream.is_some() {
                return Err(PyValueError::new_err("for a copy on the CPU, pass `stream=None`"));
            }
            py.detach(|| {
                self.memory().settle()?;
                // Other libraries may have queued a write of the tensor on its stream, which they can use by its handle.
                let written = self.stream().with(|_, own| own.record())?;
                // The copy is queued on a new stream, because no other thread uses a new stream at the same time.
                let copies = Queue::make(self.platform(), self.device_id().index() as u32)?;
                copies.with(|_, on| {
                    on.wait(written)?;
                    self.held().export_to_host(on, abi)
                })
            })
            .or_raise()
        } else {
            let consumer = self.consumer(stream)?;
            let exported = self.export(py, abi, &consumer, copy == Some(true))?;
            exported.map_err(|error| match consumer {
                Asked::Gpu(StreamArgument::Handle(handle)) => exception_about_stream(error, handle),
                _ => exception(error),
            })
        };
        capsule::wrap(py, exported?)
    }

    /// DLPack's C exchange API: a table of functions for libraries in C. The libraries queue their work on the stream that
    /// `streamflow.work_stream` returns.
    #[classattr]
    fn __dlpack_c_exchange_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        exchange::capsule(py)
    }

    /// NumPy's array interface. Only on the simulator, where device memory is host memory. Waits until the tensor is written.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if self.is_on_gpu() {
            return Err(PyAttributeError::new_err(
                "a tensor of a GPU has no `__array_interface__`; copy it by `tensor.numpy()`",
            ));
        }
        array_interface::describe(py, self)
    }

    /// The CUDA array interface, version 3. Only on a GPU. The interface names the tensor's own stream, ordered after
    /// all work that uses the tensor.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if !self.is_on_gpu() {
            return Err(PyAttributeError::new_err(
                "a tensor of the simulator has no `__cuda_array_interface__`; it is on the CPU: use `numpy.asarray`",
            ));
        }
        cuda_interface::describe(py, self)
    }

    /// The elements as a NumPy array: a view of the same memory on the simulator, and a copy of a GPU's memory. Waits
    /// until the tensor is written.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///
    /// Raises
    /// ------
    /// ImportError
    ///     Without NumPy.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let from_dlpack = py.import("numpy")?.getattr("from_dlpack")?;
        if !slf.get().is_on_gpu() {
            return from_dlpack.call1((slf,));
        }
        let keywords = PyDict::new(py);
        keywords.set_item("device", "cpu")?;
        from_dlpack.call((slf,), Some(&keywords))
    }

    fn __repr__(&self) -> String {
        let (dtype, shape) = (self.held().dtype(), self.held().shape());
        format!("<streamflow.Tensor {dtype}{shape:?} on {}>", self.platform().name())
    }
}

/// Where the consumer of a tensor will use it.
enum Asked {
    Host,
    Gpu(StreamArgument),
}

impl Tensor {
    /// Reads from the argument `stream` where the consumer will use the tensor. This method has no side effects, since some
    /// libraries call `__dlpack__` again with other arguments after an error.
    fn consumer(&self, stream: Option<&Bound<'_, PyAny>>) -> PyResult<Asked> {
        if !self.is_on_gpu() {
            return match stream {
                None => Ok(Asked::Host),
                Some(_) => Err(PyValueError::new_err(
                    "a tensor on the CPU has no stream: pass `stream=None`",
                )),
            };
        }
        let number = match stream {
            None => None,
            Some(object) => Some(handle_of(object)?),
        };
        StreamArgument::new(number).map(Asked::Gpu)
    }

    fn export(
        &self,
        py: Python<'_>,
        abi: Abi,
        asked: &Asked,
        copy: bool,
    ) -> PyResult<Result<DlExport, streamflow::Error>> {
        let device = self.device_id();
        Ok(py.detach(|| {
            self.memory().settle()?;
            self.stream().with(|platform, own| {
                let export = |consumer: Consumer<'_>| {
                    if let Consumer::QueuesOn(theirs) = consumer {
                        // Other libraries may have queued a write of the tensor on its stream, which they can use by its handle.
                        theirs.wait(own.record()?)?;
                    }
                    match copy {
                        true => self.held().export_copy(platform, own, abi, consumer),
                        false => self.held().export(abi, consumer),
                    }
                };
                let on_handle = |handle| {
                    // SAFETY: the consumer guarantees that the handle is valid during the call, and the wrapper does not outlive
                    // the call. The default stream of the thread is used on this thread alone.
                    let borrowed = unsafe { BorrowedStream::new(device, handle) };
                    let theirs = platform.external_stream(borrowed)?;
                    export(Consumer::QueuesOn(&theirs))
                };
                match *asked {
                    Asked::Host => export(Consumer::HostBlocking),
                    Asked::Gpu(StreamArgument::Unordered) => export(Consumer::Unordered),
                    Asked::Gpu(StreamArgument::Default) => {
                        let default = platform.default_stream(device)?;
                        export(Consumer::QueuesOn(&default))
                    }
                    Asked::Gpu(StreamArgument::PerThread) => on_handle(2),
                    Asked::Gpu(StreamArgument::Handle(handle)) => on_handle(handle),
                }
            })
        }))
    }
}
