//! Streams and events of other libraries, by their handles alone.

use super::handle::{FIRST_HANDLE, HANDLE_ALIGNMENT, LAST_HANDLE};
use super::{BorrowedEvent, BorrowedStream, Driver, DriverError, DriverResult};

/// Refuses a number that can't be the handle of an object of CUDA: the driver would take it for an address. Only the
/// owner of a possible handle knows whether its object is alive. The simulator itself detects a number that is none of
/// its handles.
fn check(driver: &dyn Driver, what: &'static str, handle: u64) -> DriverResult<()> {
    let is_possible =
        (FIRST_HANDLE..=LAST_HANDLE).contains(&handle) && handle.is_multiple_of(HANDLE_ALIGNMENT);
    match is_possible || driver.name() != "cuda" {
        true => Ok(()),
        false => Err(DriverError::NoHandle { what, handle }),
    }
}

impl BorrowedEvent<'_> {
    /// Checks that the number can be the handle of an event.
    ///
    /// # Errors
    /// [`DriverError::NoHandle`] for a number that is no handle of CUDA.
    #[doc(hidden)]
    pub fn check(self, driver: &dyn Driver) -> DriverResult<()> {
        check(driver, "event", self.raw().handle())
    }
}

impl BorrowedStream<'_> {
    /// Checks that the number can be the handle of a stream. The number 2, the thread's default stream, passes the check.
    ///
    /// # Errors
    /// [`DriverError::NoHandle`] for a number that is no handle of CUDA.
    #[doc(hidden)]
    pub fn check(self, driver: &dyn Driver) -> DriverResult<()> {
        match self.raw().handle() {
            2 => Ok(()),
            handle => check(driver, "stream", handle),
        }
    }

    /// Borrows a stream as [`new`](Self::new) does, and looks up its device. `handle` is the `cudaStream_t` of a stream
    /// of CuPy, PyTorch, CV-CUDA or another library, and `driver` is the driver of the platform.
    ///
    /// ```
    /// # use streamflow_driver::driver::host::HostDriver;
    /// # use streamflow_driver::driver::{BorrowedStream, DeviceId, Driver, DriverResult, StreamOptions};
    /// # fn main() -> DriverResult<()> {
    /// # let driver = HostDriver::builder().build();
    /// # driver.bind(DeviceId::default())?;
    /// # let theirs = driver.create_stream(DeviceId::default(), StreamOptions::default())?;
    /// # let handle = theirs.handle();
    /// // SAFETY: the library keeps the stream until `stream` is dropped.
    /// let stream = unsafe { BorrowedStream::find(&driver, handle)? };
    /// // For `Platform::external_stream`, which makes a stream of streamflow of it.
    /// assert_eq!(stream.raw().handle(), handle);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] for 0, 1 and 2, the names of default streams; [`DriverError::NoHandle`] for a number
    /// that is no handle of CUDA; [`DriverError::Call`] for a stream of another context or of no device of the platform,
    /// and for a destroyed stream where the driver finds that out: the simulator does, and CUDA does not promise to.
    ///
    /// # Safety
    /// The contract of [`new`](Self::new); this call checks the context and the device, and not the lifetime.
    pub unsafe fn find(driver: &dyn Driver, handle: u64) -> DriverResult<Self> {
        let is_default = handle <= 2 && driver.name() == "cuda";
        if is_default {
            let which = if handle == 2 {
                "the default stream of the calling thread, another one on each thread,"
            } else {
                "the legacy default stream,"
            };
            return Err(DriverError::Unavailable {
                what: format!("the handle {handle} names {which} and no stream of a library"),
                remedy: "ask for the legacy default stream by `Platform::default_stream`, or let the library make a \
                         stream and take the handle of that one, as candle by `Device::new_cuda_with_stream`; with the \
                         feature `cudarc`, `CudaStream::after_cudarc` orders any stream of cudarc"
                    .to_owned(),
            });
        }
        check(driver, "stream", handle)?;
        // SAFETY: the caller keeps the contract of this function, so the stream is alive.
        let device = unsafe { driver.device_of_stream(handle) }?;
        // SAFETY: the caller keeps the contract of this function, and the device is the stream's.
        Ok(unsafe { Self::new(device, handle) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use super::*;
    use crate::driver::host::HostDriver;
    use crate::driver::{DeviceId, Layer};

    /// A driver whose name is `cuda`, so that handles are checked as addresses are.
    #[derive(Debug)]
    struct Named(Arc<dyn Driver>);

    // SAFETY: every call but `name` is passed to the driver below.
    unsafe impl Layer for Named {
        fn below(&self) -> &dyn Driver {
            &*self.0
        }

        fn name(&self) -> &str {
            "cuda"
        }
    }

    /// Returns the errors of a number as the handle of a borrowed stream, of a stream that `find` looks up, and of an
    /// event, in this order.
    fn refused(driver: &dyn Driver, handle: u64) -> [Option<DriverError>; 3] {
        // SAFETY: the handles are only checked.
        let (stream, event) = unsafe {
            (BorrowedStream::new(DeviceId(0), handle), BorrowedEvent::new(DeviceId(0), handle))
        };
        // SAFETY: the simulator knows its handles.
        let found = unsafe { BorrowedStream::find(driver, handle) };
        [stream.check(driver).err(), found.err(), event.check(driver).err()]
    }

    #[test]
    fn numbers_that_are_no_addresses_are_no_handles_of_cuda() {
        let host: Arc<dyn Driver> = Arc::new(HostDriver::builder().build());
        host.bind(DeviceId(0)).unwrap();
        let cuda = Named(host.clone());
        for handle in [3, 7, 4095, 4097, 0x0123_4564, 1 << 56, u64::MAX] {
            let what = ["stream", "stream", "event"];
            let expected = what.map(|what| Some(DriverError::NoHandle { what, handle }));
            assert_eq!(refused(&cuda, handle), expected);
            let [stream, _, event] = refused(&*host, handle);
            assert_eq!((stream, event), (None, None), "the simulator's handles are no addresses");
        }
        for handle in [4096, 0x7f00_1234_5678, (1 << 56) - 8] {
            let [stream, found, event] = refused(&cuda, handle);
            assert_eq!((stream, event), (None, None), "{handle}");
            // The number could be a handle, but the driver below has no such stream.
            assert!(matches!(found, Some(DriverError::Call { .. })), "{found:?}");
        }
        // DLPack's number of the thread's default stream.
        assert_eq!(refused(&cuda, 2)[0], None);
        let text = DriverError::NoHandle { what: "stream", handle: 7 }.to_string();
        assert!(text.starts_with("7 is the handle of no stream: a handle is an address"), "{text}");
    }
}
