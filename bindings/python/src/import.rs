//! Imports tensors of other libraries.

use pyo3::exceptions::{PyAttributeError, PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use streamflow::device;
use streamflow::memory::After;
use streamflow::memory::dlpack::{DlDevice, DlTensor};
use streamflow::{Element, Error, Platform};

use crate::array_interface::Interface;
use crate::dtype::for_dtype;
use crate::error::OrRaise;
use crate::held::{AnyTensor, Held};
use crate::own::own_or_none;
use crate::platform::default_platform;
use crate::stream::Stream;
use crate::tensor::Tensor;
use crate::unseen::{come_after_everything, ignores_streams};
use crate::upload::upload_dlpack;
use crate::{capsule, cuda_interface};

/// The newest version of DLPack that imports accept.
const VERSION: (u32, u32) = (1, 3);

/// Makes a tensor of an array of another library: the same memory, without a copy. `as_tensor` also copies an array on the host
/// to a GPU.
///
/// The tensor's stream comes after the work that the other library has queued for the array. The array is kept until the
/// last use of the tensor is complete. An array may have padding between its rows, as ``a[:, :w]`` of a wider one; the tensor
/// then has it, too, and nothing reads or writes it.
///
/// Parameters
/// ----------
/// array : object with ``__dlpack__`` and ``__dlpack_device__``
///     For example of NumPy, CuPy, PyTorch or JAX. Arrays of JAX and PyArrow become read only.
/// stream : Stream, optional
///     The stream that the tensor belongs to; by default a new one, on the array's device.
/// copy : bool, optional
///     With True the tensor has a copy. The other library makes the copy, and streamflow another one if the array is on
///     the host and the stream on a GPU. False and None share the memory.
///
/// Returns
/// -------
/// Tensor
///
/// Raises
/// ------
/// TypeError
///     For an object without DLPack, or with elements that streamflow has not.
/// BufferError
///     For memory of another device, for an array on the host where a GPU is needed, or for one that is not dense, except
///     for padding between its rows. The text says what to do.
#[pyfunction]
#[pyo3(signature = (array, /, *, stream = None, copy = None))]
pub(crate) fn from_dlpack(
    array: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = own_or_none)] stream: Option<Py<Stream>>,
    copy: Option<bool>,
) -> PyResult<Tensor> {
    let producer = Producer::new(array)?;
    let stream = producer.stream(stream)?;
    Ok(Tensor::new(producer.adopt(stream.get(), copy, copy == Some(true))?, stream))
}

/// An array of another library that supports DLPack.
struct Producer<'a, 'py> {
    array: &'a Bound<'py, PyAny>,
    /// The array's method `__dlpack__`.
    export: Bound<'py, PyAny>,
    /// The array's device in DLPack's terms: its type and its number.
    device: (i32, i32),
}

impl<'a, 'py> Producer<'a, 'py> {
    fn new(array: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        let missing = |_| {
            let ty =
                array.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "a {ty} has no `__dlpack__`; pass an array of a library with DLPack, or call `as_tensor`"
            ))
        };
        let export = array.getattr("__dlpack__").map_err(missing)?;
        let device = array.getattr("__dlpack_device__").map_err(missing)?.call0()?.extract()?;
        Ok(Self { array, export, device })
    }

    fn is_on_gpu(&self) -> bool {
        matches!(self.device.0, DlDevice::CUDA | DlDevice::CUDA_MANAGED)
    }

    /// Returns the stream for the array's tensor: the given stream, or else a new stream on the array's device.
    fn stream(&self, given: Option<Py<Stream>>) -> PyResult<Py<Stream>> {
        let py = self.array.py();
        match given {
            None if self.is_on_gpu() => stream_on(py, self.device.1),
            given => Stream::or_new(py, given),
        }
    }

    /// Imports the array as a tensor on a stream. `uploads` says whether an array on the host may be copied to a GPU.
    fn adopt(
        &self,
        on: &Stream,
        copy: Option<bool>,
        uploads: bool,
    ) -> PyResult<Box<dyn AnyTensor>> {
        let py = self.array.py();
        let is_on_cuda = on.platform().name() == "cuda";
        if self.device.0 == DlDevice::CPU && is_on_cuda && !uploads {
            return Err(on_host());
        }
        let mut keywords = PyDict::new(py);
        if self.is_on_gpu() && is_on_cuda {
            // Some libraries refuse the export unless the array's device is the current one.
            let bound = on.platform().driver().bind(on.device_id());
            bound.map_err(streamflow::Error::from).or_raise()?;
            keywords.set_item("stream", on.protocol_number()?)?;
        }
        // For page-locked memory the array's library is not asked for a copy: it would copy at once, while a copy to the array
        // may still be queued.
        let is_page_locked = is_on_cuda && self.device.0 == DlDevice::CUDA_HOST;
        if copy.is_some() && !(is_page_locked && copy == Some(true)) {
            keywords.set_item("copy", copy)?;
        }
        let older = keywords.copy()?;
        keywords.set_item("max_version", VERSION)?;
        let made = match self.export.call((), Some(&keywords)) {
            // A producer older than version 1.0 of DLPack lacks the parameter `max_version`.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                keywords = older;
                self.export.call((), Some(&keywords))
            }
            made => made,
        };
        let tensor = capsule::unwrap(&made?)?;
        // A GPU can read page-locked memory itself, if the structure says that the memory is page-locked. PyTorch's structure
        // says "CPU" for such memory.
        let is_copied = match tensor.device().kind {
            DlDevice::CPU => true,
            DlDevice::CUDA_HOST => copy == Some(true),
            _ => false,
        };
        if is_on_cuda && is_copied {
            return match uploads {
                true => upload_dlpack(py, &tensor, on, is_page_locked),
                false => Err(on_host()),
            };
        }
        let module = self.array.get_type().module()?;
        let module = module.to_str()?;
        if self.is_on_gpu() && is_on_cuda && ignores_streams(module) {
            come_after_everything(py, on)?;
        }
        // Arrays of JAX and PyArrow must not be written, which the capsules of these libraries can't express.
        let is_immutable = ["jax", "pyarrow"].iter().any(|known| module.starts_with(known));
        import(py, tensor, on, is_immutable)
    }
}

/// Makes a stream on the device that has this number in CUDA. If the platform lacks the device, the import refuses it later.
fn stream_on(py: Python<'_>, ordinal: i32) -> PyResult<Py<Stream>> {
    let platform = default_platform(py)?;
    let found = {
        let inner = &platform.get().inner;
        let is_it = |index: &u32| {
            let its = inner.dlpack_device(device(*index));
            its.is_ok_and(|it| it == DlDevice { kind: DlDevice::CUDA, id: ordinal })
        };
        (0..inner.device_count() as u32).find(is_it)
    };
    // If the platform does not have the device, the stream is on device 0, and the import returns the error.
    Py::new(py, Stream::make(py, Some(platform), found.unwrap_or(0))?)
}

/// Imports another library's memory as a tensor on the stream `on`, which comes after that library's work: for memory of a GPU,
/// the library has queued its work on this stream, or has made this stream wait for it.
pub(crate) fn import(
    py: Python<'_>,
    tensor: DlTensor,
    on: &Stream,
    read_only: bool,
) -> PyResult<Box<dyn AnyTensor>> {
    let dtype = tensor.dtype().to_string();
    let is_on_cuda = on.platform().name() == "cuda";
    let mut is_on_gpu = matches!(tensor.device().kind, DlDevice::CUDA | DlDevice::CUDA_MANAGED);
    if is_on_cuda && tensor.device().kind == DlDevice::CUDA_HOST {
        // DLPack names no stream for page-locked memory, and a copy to this memory may still be queued.
        come_after_everything(py, on)?;
        is_on_gpu = true;
    }
    for_dtype!(dtype.as_str(), T => {
        let imported = py.detach(|| {
            on.with(|platform, stream| {
                let after = if is_on_gpu { After::QueuedOn(stream) } else { After::Complete };
                take::<T>(platform, tensor, after, read_only)
            })
        });
        imported.or_raise()?
    })
}

/// Takes another library's tensor over: as a dense tensor, or with the padding between its rows.
pub(crate) fn take<T: Element>(
    platform: &Platform,
    tensor: DlTensor,
    after: After<'_>,
    read_only: bool,
) -> Result<Box<dyn AnyTensor>, Error> {
    // An error of the first call is the one about other strides. The second call then asks only whether there is padding.
    tensor.padded_shape::<T>()?;
    Ok(match (tensor.dense_shape::<T>().is_ok(), read_only) {
        (true, true) => Held::imported(platform.import_dlpack_read_only::<T>(tensor, after)?),
        (true, false) => Held::imported(platform.import_dlpack::<T>(tensor, after)?),
        (false, true) => {
            Held::imported(platform.import_dlpack_pitched_read_only::<T>(tensor, after)?)
        }
        (false, false) => Held::imported(platform.import_dlpack_pitched::<T>(tensor, after)?),
    })
}

/// Makes a tensor of an array of any library, by the protocol that orders it best: DLPack, else `__cuda_array_interface__`, else
/// `__array_interface__`.
///
/// The tensor has the memory of the array if the tensor's device can use that memory, also with padding between its rows. An array on the host, as of NumPy or of
/// PyTorch on the CPU, is copied to a GPU: the array may be changed when the call returns. A GPU reads page-locked memory itself,
/// unless it is PyTorch's.
///
/// Parameters
/// ----------
/// array : object
///     A tensor of streamflow is returned as it is, unless a copy is asked for.
/// stream : Stream, optional
///     The stream that the tensor belongs to; a new one by default.
/// copy : bool, optional
///     None copies an array on the host if the tensor is on a GPU, and nothing else. True copies always, and False never.
///
/// Returns
/// -------
/// Tensor
///
/// Raises
/// ------
/// TypeError
///     For an object without one of these protocols, or with elements that streamflow has not.
/// BufferError
///     With ``copy=False`` for an array on the host if the tensor is on a GPU; for memory of another device; for an array
///     that is not dense, except for padding between its rows; for an interface that does not say when the content is
///     complete.
#[pyfunction]
#[pyo3(signature = (array, /, *, stream = None, copy = None))]
pub(crate) fn as_tensor<'py>(
    array: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = own_or_none)] stream: Option<Py<Stream>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    if array.is_instance_of::<Tensor>() && copy != Some(true) {
        return Ok(array.clone());
    }
    let (held, stream) = if has_dlpack(array)? {
        let producer = Producer::new(array)?;
        let stream = producer.stream(stream)?;
        (producer.adopt(stream.get(), copy, copy != Some(false))?, stream)
    } else {
        let stream = Stream::or_new(py, stream)?;
        (adopt(array, stream.get(), copy)?, stream)
    };
    Ok(Bound::new(py, Tensor::new(held, stream))?.into_any())
}

/// Does the work of `as_tensor` with a given stream, for an array of another library or for a copy of a tensor.
pub(crate) fn adopt(
    array: &Bound<'_, PyAny>,
    on: &Stream,
    copy: Option<bool>,
) -> PyResult<Box<dyn AnyTensor>> {
    let py = array.py();
    if has_dlpack(array)? {
        Producer::new(array)?.adopt(on, copy, copy != Some(false))
    } else if has(array, "__cuda_array_interface__")? {
        let shared = cuda_interface::import(array, on)?;
        if copy != Some(true) {
            return Ok(shared);
        }
        let copied = py.detach(|| on.with(|platform, stream| shared.copied(platform, stream)));
        copied.or_raise()
    } else if has(array, "__array_interface__")? {
        let interface =
            Interface::read(&array.getattr("__array_interface__")?, "__array_interface__")?;
        match (on.platform().name() == "cuda", copy) {
            (true, Some(false)) => Err(on_host()),
            (true, None) | (_, Some(true)) => interface.upload(py, on),
            (false, _) => interface.adopt(array, on, Some(After::Complete), 0),
        }
    } else {
        Err(PyTypeError::new_err(format!(
            "a {} has neither `__dlpack__` nor an array interface; make an array of it first, as by `numpy.asarray`",
            array.get_type().name()?
        )))
    }
}

fn has_dlpack(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(has(array, "__dlpack__")? && has(array, "__dlpack_device__")?)
}

/// Returns the exception for host memory that a GPU can't use.
fn on_host() -> PyErr {
    PyBufferError::new_err(
        "an array on the host can't be a tensor of a GPU without a copy; call `as_tensor(array)`, which makes one, copy it \
         to the GPU by a library, as by `cupy.asarray`, or use a stream of `Platform(\"host\")`",
    )
}

/// Whether an object has an attribute. An exception other than `AttributeError` is returned as an error.
fn has(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    match object.getattr(name) {
        Ok(_) => Ok(true),
        Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(false),
        Err(error) => Err(error),
    }
}
