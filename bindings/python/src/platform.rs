//! The class `Platform`, and the default platform.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::error::OrRaise;

/// Devices, their streams and their memory: the GPUs of this machine, or a simulator on the host.
///
/// Parameters
/// ----------
/// kind : {"detect", "cuda", "host"}, optional
///     "cuda" needs a CUDA driver and a GPU, "host" is the simulator. "detect" takes CUDA if it works, and else the
///     simulator: a line on standard error then says why.
/// seed : int, optional
///     The seed of the order that the simulator executes work in. Only for "host".
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

    /// How many devices the platform has.
    #[getter]
    fn device_count(&self) -> usize {
        self.inner.device_count()
    }

    fn __repr__(&self) -> String {
        format!("<streamflow.Platform \"{}\": {}>", self.inner.name(), self.inner.why())
    }
}

static DEFAULT: Mutex<Option<streamflow::Platform>> = Mutex::new(None);

/// Returns the default platform, without taking the interpreter lock. The first call takes long, so no caller holds that lock.
pub(crate) fn default_inner() -> Result<streamflow::Platform, streamflow::Error> {
    let locked = || DEFAULT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(made) = locked().as_ref() {
        return Ok(made.clone());
    }
    // `DEFAULT` is not locked while the platform is made, since that takes long. If two threads make one, the first is kept.
    let made = streamflow::Platform::detect()?;
    Ok(locked().get_or_insert(made).clone())
}

/// The platform of calls that name none: CUDA if it works, and else the simulator, with a line on standard error that
/// says why. There is one default platform per process.
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

/// Returns the platform of an optional argument, or the default platform if the argument is missing.
pub(crate) fn given_or_default(
    py: Python<'_>,
    platform: Option<Py<Platform>>,
) -> PyResult<streamflow::Platform> {
    let platform = match platform {
        Some(platform) => platform,
        None => default_platform(py)?,
    };
    Ok(platform.get().inner.clone())
}
