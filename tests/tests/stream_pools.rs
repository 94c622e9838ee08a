//! Stream pools on both platforms: sizes, devices, priorities, flags, and the owners of allocated streams.

use streamflow::prelude::*;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("an_exhausted_pool_names_its_holders", exhausted)
        .both("a_dropped_stream_is_allocated_again_without_a_wait", reused)
        .both("priorities_are_clamped_to_the_range_of_the_device", priorities)
        .devices("each_device_has_its_own_streams", 2, devices)
        .both("a_pool_on_a_missing_device_is_an_error", missing)
}

fn exhausted(platform: &Platform) -> Result<(), Failed> {
    let pool =
        platform.stream_pool("SMALL", &CudaStreamPool::new().reserved_size(1).max_size(2))?;
    let camera = pool.allocate("camera.grab")?;
    let cast = pool.allocate("cast")?;
    let is_right = |error: &Error| match error {
        Error::PoolExhausted { pool, who, max_size, holders } => {
            (pool.as_str(), who.as_str(), *max_size) == ("SMALL", "show", 2)
                && *holders == ["camera.grab", "cast"]
        }
        _ => false,
    };
    let text = check_error("allocate", pool.allocate("show"), is_right)?;
    check_text(&text, &["`SMALL`", "`show`", "all 2", "`camera.grab`, `cast`", "`max_size`"])?;
    drop(camera);
    let show = pool.allocate("show")?;
    let text = check_error("allocate", pool.allocate("late"), |_| true)?;
    check_text(&text, &["`cast`, `show`"])?;
    drop((cast, show));
    check(pool.in_use() == 0, || format!("{} streams are in use", pool.in_use()))
}

/// Checks that the work of a stream's next owner is queued behind the earlier owner's work, which still runs.
fn reused(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let pool = platform.stream_pool("ONE", &CudaStreamPool::new().max_size(1))?;
    let first = pool.allocate("first")?;
    let handle = first.raw();
    let mut data = platform.buffer(1003, &first)?;
    first.launch::<slow_fill>(1003, (&mut data, 7.0, 2_000_000))?;
    recorder.clear();
    drop(first);
    let second = pool.allocate("second")?;
    check(second.raw() == handle, || "the pool made another stream".into())?;
    // Allocating the returned stream makes no wait and no query.
    check(recorder.calls().is_empty(), || recorder.text())?;
    let data = second.download_blocking(&data)?;
    check(data.iter().all(|&value| value == 7.0), || "the data is wrong".into())
}

fn priorities(platform: &Platform) -> Result<(), Failed> {
    let (urgent, relaxed) = platform.device_info(device(0))?.priorities;
    for priority in [i32::MIN, urgent, 0, relaxed, i32::MAX] {
        let description = CudaStreamPool::new().priority(priority);
        let pool = platform.stream_pool("PRIORITY", &description)?;
        let used = priority.clamp(urgent, relaxed);
        check(pool.priority() == used, || format!("{priority} became {}", pool.priority()))?;
        pool.allocate("user")?.synchronize_blocking()?;
    }
    Ok(())
}

fn devices(platform: &Platform) -> Result<(), Failed> {
    for index in 0..2 {
        let pool = platform.stream_pool("DEVICE", &CudaStreamPool::new().device(device(index)))?;
        let stream = pool.allocate("user")?;
        check(stream.device() == device(index), || format!("{stream:?}"))?;
        let mut data = platform.buffer(1003, &stream)?;
        stream.launch::<slow_fill>(1003, (&mut data, index as f32, 0))?;
        let data = stream.download_blocking(&data)?;
        check(data.iter().all(|&value| value == index as f32), || "the data is wrong".into())?;
    }
    Ok(())
}

fn missing(platform: &Platform) -> Result<(), Failed> {
    let description = CudaStreamPool::new().device(device(99));
    let made = platform.stream_pool("FAR", &description);
    let is_right = |error: &Error| matches!(error, Error::NoSuchDevice { .. });
    let text = check_error("stream_pool", made, is_right)?;
    check_text(&text, &["`FAR`", "device 99"])
}
