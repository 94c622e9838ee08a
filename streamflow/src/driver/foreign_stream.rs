//! Streams of other libraries, by their handles alone.

use super::{BorrowedStream, Driver, DriverError, DriverResult};

impl BorrowedStream<'_> {
    /// As [`new`](Self::new), with the device looked up: for the handle of a stream of CuPy, PyTorch, CV-CUDA or another
    /// library, as its `cudaStream_t`. `driver` is [`Platform::driver`](crate::Platform::driver).
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # use streamflow::stream::BorrowedStream;
    /// # fn main() -> Result<()> {
    /// # let platform = Platform::host().build()?;
    /// # let theirs = platform.stream_pool("THEIRS", &CudaStreamPool::new())?.allocate("a library")?;
    /// # let handle = theirs.raw().handle();
    /// // SAFETY: the library keeps the stream until `stream` is dropped.
    /// let borrowed = unsafe { BorrowedStream::find(&**platform.driver(), handle)? };
    /// let stream = platform.external_stream(borrowed)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] for 0, 1 and 2, which name default streams; [`DriverError::Call`] for a stream of
    /// another context or of no device of the platform, and for a destroyed one where the driver finds that out: the
    /// simulator does, and CUDA does not promise it.
    ///
    /// # Safety
    /// As for [`new`](Self::new); this call checks the context and the device, and not the lifetime.
    pub unsafe fn find(driver: &dyn Driver, handle: u64) -> DriverResult<Self> {
        let is_default = handle <= 2 && driver.name() == "cuda";
        if is_default {
            let which = if handle == 2 {
                "the default stream of the calling thread"
            } else {
                "the legacy default stream"
            };
            return Err(DriverError::Unavailable {
                what: format!("the handle {handle} names {which}, and no stream of a library"),
                remedy: "ask for the legacy default stream by `Platform::default_stream`, or let the library make a \
                         stream and take the handle of that one"
                    .to_owned(),
            });
        }
        // SAFETY: as the caller says.
        let device = unsafe { driver.device_of_stream(handle) }?;
        // SAFETY: as the caller says, and the device is the stream's.
        Ok(unsafe { Self::new(device, handle) })
    }
}
