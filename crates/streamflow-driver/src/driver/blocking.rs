//! A layer that waits for each launch, so that the launch that causes a fault reports it.
//!
//! A kernel runs after its launch has returned. So a later call, perhaps of another operator, finds a fault, and CUDA
//! does not say which kernel caused it. With this layer the launch itself returns the error, and no work overlaps.

use std::sync::Arc;

use super::error::FIND_LAUNCH;
use super::{Driver, DriverError, DriverResult, Launch, Layer, Libraries, LibraryCall, RawStream};

/// Waits for each launch: `PlatformBuilder::blocking_launches` of `streamflow` chooses this layer.
#[doc(hidden)]
#[derive(Debug)]
pub struct BlockingLaunches {
    below: Arc<dyn Driver>,
}

impl BlockingLaunches {
    #[doc(hidden)]
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below }
    }
}

// SAFETY: a launch is passed to the driver below, and then waited for.
unsafe impl Layer for BlockingLaunches {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        // SAFETY: the caller keeps the contract of this call.
        unsafe { self.below.launch(stream, launch) }?;
        // SAFETY: the stream is live: the caller has just launched on it.
        let done = unsafe { self.below.synchronize_stream(stream) };
        done.map_err(|error| name_work(error, || format!("the launch of {}", launch.describe())))
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }
}

// SAFETY: a library call is passed to the driver below, and then waited for.
unsafe impl Libraries for BlockingLaunches {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        // SAFETY: the caller keeps the contract of this call.
        unsafe { self.below.libraries().call_library(stream, call) }?;
        // SAFETY: the stream is live: the caller has just called the library for it.
        let done = unsafe { self.below.synchronize_stream(stream) };
        done.map_err(|error| name_work(error, || format!("the call of `{}`", call.function)))
    }
}

/// Adds the name of the work to the message of an error.
#[cold]
fn name_work(error: DriverError, work: impl FnOnce() -> String) -> DriverError {
    match error {
        DriverError::Call { call, device, code, name, message } => {
            let message = message.strip_suffix(FIND_LAUNCH).unwrap_or(&message);
            let message = format!("{message}; it is {}", work());
            DriverError::Call { call, device, code, name, message }
        }
        other => other,
    }
}
