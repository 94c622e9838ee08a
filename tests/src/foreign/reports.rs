//! The programs of the guide's page about the race checker's reports, each in a wrong and a right version. The programs
//! call the driver directly, since streamflow's own calls free and destroy in the right order.

use streamflow::prelude::*;
use streamflow_driver::driver::MemorySource;

/// Reads memory that was allocated and not written.
///
/// # Errors
/// Those of the platform.
pub fn unwritten(platform: &Platform, stream: &CudaStream) -> Result<()> {
    let sums = platform.buffer::<f32>(64, stream)?;
    let _values = stream.download_blocking(&sums)?;
    Ok(())
}

/// Reads memory that a fill has written.
///
/// # Errors
/// Those of the platform.
pub fn written(platform: &Platform, stream: &CudaStream) -> Result<()> {
    let mut sums = platform.buffer::<f32>(64, stream)?;
    stream.fill_bytes(&mut sums, 0)?;
    let _values = stream.download_blocking(&sums)?;
    Ok(())
}

/// Fills memory that was freed.
///
/// # Errors
/// Those of the platform.
pub fn freed(platform: &Platform, stream: &CudaStream) -> Result<()> {
    let driver = platform.driver();
    // SAFETY: none! The fill comes after the free.
    unsafe {
        let memory = driver.allocate(stream.raw(), 4096, MemorySource::Unused)?;
        driver.free(stream.raw(), memory)?;
        driver.fill(stream.raw(), memory, 0)?;
    }
    Ok(())
}

/// Fills memory before it is freed.
///
/// # Errors
/// Those of the platform.
pub fn freed_last(platform: &Platform, stream: &CudaStream) -> Result<()> {
    let driver = platform.driver();
    // SAFETY: the stream is alive, and the free comes after the only use of the memory.
    unsafe {
        let memory = driver.allocate(stream.raw(), 4096, MemorySource::Unused)?;
        driver.fill(stream.raw(), memory, 0)?;
        driver.free(stream.raw(), memory)?;
    }
    Ok(())
}

/// Records an event that was destroyed.
///
/// # Errors
/// Those of the platform; the driver's refusal, unless a later event has the same handle.
pub fn stale(platform: &Platform, stream: &CudaStream) -> Result<()> {
    let driver = platform.driver();
    // SAFETY: none! The event is destroyed before the record.
    unsafe {
        let event = driver.create_event(stream.device())?;
        driver.destroy_event(event)?;
        driver.record_event(event, stream.raw())?;
    }
    Ok(())
}

/// Destroys an event after its record.
///
/// # Errors
/// Those of the platform.
pub fn destroyed_last(platform: &Platform, stream: &CudaStream) -> Result<()> {
    let driver = platform.driver();
    // SAFETY: the stream and the event are alive; CUDA finishes the record of a destroyed event.
    unsafe {
        let event = driver.create_event(stream.device())?;
        driver.record_event(event, stream.raw())?;
        driver.destroy_event(event)?;
    }
    Ok(())
}
