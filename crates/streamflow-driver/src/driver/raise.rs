//! Raising a signal from a stream.

use std::ffi::c_void;
use std::sync::Arc;

use super::{DriverResult, HostFunction, OwnedStream, Signal};

impl OwnedStream {
    /// Raises `signal` when all work queued on this stream before is complete.
    #[doc(hidden)]
    pub fn raise(&self, signal: &Arc<Signal>) -> DriverResult<()> {
        let data = Arc::into_raw(signal.clone()).cast_mut().cast();
        let function = HostFunction { call: raise, data };
        // SAFETY: the stream is alive while it is borrowed; the data is a reference to the signal that the call
        // owns; and `raise` makes no CUDA calls and does not unwind.
        let queued = unsafe { self.driver().launch_host_function(self.raw(), function) };
        if queued.is_err() {
            // SAFETY: the pointer came from `into_raw`, and the call that owned it will not be made.
            drop(unsafe { Arc::from_raw(data.cast::<Signal>()) });
        }
        queued
    }
}

unsafe extern "C" fn raise(data: *mut c_void) {
    // SAFETY: `data` is the reference that `OwnedStream::raise` gave to this call alone.
    let signal = unsafe { Arc::from_raw(data.cast::<Signal>()) };
    signal.raise();
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use super::*;
    use crate::driver::host::HostDriver;
    use crate::driver::{DeviceId, Driver, StreamOptions};

    #[test]
    fn a_stream_raises_the_signal_once_and_drops_its_reference() {
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::builder().build());
        let stream =
            OwnedStream::create(&driver, DeviceId::default(), StreamOptions::default()).unwrap();
        let signal = Arc::new(Signal::default());
        let seen = signal.raised();
        stream.raise(&signal).unwrap();
        stream.synchronize().unwrap();
        // The signal is raised already, so `sleep` returns at once.
        signal.sleep(seen, Duration::from_secs(3600));
        assert_eq!((signal.raised(), Arc::strong_count(&signal)), (seen + 1, 1));
    }
}
