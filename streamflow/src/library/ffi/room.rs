//! Device memory that a library allocates itself, for a handle or a plan.

use crate::driver::DriverError;
use crate::error::{Error, Result};
use crate::memory::Pools;
use crate::stream::CudaStream;

/// Makes an object of a library on the stream's device. If the library finds no memory, the pools of the platform give back
/// theirs that is free, and it tries once more.
///
/// # Errors
/// The library's.
pub(super) fn with_room<T>(stream: &CudaStream, make: impl Fn() -> Result<T>) -> Result<T> {
    match make() {
        Err(Error::Driver(DriverError::Library(error))) if error.is_out_of_memory() => {
            Pools::trim(stream.table())?;
            // The pools of another device may have bound that one.
            stream.timeline().bind()?;
            make()
        }
        made => made,
    }
}
