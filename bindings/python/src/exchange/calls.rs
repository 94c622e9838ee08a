//! The functions in the table of DLPack's C exchange API.

use std::ffi::{CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use streamflow::Error;
use streamflow::driver::DriverError;
use streamflow::memory::dlpack::{Abi, Consumer, DlDevice, DlTensor, DlType};

use super::abi::{DataType, Device, Plain, SetError};
use crate::dtype::for_dtype;
use crate::error::OrRaise;
use crate::import::import;
use crate::memory::after_everything;
use crate::stream::{Queue, Stream};
use crate::tensor::Tensor;
use crate::work_stream::{on_gpu, on_simulator};

/// Calls `body` and returns 0, or -1 with an exception set on the thread: the one that `body` returns, or `RuntimeError` for a
/// panic.
fn call(body: impl FnOnce(Python<'_>) -> PyResult<()>) -> c_int {
    let called = catch_unwind(AssertUnwindSafe(|| {
        Python::attach(|py| match body(py) {
            Ok(()) => 0,
            Err(error) => {
                error.restore(py);
                -1
            }
        })
    }));
    called.unwrap_or_else(|_panic| {
        Python::attach(|py| PyRuntimeError::new_err("a call of streamflow panicked").restore(py));
        -1
    })
}

fn null(what: &str) -> PyErr {
    PyValueError::new_err(format!("`{what}` is null"))
}

/// # Safety
/// `object` is null or points to a Python object that lives during the call.
unsafe fn tensor<'py>(py: Python<'py>, object: *mut c_void) -> PyResult<Bound<'py, Tensor>> {
    if object.is_null() {
        return Err(null("py_object"));
    }
    // SAFETY: the caller guarantees that the object lives during the call.
    let object = unsafe { Bound::from_borrowed_ptr(py, object.cast::<ffi::PyObject>()) };
    let ty = object.get_type();
    object.cast_into::<Tensor>().map_err(|_| {
        PyTypeError::new_err(format!(
            "a {ty} is no streamflow.Tensor; take the table of functions from its own type"
        ))
    })
}

/// `managed_tensor_from_py_object_no_sync`: stores the tensor in `out`, in a structure that owns the memory.
pub(super) unsafe extern "C" fn export_managed(
    object: *mut c_void,
    out: *mut *mut c_void,
) -> c_int {
    call(|py| {
        if out.is_null() {
            return Err(null("out"));
        }
        // SAFETY: the consumer passes a tensor.
        let tensor = unsafe { tensor(py, object) }?;
        let memory = tensor.get().memory();
        let exported = py.detach(|| memory.exchange()).or_raise()?;
        // SAFETY: the consumer guarantees that `out` has room for one pointer.
        unsafe { out.write(exported.into_raw()) };
        Ok(())
    })
}

/// `dltensor_from_py_object_no_sync`: stores the tensor in `out`, in a structure that does not own the memory. The consumer uses
/// the structure only while it holds the object.
pub(super) unsafe extern "C" fn export_borrowed(object: *mut c_void, out: *mut Plain) -> c_int {
    call(|py| {
        if out.is_null() {
            return Err(null("out"));
        }
        // SAFETY: the consumer passes a tensor.
        let tensor = unsafe { tensor(py, object) }?;
        let tensor = tensor.get();
        let memory = tensor.memory();
        if memory.held().is_read_only() {
            return Err(PyBufferError::new_err(
                "a read-only tensor can't be lent as a `DLTensor`, which can't say so; take it by \
                 `managed_tensor_from_py_object_no_sync`, or by `__dlpack__` with `max_version=(1, 0)`",
            ));
        }
        let DlDevice { kind, id } = tensor.dl_device()?;
        let dtype = DlType::of_name(memory.held().dtype())
            .ok_or_else(|| PyBufferError::new_err("DLPack has no such element type"))?;
        let (address, layout) = (py.detach(|| memory.lend()).or_raise()?, memory.layout());
        let lent = Plain {
            data: std::ptr::with_exposed_provenance_mut(address as usize),
            device: Device { kind, id },
            ndim: layout.shape.len() as i32,
            dtype: DataType { code: dtype.code, bits: dtype.bits, lanes: dtype.lanes },
            shape: layout.shape.as_ptr().cast_mut(),
            strides: layout.strides.as_ptr().cast_mut(),
            byte_offset: 0,
        };
        // SAFETY: the consumer guarantees that `out` has room for one structure. The shape that it points to lives with the
        // tensor.
        unsafe { out.write(lent) };
        Ok(())
    })
}

/// `managed_tensor_to_py_object_no_sync`: makes a Python object of another library's tensor.
pub(super) unsafe extern "C" fn import_managed(
    tensor: *mut c_void,
    out: *mut *mut c_void,
) -> c_int {
    call(|py| {
        // SAFETY: the library passes its only pointer to such a structure. The tensor's deleter is called even if the call fails.
        let tensor = unsafe { DlTensor::from_versioned(tensor) }.or_raise()?;
        if out.is_null() {
            return Err(null("out"));
        }
        let on = tensor.device();
        let queue = py.detach(|| match on.kind {
            DlDevice::CUDA | DlDevice::CUDA_MANAGED => on_gpu(on.id),
            _ => on_simulator(),
        });
        let stream = Py::new(py, Stream(queue.or_raise()?))?;
        let held = import(py, tensor, stream.get(), false)?;
        let made = Bound::new(py, Tensor::new(held, stream))?;
        // SAFETY: the consumer guarantees that `out` has room for one pointer. The pointer owns a reference to the object.
        unsafe { out.write(made.into_ptr().cast()) };
        Ok(())
    })
}

/// `current_work_stream`: stores in `out` the handle of the stream on which the library must work.
pub(super) unsafe extern "C" fn current_work_stream(
    kind: i32,
    id: i32,
    out: *mut *mut c_void,
) -> c_int {
    call(|py| {
        if out.is_null() {
            return Err(null("out_current_stream"));
        }
        let handle = match kind {
            DlDevice::CPU | DlDevice::CUDA_HOST => 0,
            DlDevice::CUDA | DlDevice::CUDA_MANAGED => {
                py.detach(|| after_everything(id)).or_raise()?
            }
            other => {
                return Err(PyBufferError::new_err(format!(
                    "streamflow has no tensors on devices of DLPack's type {other}, and no stream for them; copy the \
                     tensor to a GPU, 2, or to the CPU, 1"
                )));
            }
        };
        // SAFETY: the consumer guarantees that `out` has room for one pointer.
        unsafe { out.write(std::ptr::with_exposed_provenance_mut(handle as usize)) };
        Ok(())
    })
}

/// `managed_tensor_allocator`: makes a tensor with undefined content, without calling Python.
pub(super) unsafe extern "C" fn allocate(
    prototype: *mut Plain,
    out: *mut *mut c_void,
    context: *mut c_void,
    set_error: Option<SetError>,
) -> c_int {
    // SAFETY: the consumer passes a prototype whose shape has `ndim` numbers, and an `out` with room for one pointer.
    let made = catch_unwind(AssertUnwindSafe(|| unsafe { make(prototype, out) }));
    let made = made
        .unwrap_or_else(|_panic| Err(("RuntimeError", "a call of streamflow panicked".to_owned())));
    let Err((kind, text)) = made else { return 0 };
    if let (Some(set_error), Ok(kind), Ok(text)) =
        (set_error, CString::new(kind), CString::new(text))
    {
        // SAFETY: the consumer passes the function together with the context that it takes; the two texts end with NUL.
        unsafe { set_error(context, kind.as_ptr(), text.as_ptr()) };
    }
    -1
}

/// An error of the allocator: the name of the exception's type, and its text.
type Refusal = (&'static str, String);

fn refusal(error: Error) -> Refusal {
    let kind = match &error {
        Error::Exchange { .. } => "BufferError",
        Error::Shape { .. } | Error::NoSuchDevice { .. } => "ValueError",
        Error::OutOfMemory { .. }
        | Error::PinnedExhausted { .. }
        | Error::Driver(DriverError::OutOfMemory { .. }) => "MemoryError",
        _ => "RuntimeError",
    };
    (kind, error.to_string())
}

/// # Safety
/// The pointers are as `dlpack.h` requires for the arguments of the allocator.
unsafe fn make(prototype: *mut Plain, out: *mut *mut c_void) -> Result<(), Refusal> {
    let null = || ("ValueError", "the allocator's prototype or its result is null".to_owned());
    if out.is_null() {
        return Err(null());
    }
    // SAFETY: the caller guarantees that the pointer is null or leads to a structure.
    let prototype = unsafe { prototype.as_ref() }.ok_or_else(null)?;
    let rank = usize::try_from(prototype.ndim).unwrap_or(usize::MAX);
    if rank > 0 && (rank > 64 || prototype.shape.is_null()) {
        return Err((
            "ValueError",
            format!("the prototype has {} dimensions, and no shape for them", prototype.ndim),
        ));
    }
    // SAFETY: the caller guarantees that the shape has this number of dimensions. The numbers are read unaligned, since other
    // code has allocated them.
    let dims = (0..rank).map(|index| unsafe { prototype.shape.add(index).read_unaligned() });
    let dims: Result<Vec<usize>, Refusal> = dims
        .map(|dim| {
            usize::try_from(dim).map_err(|_| ("ValueError", format!("a dimension is {dim}")))
        })
        .collect();
    let dims = dims?;
    let Device { kind, id } = prototype.device;
    let DataType { code, bits, lanes } = prototype.dtype;
    let dtype = DlType { code, bits, lanes }.to_string();
    let allocated = for_dtype!(dtype.as_str(), T => {
        let make = |queue: &Queue, abi: Abi| {
            queue.with(|platform, stream| {
                let tensor = platform.tensor::<T>(&dims[..], stream)?;
                let is_on_gpu = platform.name() == "cuda";
                let consumer =
                    if is_on_gpu { Consumer::QueuesOn(stream) } else { Consumer::HostBlocking };
                tensor.into_dlpack(abi, consumer)
            })
        };
        match kind {
            DlDevice::CUDA => on_gpu(id).and_then(|queue| make(&queue, Abi::Versioned)),
            DlDevice::CPU => on_simulator().and_then(|queue| make(&queue, Abi::Versioned)),
            other => Err(Error::Exchange {
                what: format!("streamflow has no memory on devices of DLPack's type {other}"),
                reason: "it has that of GPUs, 2, and of the CPU, 1".to_owned(),
                remedy: "allocate on one of these".to_owned(),
            }),
        }
    });
    // The macro returns its error as a `PyErr`, which is replaced: no interpreter lock is held here to raise it.
    let allocated: Result<_, PyErr> = allocated;
    let allocated = allocated
        .map_err(|_| ("TypeError", format!("streamflow has no elements of type {dtype}")))?;
    let exported = allocated.map_err(refusal)?;
    // SAFETY: the caller guarantees that `out` has room for one pointer.
    unsafe { out.write(exported.into_raw()) };
    Ok(())
}
