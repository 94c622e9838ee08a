//! Converts errors of streamflow into exceptions of Python.

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

/// Converts an error of streamflow into an exception.
pub(crate) fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Exchange { .. } => PyBufferError::new_err(text),
        Error::Shape { .. }
        | Error::NoSuchDevice { .. }
        | Error::WrongDevice { .. }
        | Error::ParamOutOfRange { .. }
        | Error::Driver(DriverError::NoHandle { .. }) => PyValueError::new_err(text),
        Error::OutOfMemory { .. }
        | Error::PinnedExhausted { .. }
        | Error::Driver(DriverError::OutOfMemory { .. }) => PyMemoryError::new_err(text),
        _ => StreamflowError::new_err(text),
    }
}

/// CUDA's error codes for a handle that is not the handle of a stream: `CUDA_ERROR_INVALID_CONTEXT`, `_INVALID_HANDLE` and
/// `_CONTEXT_IS_DESTROYED`.
const NO_STREAM: [i32; 3] = [201, 400, 709];

/// Converts an error of work on another library's stream into an exception. `handle` is the handle of that stream.
pub(crate) fn exception_about_stream(error: Error, handle: u64) -> PyErr {
    match &error {
        Error::Driver(DriverError::Call { code, .. }) if NO_STREAM.contains(code) => {
            StreamflowError::new_err(format!(
                "{error}; {handle:#x} is the handle of no stream of this device, or of one that was destroyed: pass the \
                 handle of a stream that lives, and keep the stream during the call"
            ))
        }
        _ => exception(error),
    }
}

/// Converts results of streamflow into results of Python.
pub(crate) trait OrRaise<T> {
    /// Returns the value of a success.
    ///
    /// # Errors The exception for the error of streamflow.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(exception)
    }
}
