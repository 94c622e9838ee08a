//! Handles of the streams of other libraries.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// The attributes that hold the handle of a stream in PyTorch, in CuPy, and in Numba, CV-CUDA and cuda.core.
const ATTRIBUTES: [&str; 3] = ["cuda_stream", "ptr", "handle"];

/// Returns the number that stands for a stream. The argument is an int, an object whose `__cuda_stream__` returns the number, or
/// an object with one of the attributes of other libraries.
///
/// # Errors
/// `TypeError` for an object that is no stream.
pub(crate) fn handle_of(stream: &Bound<'_, PyAny>) -> PyResult<i64> {
    if let Some(number) = number(stream)? {
        return Ok(number);
    }
    if stream.is_instance_of::<PyInt>() {
        return Err(PyTypeError::new_err(format!(
            "{stream} is no stream; pass its handle as an int, which is an address"
        )));
    }
    if let Some(protocol) = stream.getattr_opt("__cuda_stream__")? {
        // In early versions of the protocol this attribute was a tuple instead of a method.
        let answer = if protocol.is_callable() { protocol.call0()? } else { protocol };
        let (version, handle): (u32, i64) = answer.extract().map_err(|_| {
            PyTypeError::new_err(
                "`__cuda_stream__` returned no pair of a version and a handle; pass the stream's handle as an int",
            )
        })?;
        if version != 0 {
            return Err(PyTypeError::new_err(format!(
                "the object has version {version} of `__cuda_stream__`, and streamflow takes version 0; pass the \
                 stream's handle as an int"
            )));
        }
        return Ok(handle);
    }
    for attribute in ATTRIBUTES {
        if let Some(value) = stream.getattr_opt(attribute)?
            && let Some(number) = number(&value)?
        {
            return Ok(number);
        }
    }
    Err(PyTypeError::new_err(format!(
        "a {} is no stream; pass its handle as an int, or an object with `__cuda_stream__`",
        stream.get_type().name()?
    )))
}

/// Returns the value of an int or of a `ctypes.c_void_p`, whose null has the value `None` in Python. Returns `None` for another
/// object.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if let Ok(number) = object.extract::<i64>() {
        return Ok(Some(number));
    }
    if object.get_type().name()? != "c_void_p" {
        return Ok(None);
    }
    let value = object.getattr("value")?;
    if value.is_none() { Ok(Some(0)) } else { value.extract().map(Some) }
}
