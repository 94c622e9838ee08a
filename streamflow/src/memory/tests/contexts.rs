//! Tests of each call of the library, and of each drop, on a thread that has bound no device, or another device than the
//! call needs. The simulator refuses a driver call whose context is not current. A call that is refused in a drop is logged
//! as an error.

use super::logged::errors_in;
use super::*;
use crate::driver::StreamOptions;
use crate::error::Result;
use crate::memory::{Allocator, MemoryLimits};
use crate::stream::{BorrowedStream, Coscheduling, CudaGreenContextPool, TimingEvent};

/// The values that the steps of the test make and drop.
#[derive(Default)]
struct Made {
    pool: Option<StreamPool>,
    streams: Vec<CudaStream>,
    allocator: Option<Allocator>,
    buffers: Vec<Buffer<u8>>,
    pinned: Option<Pinned<u8>>,
    download: Option<Download<u8>>,
    moments: Vec<TimingEvent>,
}

type Step = (&'static str, fn(&Platform, &mut Made) -> Result<()>);

/// The steps of the test: names and functions. Their streams are `a` and `b` of a pool, and the default stream.
const STEPS: &[Step] = &[
    ("a pool", |platform, it| {
        it.pool = Some(platform.stream_pool("POOL", &CudaStreamPool::new())?);
        Ok(())
    }),
    ("a stream", |_, it| {
        it.streams.push(it.pool.as_ref().unwrap().allocate("a")?);
        Ok(())
    }),
    ("a second stream, and the default stream", |platform, it| {
        it.streams.push(it.pool.as_ref().unwrap().allocate("b")?);
        it.streams.push(platform.default_stream(device(0))?);
        Ok(())
    }),
    ("an allocator", |platform, it| {
        let limits = MemoryLimits::stream_ordered().initial_size(1 << 12);
        it.allocator = Some(platform.allocator("MEMORY", device(0), limits)?);
        Ok(())
    }),
    ("a buffer", |platform, it| {
        it.buffers.push(platform.buffer(LEN, &it.streams[0])?);
        Ok(())
    }),
    ("a buffer of an allocator", |_, it| {
        it.buffers.push(it.allocator.as_ref().unwrap().buffer(LEN, &it.streams[1])?);
        Ok(())
    }),
    ("a buffer of the default stream", |platform, it| {
        it.buffers.push(platform.buffer(LEN, &it.streams[2])?);
        Ok(())
    }),
    ("page-locked memory", |platform, it| {
        it.pinned = Some(platform.pinned(device(0), LEN)?);
        Ok(())
    }),
    ("host access", |_, it| {
        it.pinned.as_mut().unwrap().as_mut_slice_blocking()?.fill(7);
        Ok(())
    }),
    ("an upload", |_, it| it.streams[0].upload(it.pinned.as_ref().unwrap(), &mut it.buffers[0])),
    ("a blocking upload", |_, it| it.streams[1].upload_blocking(&[1; LEN], &mut it.buffers[1])),
    ("a copy", |_, it| {
        let [source, target, ..] = &mut it.buffers[..] else { unreachable!() };
        it.streams[1].copy(source, target)
    }),
    ("a copy on the default stream", |_, it| {
        let [_, source, target] = &mut it.buffers[..] else { unreachable!() };
        it.streams[2].copy(source, target)
    }),
    ("a fill on the default stream", |_, it| it.streams[2].fill_bytes(&mut it.buffers[0], 7)),
    ("a point of the default stream", |_, it| {
        let point = it.streams[2].record()?;
        it.streams[0].wait(point)
    }),
    ("a point for the default stream", |_, it| {
        let point = it.streams[1].record()?;
        it.streams[2].wait(point)
    }),
    ("raw work", |_, it| it.streams[1].read_raw(&it.buffers[0], |_| ())),
    ("raw work on the default stream", |_, it| it.streams[2].write_raw(&mut it.buffers[1], |_| ())),
    ("a moment", |_, it| {
        it.moments.push(it.streams[0].record_timing()?);
        Ok(())
    }),
    ("a moment of the default stream", |_, it| {
        it.moments.push(it.streams[2].record_timing()?);
        Ok(())
    }),
    ("a time", |_, it| {
        // Either of the two timing events may come first, so the result is not checked.
        let _ = it.moments[0].elapsed_blocking(&it.moments[1]);
        it.moments[0].elapsed_blocking(&it.moments[0]).map(drop)
    }),
    ("a download", |platform, it| {
        it.download = Some(platform.download(&it.buffers[2], &it.streams[1])?);
        Ok(())
    }),
    ("a query of a download", |_, it| it.download.as_ref().unwrap().try_get().map(drop)),
    ("a wait for a download", |_, it| {
        assert_eq!(it.download.as_ref().unwrap().wait_blocking()?, [7; LEN]);
        Ok(())
    }),
    ("a download of the default stream", |platform, it| {
        let download = platform.download(&it.buffers[1], &it.streams[2])?;
        assert_eq!(download.wait_blocking()?, [7; LEN]);
        Ok(())
    }),
    ("a blocking download", |_, it| {
        assert_eq!(it.streams[2].download_blocking(&it.buffers[1])?, [7; LEN]);
        Ok(())
    }),
    ("a query", |_, it| it.streams.iter().try_for_each(|stream| stream.is_complete().map(drop))),
    ("a synchronisation", |_, it| {
        it.streams[2].fill_bytes(&mut it.buffers[0], 3)?;
        it.streams.iter().try_for_each(|stream| stream.synchronize_blocking())
    }),
    ("more work before the drops", |_, it| {
        it.streams[2].fill_bytes(&mut it.buffers[0], 4)?;
        it.streams[1].upload(it.pinned.as_ref().unwrap(), &mut it.buffers[1])?;
        it.streams[0].fill_bytes(&mut it.buffers[2], 4)
    }),
    ("drops of a buffer, and its reuse", |platform, it| {
        it.buffers.clear();
        for stream in [0, 1, 2, 2, 1, 0] {
            it.streams[stream]
                .fill_bytes(&mut platform.buffer::<u8>(LEN, &it.streams[stream])?, 5)?;
        }
        Ok(())
    }),
    ("a drop of an allocator", |_, it| {
        it.allocator = None;
        Ok(())
    }),
    ("a drop of page-locked memory", |_, it| {
        it.pinned = None;
        Ok(())
    }),
    ("a drop of a download", |_, it| {
        it.download = None;
        Ok(())
    }),
    ("drops of moments", |_, it| {
        it.moments.clear();
        Ok(())
    }),
    ("an external stream", |platform, it| {
        let driver = platform.driver();
        driver.bind(device(0))?;
        let raw = driver.create_stream(device(0), StreamOptions::default())?;
        bind_another(platform)?;
        // SAFETY: the stream is never destroyed.
        let borrowed = unsafe { BorrowedStream::new(device(0), raw.handle()) };
        for value in [1, 2] {
            let external = platform.external_stream(borrowed)?;
            bind_another(platform)?;
            let mut buffer = platform.buffer::<u8>(LEN, &external)?;
            external.fill_bytes(&mut buffer, value)?;
            bind_another(platform)?;
            assert_eq!(it.streams[1].download_blocking(&buffer)?, [value; LEN]);
            bind_another(platform)?;
            drop(external);
        }
        Ok(())
    }),
    ("green contexts", |platform, _| {
        platform.sm_sizes(device(0), Coscheduling::Kept)?;
        bind_another(platform)?;
        platform.green_contexts(&CudaGreenContextPool::new().sms_per_partition(&[8])).map(drop)
    }),
    ("drops of streams and a pool", |_, it| {
        it.streams.clear();
        it.pool = None;
        Ok(())
    }),
];

/// Binds device 1, which the steps don't use, if the platform has it.
fn bind_another(platform: &Platform) -> Result<()> {
    if platform.device_count() > 1 {
        platform.driver().bind(device(1))?;
    }
    Ok(())
}

/// Runs `run` on a new thread, and returns how many errors that thread has logged.
fn on_a_new_thread(run: impl FnOnce() + Send) -> u32 {
    thread::scope(|scope| scope.spawn(|| errors_in(run)).join().unwrap())
}

#[test]
fn every_call_and_every_drop_binds_the_device_that_it_needs() {
    // With two devices, each thread has bound the device that the steps don't use.
    for devices in [1, 2] {
        for seed in 0..16 {
            let driver = Arc::new(HostDriver::builder().seed(seed).devices(devices).build());
            let platform = Platform::builder().memory(in_flight(1)).driver(driver).unwrap();
            let mut made = Made::default();
            for (name, step) in STEPS {
                let errors = on_a_new_thread(|| {
                    bind_another(&platform).unwrap();
                    let done = step(&platform, &mut made);
                    assert!(done.is_ok(), "{name}, seed {seed}, {devices} devices: {done:?}");
                });
                assert_eq!(errors, 0, "{name}, seed {seed}, {devices} devices");
            }
            let errors = on_a_new_thread(|| {
                bind_another(&platform).unwrap();
                drop(platform);
            });
            assert_eq!(errors, 0, "the platform, seed {seed}, {devices} devices");
        }
    }
}

/// The control of these tests: a call that the simulator refuses in a drop is counted as an error.
#[test]
fn a_drop_that_does_not_bind_is_counted() {
    let driver = HostDriver::builder().build();
    driver.bind(device(0)).unwrap();
    let raw = driver.create_stream(device(0), StreamOptions::default()).unwrap();
    let errors = on_a_new_thread(|| {
        // SAFETY: the stream was just made, and is not used again.
        let done = unsafe { driver.destroy_stream(raw) };
        crate::driver::report_in_drop("destroying a stream", done);
    });
    assert_eq!(errors, 1);
}

/// The steps that begin with work on a stream whose device streamflow has bound on this thread before. After a library has
/// cleared the thread's context, these steps fail, and they succeed when the device is bound again. To bind the device
/// before each launch and copy would cost every program time.
const QUEUES: &[&str] = &["a buffer", "a buffer of an allocator", "an upload", "a blocking upload"];

/// Between two calls of streamflow, another library clears the thread's context, in which the first call had bound the
/// device.
#[test]
fn a_context_that_a_library_has_cleared_is_bound_again() {
    for seed in 0..16 {
        let driver = Arc::new(HostDriver::builder().seed(seed).build());
        let platform = Platform::builder().memory(in_flight(1)).driver(driver.clone()).unwrap();
        let (mut made, mut failed) = (Made::default(), Vec::new());
        let errors = errors_in(|| {
            for (name, step) in STEPS {
                driver.unbind();
                if let Err(error) = step(&platform, &mut made) {
                    let text = error.to_string();
                    assert!(text.contains("CUDA_ERROR_INVALID_CONTEXT"), "{name}: {text}");
                    failed.push(*name);
                    driver.bind(device(0)).unwrap();
                    step(&platform, &mut made).unwrap();
                }
            }
            driver.unbind();
            drop(platform);
        });
        assert_eq!(errors, 0, "seed {seed}");
        assert_eq!(failed, QUEUES, "seed {seed}");
    }
}
