//! Timing events: the duration of work on the device.

use std::time::Duration;

use streamflow::platform::DeviceId;
use streamflow::prelude::*;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

/// Returns the length of a buffer that takes measurable time to copy: larger on a GPU, since a GPU's clock
/// is coarser.
fn len(platform: &Platform) -> usize {
    if platform.name() == "host" { 1 << 14 } else { 1 << 20 }
}

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("more_work_takes_more_time", takes_time)
        .both("the_duration_excludes_time_of_the_host", device_clock)
        .both("overlapping_copies_take_less_than_their_sum", overlaps)
        .both("an_end_before_its_start_is_an_error", backwards)
        .both("the_time_of_a_simulated_device_says_so", says_simulated)
        .devices("a_duration_between_two_devices_is_an_error", 2, two_devices)
        .plain("a_seed_reproduces_its_durations", repeats)
        .plain("a_duration_between_two_platforms_is_an_error", two_platforms)
}

fn stream(platform: &Platform, on: DeviceId) -> Result<CudaStream> {
    Ok(platform.stream_pool("TIMED", &CudaStreamPool::new().device(on))?.allocate("timed")?)
}

/// Returns the duration of `work` on a stream.
fn time_of(stream: &CudaStream, work: impl FnOnce(&CudaStream) -> Result<()>) -> Result<Duration> {
    let start = stream.record_timing()?;
    work(stream)?;
    Ok(start.elapsed_blocking(&stream.record_timing()?)?.duration())
}

fn takes_time(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform, device(0))?;
    let mut source = platform.pinned::<f32>(device(0), len(platform))?;
    source.as_mut_slice_blocking()?.fill(1.0);
    let mut target = platform.buffer(len(platform), &stream)?;
    stream.upload(&source, &mut target)?;
    let nothing = time_of(&stream, |_| Ok(()))?;
    let once = time_of(&stream, |stream| Ok(stream.upload(&source, &mut target)?))?;
    let often = time_of(&stream, |stream| {
        Ok((0..20).try_for_each(|_| stream.upload(&source, &mut target))?)
    })?;
    check(nothing < once, || format!("no work takes {nothing:?}, one copy {once:?}"))?;
    check(often > 5 * once && once > Duration::ZERO, || {
        format!("20 copies take {often:?}, one {once:?}")
    })
}

/// Checks that time of the host does not count: no work is queued between the two events.
fn device_clock(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform, device(0))?;
    let mut data = platform.buffer(len(platform), &stream)?;
    stream.launch::<slow_fill>(data.len(), (&mut data, 1.0, 2_000_000))?;
    let (start, end) = (stream.record_timing()?, stream.record_timing()?);
    // The host waits here for the slow kernel and the download. This time must not count.
    let _busy = stream.download_blocking(&data)?;
    let time = start.elapsed_blocking(&end)?.duration();
    check(time < Duration::from_micros(500), || format!("{time:?} between two events in a row"))
}

/// Checks that each printed form of a simulated time says that it is no GPU's time, and that a GPU's time does
/// not say so.
fn says_simulated(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform, device(0))?;
    let start = stream.record_timing()?;
    let time = start.elapsed_blocking(&stream.record_timing()?)?;
    check_equal(time.is_simulated(), platform.is_simulated())?;
    check_equal(platform.is_simulated(), platform.name() == "host")?;
    for text in [format!("{time}"), format!("{time:?}"), format!("{time:.1}")] {
        check(text.ends_with("s simulated") == platform.is_simulated(), || text.clone())?;
        check(text.contains("simulated") == platform.is_simulated(), || text)?;
    }
    Ok(())
}

/// Measures copies to the device on one stream, and from the device on another stream.
fn overlaps(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("TIMED", &CudaStreamPool::new().max_size(2))?;
    let (up, down) = (pool.allocate("up")?, pool.allocate("down")?);
    let len = 16 * len(platform);
    let source = platform.pinned::<f32>(device(0), len)?;
    let mut result = platform.pinned::<f32>(device(0), len)?;
    let mut target = platform.buffer(len, &up)?;
    let mut other = platform.buffer(len, &down)?;
    down.fill_bytes(&mut other, 0)?;
    let mut time = |one: &CudaStream, two: &CudaStream| -> Result<Duration> {
        let start = one.record_timing()?;
        two.wait(one.record()?)?;
        one.upload(&source, &mut target)?;
        two.download_into(&other, &mut result)?;
        one.wait(two.record()?)?;
        Ok(start.elapsed_blocking(&one.record_timing()?)?.duration())
    };
    time(&up, &down)?;
    let (serial, parallel) = (time(&up, &up)?, time(&up, &down)?);
    check(parallel.as_secs_f64() < 0.8 * serial.as_secs_f64(), || {
        format!("{parallel:?} on two streams, {serial:?} on one")
    })
}

fn is_about_time(error: &Error) -> bool {
    matches!(error, Error::TimeSpan { .. })
}

fn backwards(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform, device(0))?;
    let mut data = platform.buffer(len(platform), &stream)?;
    let early = stream.record_timing()?;
    stream.launch::<slow_fill>(data.len(), (&mut data, 1.0, 2_000_000))?;
    let late = stream.record_timing()?;
    let text = check_error("backwards", late.elapsed_blocking(&early), is_about_time)?;
    check_text(&text, &["before its start", "in order"])
}

fn two_devices(platform: &Platform) -> Result<(), Failed> {
    let start = stream(platform, device(0))?.record_timing()?;
    let end = stream(platform, device(1))?.record_timing()?;
    let text = check_error("two devices", start.elapsed_blocking(&end), is_about_time)?;
    check_text(&text, &["begins on device 0", "ends on device 1"])
}

fn two_platforms() -> Result<(), Failed> {
    let moment = || stream(&Platform::host().build()?, device(0))?.record_timing();
    let span = moment()?.elapsed_blocking(&moment()?);
    let is_right = |error: &Error| matches!(error, Error::ForeignPlatform { .. });
    check_error("two platforms", span, is_right).map(drop)
}

fn repeats() -> Result<(), Failed> {
    for seed in 0..16 {
        let time = || -> Result<Duration, Failed> {
            let platform = Platform::host().seed(seed).build()?;
            let stream = stream(&platform, device(0))?;
            let mut data = platform.buffer(len(&platform), &stream)?;
            time_of(&stream, |stream| {
                Ok(stream.launch::<slow_fill>(data.len(), (&mut data, 1.0, 0))?)
            })
        };
        let (first, second) = (time()?, time()?);
        check(first == second && first > Duration::ZERO, || format!("{first:?}, {second:?}"))?;
    }
    Ok(())
}
