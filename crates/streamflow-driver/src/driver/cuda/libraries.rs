//! Calls of libraries, for [`CudaDriver`].

use cudarc::driver::sys;

use super::error::{STICKY, check_query};
use super::submit::stream_of;
use super::{CudaDriver, context};
use crate::driver::{
    DriverError, DriverResult, Libraries, LibraryCall, LibraryCalls, LibraryError, RawStream,
};

/// A text that is added to the remedy of a library's error.
const OTHER_DEVICE: &str = "another device than the stream's is current on this thread: code that makes one current makes \
                            the former one current again before it calls a plan";

// SAFETY: the body for a device queues its work on the stream, and CUDA executes the work in the
// stream's order.
unsafe impl Libraries for CudaDriver {
    #[inline]
    fn library_calls(&self) -> LibraryCalls {
        LibraryCalls::Body
    }

    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        STICKY.usable(call.function)?;
        match (call.device)(stream) {
            Ok(()) => Ok(()),
            // SAFETY: the stream is live, by the contract of this method.
            Err(error) => Err(unsafe { self.library_failed(stream, call.function, error) }),
        }
    }
}

impl CudaDriver {
    /// Returns the error of a library's function, or the context's error if the context is lost.
    ///
    /// # Safety
    /// `stream` is live.
    #[cold]
    pub(super) unsafe fn library_failed(
        &self,
        stream: RawStream,
        function: &'static str,
        error: LibraryError,
    ) -> DriverError {
        if let Err(refused) = STICKY.usable(function) {
            return refused;
        }
        // A library has its own error numbers, and no number for a lost context.
        // SAFETY: the stream is live, by the contract of this function.
        let queried = unsafe { sys::cuStreamQuery(stream_of(stream)) };
        if let Err(lost) = check_query(function, stream.device(), queried) {
            return lost;
        }
        match self.device(stream.device()) {
            Err(unusable) => unusable,
            Ok(on) if context::is_current(&on.context) => error.into(),
            Ok(_) => {
                LibraryError { remedy: format!("{}; {OTHER_DEVICE}", error.remedy), ..error }.into()
            }
        }
    }
}
