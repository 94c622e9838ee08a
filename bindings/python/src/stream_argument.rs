//! The `stream` argument of `__dlpack__`.

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;

/// The values that a consumer can pass as the argument `stream` of `__dlpack__` for memory of a GPU, as DLPack defines them.
#[derive(Clone, Copy)]
pub(crate) enum StreamArgument {
    /// `None` or 1: the legacy default stream.
    Default,
    /// 2: the default stream of the calling thread.
    PerThread,
    /// The handle of a stream that is alive during the call.
    Handle(u64),
    /// -1: the producer must not order anything.
    Unordered,
}

impl StreamArgument {
    /// Converts the argument. Rust's `None` stands for Python's `None`.
    ///
    /// # Errors
    /// A `ValueError` for 0, which DLPack excludes as ambiguous, and for negative numbers other than -1.
    pub(crate) fn new(argument: Option<i64>) -> PyResult<Self> {
        match argument {
            None | Some(1) => Ok(Self::Default),
            Some(2) => Ok(Self::PerThread),
            Some(-1) => Ok(Self::Unordered),
            Some(handle @ 3..) => Ok(Self::Handle(handle.unsigned_abs())),
            Some(other @ ..=0) => Err(PyValueError::new_err(format!(
                "`stream={other}` names no stream: DLPack has no such value; pass 1 for the legacy default stream, 2 for the \
                 default stream of the thread, the handle of another stream, or -1 for no order"
            ))),
        }
    }
}
