//! The errors of driver calls.

use super::handle::{FIRST_HANDLE, HANDLE_ALIGNMENT, LAST_HANDLE};
use super::{DeviceId, DriverResult, LibraryError, MAX_PARAMS};
use crate::caught::caught;
use crate::log;

/// A failed driver call: the call, its device, and the driver's description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The driver returned an error code.
    #[error("{call} failed on {device}: {name} ({code}): {message}")]
    Call {
        /// The driver's function.
        call: &'static str,
        /// The device that the call was for.
        device: DeviceId,
        /// The driver's number for the error.
        code: i32,
        /// The driver's name for the error, as `CUDA_ERROR_OUT_OF_MEMORY`.
        name: String,
        /// The driver's description, and what to do about it.
        message: String,
    },
    /// The device executes nothing any more, since an earlier call met a sticky error.
    #[error("{call} was not tried: the device is unusable since: {cause}")]
    Sticky {
        /// The driver's function.
        call: &'static str,
        /// The sticky error that was met first.
        cause: Sticky,
    },
    /// Device memory is exhausted.
    #[error(
        "out of memory on {device}: {requested} bytes were requested; drop tensors, or make them smaller"
    )]
    OutOfMemory {
        /// The device whose memory is exhausted.
        device: DeviceId,
        /// The number of bytes that were requested.
        requested: u64,
    },
    /// Work waits for work that can never run. Only the simulator detects this.
    #[error("{call} would wait for ever: {detail}")]
    Deadlock {
        /// The call that would not have returned.
        call: &'static str,
        /// The streams that wait for each other.
        detail: String,
    },
    /// A number was passed as a handle that no object of CUDA can have. Such a number would crash the driver.
    #[error(
        "{handle} is the handle of no {what}: a handle is an address of the driver's, a multiple of {} from {} to {}; pass \
         that of a live {what}, as its library gives it",
        HANDLE_ALIGNMENT,
        FIRST_HANDLE,
        LAST_HANDLE
    )]
    NoHandle {
        /// The kind of object that was expected: a stream or an event.
        what: &'static str,
        /// The number that was passed.
        handle: u64,
    },
    /// A driver, or a layer above it, has broken the [contract](super::Driver#safety): no driver that keeps the
    /// contract returns such an answer.
    #[error(
        "`{call}` on {device} has broken the contract of a driver: {problem}; mend the layer: it returns what the driver \
         below has returned"
    )]
    Contract {
        /// The method of [`Driver`](super::Driver).
        call: &'static str,
        /// The device that the call was for.
        device: DeviceId,
        /// The answer of the driver, and the request.
        problem: String,
    },
    /// A platform or a feature is not available.
    #[error("{what}; {remedy}")]
    Unavailable {
        /// The part that is missing.
        what: String,
        /// The remedy: an action of the user after which the call can succeed.
        remedy: String,
    },
    /// A library's function has failed.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The host body of a library's function has failed on the simulator. The device is usable. The content of the memory
    /// that the function writes is undefined.
    #[error("library function `{function}`{} {problem}", called_by(.node.as_deref()))]
    HostBody {
        /// The library's function.
        function: String,
        /// The operator that called the function in a hook.
        node: Option<String>,
        /// The kind of failure, with the text of the error or of the panic.
        problem: String,
    },
    /// Compiled code cannot be loaded.
    #[error("{module} cannot be loaded: {message}")]
    Module {
        /// The module's name.
        module: String,
        /// Why, and what to do.
        message: String,
    },
    /// A kernel cannot be made ready.
    #[error("kernel `{kernel}` cannot be loaded: {message}")]
    Kernel {
        /// The name of the kernel.
        kernel: String,
        /// Why, and what to do.
        message: String,
    },
}

impl DriverError {
    /// The error of a launch with more than [`MAX_PARAMS`] parameters.
    #[doc(hidden)]
    #[cold]
    pub fn too_many_params(kernel: &str, passed: usize) -> Self {
        let message = format!(
            "the launch has {passed} parameters, and {MAX_PARAMS} is the most; a slice counts as two"
        );
        Self::Kernel { kernel: kernel.to_owned(), message }
    }
}

fn called_by(node: Option<&str>) -> String {
    node.map_or_else(String::new, |node| format!(", called by operator `{node}`,"))
}

/// The consequence of a sticky error, as the end of its message.
pub(super) const LOST: &str =
    "every graph of this process that uses the device fails from now on; start the process again";

/// The end of the message of the call that first meets a sticky error: how to find the launch that caused the error.
pub(super) const FIND_LAUNCH: &str =
    "; an earlier launch or copy caused it: set STREAMFLOW_BLOCKING_LAUNCHES=1 to get the launch";

/// The error after which a device executes nothing any more.
///
/// CUDA leaves the process without a usable context, so the process must be started again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} ({code}) in {call}: {message}; {}", LOST)]
pub struct Sticky {
    /// The call that reported the error; the work that caused it may have been queued long before.
    pub call: &'static str,
    /// The driver's number for the error.
    pub code: i32,
    /// The driver's name for the error.
    pub name: String,
    /// The driver's description.
    pub message: String,
}

/// Returns the error of `first`, if there is one, and then logs the error of `second`. Else returns `second`.
#[doc(hidden)]
pub fn first_error<E: std::fmt::Display + 'static>(
    what: &'static str,
    first: Result<(), E>,
    second: Result<(), E>,
) -> Result<(), E> {
    if first.is_ok() {
        return second;
    }
    report_in_drop(what, second);
    first
}

/// Logs a failed call as [`report_in_drop`] does, except a call that was not tried because the device is unusable: the
/// call that met the sticky error has already reported it.
#[doc(hidden)]
pub fn report_unless_refused(what: &'static str, result: DriverResult<()>) {
    if !matches!(result, Err(DriverError::Sticky { .. })) {
        report_in_drop(what, result);
    }
}

/// Logs a failed call where no error can be returned.
#[doc(hidden)]
pub fn report_in_drop(what: &'static str, result: Result<(), impl std::fmt::Display + 'static>) {
    let Err(error) = result else { return };
    log::write(move || {
        // The code that formats or drops the error may be the user's. If that code panics, the panic hook has already
        // printed the panic.
        let _panicked = caught(|| tracing::error!(error = %{ error }, "{what}"));
    });
}
