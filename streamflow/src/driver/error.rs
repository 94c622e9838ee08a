//! What a driver says when a call fails.

use super::{DeviceId, MAX_PARAMS};

/// A failed driver call: which call, on which device, and what the driver said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The driver returned an error code.
    #[error("{call} failed on {device}: {name} ({code}): {message}")]
    Call {
        /// The driver's function.
        call: &'static str,
        /// The device it was called for.
        device: DeviceId,
        /// The driver's number for the error.
        code: i32,
        /// The driver's name for the error, as `CUDA_ERROR_OUT_OF_MEMORY`.
        name: String,
        /// What the driver says about it, and what to do where something can be done.
        message: String,
    },
    /// The device executes nothing any more; this was reported before.
    #[error("{call} was not tried: the device is unusable since: {cause}")]
    Sticky {
        /// The driver's function.
        call: &'static str,
        /// The first error.
        cause: Sticky,
    },
    /// Device memory is exhausted.
    #[error(
        "out of memory on {device}: {requested} bytes were asked for; drop tensors, or make them smaller"
    )]
    OutOfMemory {
        /// The device.
        device: DeviceId,
        /// How many bytes were asked for.
        requested: u64,
    },
    /// Work waits for work that can never run. Only the simulator can tell.
    #[error("{call} would wait for ever: {detail}")]
    Deadlock {
        /// The call that would not have returned.
        call: &'static str,
        /// Which streams wait for what.
        detail: String,
    },
    /// A platform cannot be started.
    #[error("{what}; {remedy}")]
    Unavailable {
        /// What is missing.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// Compiled code cannot be loaded.
    #[error("{module} cannot be loaded: {message}")]
    Module {
        /// What it is called.
        module: String,
        /// Why, and what to do.
        message: String,
    },
    /// A kernel cannot be made ready.
    #[error("kernel `{kernel}` cannot be loaded: {message}")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// Why, and what to do.
        message: String,
    },
}

impl DriverError {
    /// Of a launch.
    #[cold]
    pub(crate) fn too_many_params(kernel: &str, passed: usize) -> Self {
        let message = format!(
            "it was launched with {passed} parameters, and {MAX_PARAMS} is the most; a slice counts as two"
        );
        Self::Kernel { kernel: kernel.to_owned(), message }
    }
}

/// The error after which a device executes nothing any more.
///
/// CUDA leaves the process without a usable context then; only a new process helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} ({code}) in {call}: {message}; start the process again")]
pub struct Sticky {
    /// The call that reported it; the work that caused it may have been queued long before.
    pub call: &'static str,
    /// The driver's number for the error.
    pub code: i32,
    /// The driver's name for the error.
    pub name: String,
    /// What the driver says about it.
    pub message: String,
}

/// Says that a call failed where nothing can be returned.
pub(crate) fn report_in_drop(what: &str, result: Result<(), impl std::fmt::Display>) {
    if let Err(error) = result {
        tracing::error!(%error, "{what}");
    }
}
