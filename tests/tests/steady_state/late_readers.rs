//! Memory that gets as many readers after the warm-up as other memory had before. On a GPU this happens by the
//! order in which memory is reused. Here the test does it.

use std::sync::Arc;

use streamflow::driver::host::{HostDriver, Policy};
use streamflow::prelude::*;
use streamflow_tests::allocations::count;
use streamflow_tests::kernels::{fill, slow_copy};
use streamflow_tests::{Failed, check_equal};

const LEN: usize = 8;

/// The number of readers, more than the race checker has room for at first.
const READERS: usize = 9;

const IMAGES: usize = 64;

/// Returns how many allocations are made by reading all images but the first on all streams, after the first
/// image was read as often.
fn allocations(race_check: bool) -> Result<u64> {
    let driver = HostDriver::builder().seed(0).policy(Policy::Eager).build();
    let platform = Platform::builder().race_check(race_check).driver(Arc::new(driver))?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(READERS as u32 + 1))?;
    let writer = pool.allocate("writer")?;
    let streams = (0..READERS).map(|reader| pool.allocate(format!("reader{reader}")));
    let streams = streams.collect::<Result<Vec<_>, _>>()?;
    let tensor = |stream: &CudaStream| platform.tensor([LEN], stream);
    let mut images = (0..IMAGES).map(|_| tensor(&writer)).collect::<Result<Vec<_>, _>>()?;
    let mut copies = streams.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
    for image in &mut images {
        writer.launch::<fill>(LEN, (image, 1.0))?;
    }
    let mut read = |image: &Tensor<f32>| {
        let mut readers = streams.iter().zip(&mut copies);
        readers.try_for_each(|(stream, copy)| stream.launch::<slow_copy>(LEN, (copy, image, 0)))
    };
    let (first, others) = images.split_at(1);
    for _ in 0..super::WARM_UP {
        first.iter().try_for_each(&mut read)?;
    }
    let (allocations, done) = count(|| others.iter().try_for_each(&mut read));
    done?;
    Ok(allocations)
}

/// Checks that the race checker adds no allocation to those of the library and of the simulator.
pub(super) fn late_readers() -> Result<(), Failed> {
    check_equal(allocations(true)?, allocations(false)?)
}
