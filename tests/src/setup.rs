//! Helpers that set up a test body: a stream, data, and a platform that records its driver calls.

use std::sync::Arc;

use streamflow::driver::{Driver, Recorder};
use streamflow::prelude::*;

/// Returns a stream from a pool of size 1, on device 0.
///
/// # Errors
/// Those of the platform.
pub fn stream(platform: &Platform) -> Result<CudaStream, Error> {
    platform.stream_pool("POOL", &CudaStreamPool::new().max_size(1))?.allocate("a test")
}

/// Returns a tensor with these values.
///
/// # Errors
/// Those of the platform.
pub fn uploaded<T: Element>(
    platform: &Platform,
    from: &[T],
    stream: &CudaStream,
) -> Result<Tensor<T>> {
    let mut tensor = platform.tensor([from.len()], stream)?;
    stream.upload_blocking(from, &mut tensor)?;
    Ok(tensor)
}

/// Returns a platform on a driver, and the recorder of its driver calls.
///
/// # Errors
/// Those of the platform.
pub fn recorded(driver: Arc<dyn Driver>) -> Result<(Arc<Recorder>, Platform)> {
    let recorder = Arc::new(Recorder::new(driver));
    let platform = Platform::builder().driver(recorder.clone())?;
    Ok((recorder, platform))
}
