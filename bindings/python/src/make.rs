//! Functions that make new tensors.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::dtype::{for_dtype, name_of};
use crate::error::OrRaise;
use crate::held::{AnyTensor, Held};
use crate::own::own_or_none;
use crate::stream::Stream;
use crate::tensor::Tensor;

/// Reads the lengths of a shape from one int or from several.
fn lengths(shape: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    if let Ok(length) = shape.extract::<usize>() {
        return Ok(vec![length]);
    }
    if !shape.is_instance_of::<PyString>()
        && let Ok(lengths) = shape.extract::<Vec<usize>>()
    {
        return Ok(lengths);
    }
    Err(PyTypeError::new_err(
        "`shape` is a number of elements, or a sequence of them: none is negative",
    ))
}

/// A tensor with undefined content.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     The lengths of the dimensions, outermost first; at most 8.
/// dtype : str or numpy.dtype, optional
///     The type of the elements.
/// stream : Stream, optional
///     The stream that the tensor belongs to; a new one by default.
///
/// Returns
/// -------
/// Tensor
///
/// Raises
/// ------
/// TypeError
///     For a type that streamflow has not.
/// ValueError
///     For more than 8 dimensions.
/// MemoryError
///     If the device has no memory left.
#[pyfunction]
#[pyo3(signature = (shape, dtype = None, *, stream = None))]
pub(crate) fn empty(
    py: Python<'_>,
    shape: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = own_or_none)] stream: Option<Py<Stream>>,
) -> PyResult<Tensor> {
    make(py, shape, dtype, stream, None)
}

/// A tensor of zeros. See `empty`.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
/// dtype : str or numpy.dtype, optional
/// stream : Stream, optional
///
/// Returns
/// -------
/// Tensor
#[pyfunction]
#[pyo3(signature = (shape, dtype = None, *, stream = None))]
pub(crate) fn zeros(
    py: Python<'_>,
    shape: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = own_or_none)] stream: Option<Py<Stream>>,
) -> PyResult<Tensor> {
    make(py, shape, dtype, stream, Some(0))
}

fn make(
    py: Python<'_>,
    shape: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    stream: Option<Py<Stream>>,
    byte: Option<u8>,
) -> PyResult<Tensor> {
    let shape = lengths(shape)?;
    let dtype = dtype.map_or_else(|| Ok("float32".to_owned()), name_of)?;
    let stream = Stream::or_new(py, stream)?;
    let on = stream.get();
    let held: PyResult<Box<dyn AnyTensor>> = for_dtype!(dtype.as_str(), T => {
        let made = py.detach(|| {
            on.with(|platform, stream| {
                let mut tensor = platform.tensor::<T>(&shape[..], stream)?;
                if let Some(byte) = byte {
                    stream.fill_bytes(&mut tensor, byte)?;
                }
                Ok(tensor)
            })
        });
        Held::writable(made.or_raise()?)
    });
    Ok(Tensor::new(held?, stream))
}
