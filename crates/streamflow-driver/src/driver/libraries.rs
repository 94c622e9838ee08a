//! The calls of library functions by a driver.

use super::{DriverResult, LibraryCall, LibraryCalls, RawStream};

/// Calls functions of libraries for a driver. A layer that handles such calls has its own implementation, and passes each call
/// to that of the driver below; all other layers return the implementation of the driver below, so no call goes through them.
///
/// # Safety
/// The work of a call executes in the order of its stream, as for a [`Driver`](super::Driver).
pub unsafe trait Libraries: Send + Sync {
    /// The parts of calls that this implementation needs, queried when a call begins. By default all parts are needed.
    fn library_calls(&self) -> LibraryCalls {
        LibraryCalls::Whole
    }

    /// Queues a library's work: calls the body for a device, or queues the body for the simulator.
    ///
    /// # Safety
    /// `stream` is live. The body for a device queues work on `stream` alone. That work, and the body for the simulator with
    /// these parameters, touch only the memory of the accesses, and that memory is allocated until the work has executed.
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()>;
}
