//! The CUDA array interface, version 3.

use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use streamflow::device;
use streamflow::memory::After;
use streamflow::stream::BorrowedStream;

use crate::array_interface::{Interface, strides};
use crate::dtype::typestr;
use crate::error::{OrRaise, exception_about_stream};
use crate::held::AnyTensor;
use crate::stream::Stream;
use crate::tensor::Tensor;
use crate::unseen::{come_after_everything, order_who_ignores_streams};

const NAME: &str = "__cuda_array_interface__";

/// Returns the interface's dictionary for a tensor, with the handle of the tensor's stream. The stream lives as long as the
/// tensor.
///
/// Some libraries ignore the stream in the dictionary. This function orders the streams of these libraries itself.
pub(crate) fn describe<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyDict>> {
    let typestr = typestr(tensor.held().dtype())?;
    let address = tensor.show(py)?;
    order_who_ignores_streams(py, tensor.stream())?;
    let (held, interface) = (tensor.held(), PyDict::new(py));
    interface.set_item("version", 3)?;
    interface.set_item("shape", PyTuple::new(py, held.shape())?)?;
    interface.set_item("typestr", typestr)?;
    interface.set_item("data", (address, held.is_read_only()))?;
    interface.set_item("strides", strides(py, held)?)?;
    interface.set_item("stream", tensor.stream().protocol_number()?)?;
    Ok(interface)
}

/// How the work that has written the memory of an exporting object is ordered.
#[derive(Debug, PartialEq)]
enum Ready {
    /// The exporter names no stream. By the standard that promises complete content, but often the content is not complete:
    /// PyTorch has version 2 of the interface, RMM version 0, and Numba names no stream for arrays of its default stream.
    Unknown,
    Default,
    /// The handle of a stream: the thread's default stream, or another one.
    Handle(u64),
}

/// Imports the memory of an object that has the interface.
pub(crate) fn import(object: &Bound<'_, PyAny>, stream: &Stream) -> PyResult<Box<dyn AnyTensor>> {
    let dict = object.getattr(NAME)?;
    let (interface, ready) = (Interface::read(&dict, NAME)?, ready(&dict)?);
    if stream.platform().name() != "cuda" {
        return Err(PyBufferError::new_err(
            "an array of a GPU can't be imported by the simulator; use `Platform(\"cuda\")`, or copy the array to the \
             host",
        ));
    }
    let on = stream.device_id();
    let adopt = |after| interface.adopt(object, stream, after, on.index() as u32);
    match ready {
        Ready::Unknown => {
            come_after_everything(object.py(), stream)?;
            adopt(None)
        }
        Ready::Default => {
            let default = stream.platform().default_stream(on).or_raise()?;
            adopt(Some(After::QueuedOn(&default)))
        }
        Ready::Handle(handle) => {
            // SAFETY: the exporter keeps its stream alive as long as the object, and the wrapper does not outlive the call.
            let borrowed = unsafe { BorrowedStream::new(device(on.index() as u32), handle) };
            let theirs = stream.platform().external_stream(borrowed);
            // The record fails if the stream was destroyed. The memory is then not imported.
            let theirs = theirs.and_then(|theirs| theirs.record().map(|_| theirs));
            let theirs = theirs.map_err(|error| exception_about_stream(error, handle))?;
            adopt(Some(After::QueuedOn(&theirs)))
        }
    }
}

/// Reads from the dictionary how the work of the exporter is ordered.
fn ready(dict: &Bound<'_, PyAny>) -> PyResult<Ready> {
    let dict = dict.cast::<PyDict>()?;
    let number = |key: &str| -> PyResult<Option<i64>> {
        let entry = dict.get_item(key)?.filter(|entry| !entry.is_none());
        let wrong =
            |_| PyValueError::new_err(format!("the entry \"{key}\" of `{NAME}` is not a number"));
        entry.map(|entry| entry.extract()).transpose().map_err(wrong)
    };
    // The interface had no entry for a stream before version 3.
    if number("version")?.unwrap_or(0) < 3 {
        return Ok(Ready::Unknown);
    }
    match number("stream")? {
        None => Ok(Ready::Unknown),
        Some(1) => Ok(Ready::Default),
        Some(handle @ 2..) => Ok(Ready::Handle(handle.unsigned_abs())),
        Some(other) => Err(PyValueError::new_err(format!(
            "the entry \"stream\" of `{NAME}` is {other}, which names no stream: its exporter is wrong; import it by \
             `from_dlpack`"
        ))),
    }
}
