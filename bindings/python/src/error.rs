//! Errors of streamflow as exceptions.

use pyo3::exceptions::{PyBufferError, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, PyResult, create_exception};
use streamflow::Error;
use streamflow::driver::DriverError;

create_exception!(
    streamflow,
    StreamflowError,
    PyRuntimeError,
    "A call of streamflow failed. The text says what failed, why, and what to do."
);

/// The exception of an error.
pub(crate) fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Exchange { .. } => PyBufferError::new_err(text),
        Error::Shape { .. } | Error::NoSuchDevice { .. } | Error::WrongDevice { .. } => {
            PyValueError::new_err(text)
        }
        Error::Driver(DriverError::OutOfMemory { .. }) => PyMemoryError::new_err(text),
        _ => StreamflowError::new_err(text),
    }
}

/// Results of streamflow as results of Python.
pub(crate) trait OrRaise<T> {
    /// The value.
    ///
    /// # Errors
    /// The exception of the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(exception)
    }
}
