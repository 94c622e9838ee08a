//! Platforms, and tensors on them.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::dtype::{for_dtype, name_of};
use crate::error::OrRaise;
use crate::held::{AnyTensor, Held};
use crate::stream::Stream;
use crate::tensor::Tensor;

/// Devices, their streams and their memory: the GPUs of this machine, or a simulator on the host.
///
/// Parameters
/// ----------
/// kind : {"detect", "cuda", "host"}, optional
///     "cuda" needs a CUDA driver and a GPU, "host" is the simulator. "detect" takes CUDA if it works, and else the
///     simulator: a line on standard error then says why.
/// seed : int, optional
///     The order in which the simulator executes work. Only for "host".
///
/// Raises
/// ------
/// streamflow.Error
///     If CUDA is needed and does not work. The text says what to do.
#[pyclass(frozen, module = "streamflow")]
pub struct Platform {
    pub(crate) inner: streamflow::Platform,
}

#[pymethods]
impl Platform {
    #[new]
    #[pyo3(signature = (kind = "detect", *, seed = None))]
    fn new(py: Python<'_>, kind: &str, seed: Option<u64>) -> PyResult<Self> {
        let made = py.detach(|| match (kind, seed) {
            ("detect", None) => Some(streamflow::Platform::detect()),
            ("cuda", None) => Some(streamflow::Platform::cuda()),
            ("host", None) => Some(streamflow::Platform::host().build()),
            ("host", Some(seed)) => Some(streamflow::Platform::host().seed(seed).build()),
            _ => None,
        });
        let Some(made) = made else {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "`kind` is \"detect\", \"cuda\" or \"host\", and `seed` goes with \"host\" alone",
            ));
        };
        Ok(Self { inner: made.or_raise()? })
    }

    /// "cuda" or "host".
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// Why this platform was chosen.
    #[getter]
    fn why(&self) -> &str {
        self.inner.why()
    }

    /// How many devices it has.
    #[getter]
    fn device_count(&self) -> usize {
        self.inner.device_count()
    }

    fn __repr__(&self) -> String {
        format!("<streamflow.Platform \"{}\": {}>", self.inner.name(), self.inner.why())
    }
}

static DEFAULT: Mutex<Option<streamflow::Platform>> = Mutex::new(None);

/// The default platform. Needs no interpreter lock, and takes long at first: it is called without.
pub(crate) fn default_inner() -> Result<streamflow::Platform, streamflow::Error> {
    let locked = || DEFAULT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(made) = locked().as_ref() {
        return Ok(made.clone());
    }
    // Without the lock, since this takes long.
    let made = streamflow::Platform::detect()?;
    Ok(locked().get_or_insert(made).clone())
}

/// The platform that calls use which name none: CUDA if it works, and else the simulator, with a line on standard error
/// that says why. It is made once.
///
/// Returns
/// -------
/// Platform
#[pyfunction]
pub(crate) fn default_platform(py: Python<'_>) -> PyResult<Py<Platform>> {
    static MADE: PyOnceLock<Py<Platform>> = PyOnceLock::new();
    let make = || Py::new(py, Platform { inner: py.detach(default_inner).or_raise()? });
    Ok(MADE.get_or_try_init(py, make)?.clone_ref(py))
}

/// The lengths of a shape: of one number or of several.
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

/// A tensor whose content is undefined.
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
    stream: Option<Py<Stream>>,
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
    stream: Option<Py<Stream>>,
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
