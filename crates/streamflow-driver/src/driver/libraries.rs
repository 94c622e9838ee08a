//! How a driver calls functions of libraries.

use super::{DriverResult, LibraryCall, LibraryCalls, RawStream};

/// Calls functions of libraries for a driver. A layer that does something in such a call has its own, whose calls it passes to
/// that of the driver below; all other layers return the one below, so that no call goes through them.
///
/// # Safety
/// As for [`Driver`](super::Driver): the work of a call executes in the order of its stream.
pub unsafe trait Libraries: Send + Sync {
    /// The parts of calls that are needed here. This is asked when a call begins. All of each call by default.
    fn library_calls(&self) -> LibraryCalls {
        LibraryCalls::Whole
    }

    /// Queues a library's work: calls the body for a device, or queues the one for the simulator.
    ///
    /// # Safety
    /// `stream` is live. The body for a device queues work on `stream` alone. That work, and the body for the simulator
    /// with these parameters, touch the memory of the accesses and no other, which is allocated until the work has
    /// executed.
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()>;
}
