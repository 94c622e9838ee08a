//! Makes objects of a library that belong to a stream, as a handle or a plan.

use crate::driver::{DeviceInfo, DriverError, RawStream};
use crate::error::{Error, Result};
use crate::memory::Pools;
use crate::stream::CudaStream;

impl CudaStream {
    /// Returns the device that a stream executes on. On a simulated device, a plan has a [host body](crate::library::HostBody)
    /// instead of a library's object.
    ///
    /// # Errors
    /// The driver's.
    pub fn device_info(&self) -> Result<DeviceInfo> {
        Ok(self.timeline().driver().device_info(self.device())?)
    }

    /// Makes an object of a library for a stream, with the stream's device current. If the library finds no memory for the
    /// object, the pools of the platform give back their free memory, and `make` is called once more.
    ///
    /// A library may queue work on the default stream while it makes the object, as cuFFT does. No order makes the stream's own
    /// work come after that work. [`AfterWork`](crate::memory::AfterWork), which also keeps the object until the stream's work is complete, and
    /// [`wait_for_default`](Self::wait_for_default) add the order.
    ///
    /// Only a [`Call`](crate::library::Call) may queue work of the object on the stream: `make` passes the stream to the library,
    /// and queues nothing. Replay holds back work of the stream until a `Call` sends it, and other code would overtake that work.
    /// Unlike [`raw`](Self::raw), this function does not tell replay that other code has the stream's handle. So a function of
    /// the library that waits for the stream must be called right after a `Call`.
    ///
    /// # Errors
    /// Those of `make`; the driver's.
    pub fn make_object<T>(&self, make: impl Fn(RawStream) -> Result<T>) -> Result<T> {
        let timeline = self.timeline();
        timeline.bind()?;
        match make(timeline.raw()) {
            Err(Error::Driver(DriverError::Library(error))) if error.is_out_of_memory() => {
                give_back_memory(self)?;
                make(timeline.raw())
            }
            made => made,
        }
    }
}

/// Makes the pools of the platform give back their free memory, after a library has found none. Afterwards the stream's device is
/// current.
#[cold]
pub(super) fn give_back_memory(stream: &CudaStream) -> Result<()> {
    Pools::trim(stream.table())?;
    // Giving back the memory of another device may have made that device current.
    Ok(stream.timeline().bind()?)
}
