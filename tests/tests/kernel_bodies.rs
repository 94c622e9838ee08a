//! Kernels whose Rust body uses the platform that executes it: an error that names the kernel, and no hang.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "in tests a panic is a failed test"
)]

use std::cell::RefCell;

use streamflow::driver::host::Policy;
use streamflow::prelude::*;

type Body = Box<dyn FnOnce()>;

thread_local! {
    static BODY: RefCell<Option<Body>> = const { RefCell::new(None) };
}

/// Does what `BODY` says, on the thread that executes it.
#[kernel(unsafe cuda = "if (out_len > 0) out[0] = 1.0f;")]
fn nested(out: &mut [f32]) {
    if let Some(body) = BODY.take() {
        body();
    }
    out.fill(1.0);
}

/// A platform of each policy, with and without the race checker.
fn platforms() -> impl Iterator<Item = Platform> {
    let seeds = (0..16).flat_map(|seed| [(seed, false), (seed, true)]);
    seeds.map(|(seed, checked)| Platform::host().seed(seed).race_check(checked).build().unwrap())
}

fn pool(platform: &Platform) -> StreamPool {
    platform.stream_pool("TEST", &CudaStreamPool::new()).unwrap()
}

/// Executes `body` inside of a kernel; says what was in the kernel's data, or why it can't be had.
fn inside(platform: &Platform, stream: &CudaStream, body: impl FnOnce() + 'static) -> Result<f32> {
    let mut out = platform.tensor::<f32>([4], stream)?;
    BODY.set(Some(Box::new(body)));
    stream.launch::<nested>(4, (&mut out,))?;
    let value = stream.download_blocking(&out)?;
    assert!(BODY.take().is_none(), "it was not executed");
    Ok(value[0])
}

fn refused<T: std::fmt::Debug>(result: Result<T>) {
    let text = result.unwrap_err().to_string();
    assert!(text.contains("from inside of kernel `nested`"), "{text}");
}

#[test]
fn what_it_asks_of_its_platform_is_refused() {
    for platform in platforms() {
        let pool = pool(&platform);
        let (stream, other) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
        let mut source = platform.buffer::<f32>(4, &other).unwrap();
        other.fill_bytes(&mut source, 0).unwrap();
        let again = platform.clone();
        let value = inside(&platform, &stream, move || {
            refused(again.tensor::<f32>([4], &other));
            refused(again.pinned::<f32>(device(0), 4));
            refused(other.is_complete());
            refused(other.synchronize_blocking());
            refused(other.fill_bytes(&mut source, 1));
            refused(other.download_blocking(&source));
            refused(again.stream_pool("ANOTHER", &CudaStreamPool::new().reserved_size(1)));
            assert!(again.default_stream(device(0)).is_ok());
            assert!(again.driver().sticky_error().is_none());
        });
        assert_eq!(value, Ok(1.0));
        let _expected = platform.take_races();
    }
}

#[test]
fn what_it_drops_hangs_nothing() {
    for platform in platforms() {
        let pool = pool(&platform);
        let (stream, other) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
        let mut filled = platform.buffer::<f32>(4, &other).unwrap();
        other.fill_bytes(&mut filled, 0).unwrap();
        let download = platform.download(&filled, &other).unwrap();
        let pinned = platform.pinned::<f32>(device(0), 4).unwrap();
        let tensor = platform.tensor::<f32>([2, 2], &stream).unwrap();
        let shared = Shared::new(platform.tensor::<f32>([2, 2], &stream).unwrap());
        let value = inside(&platform, &stream, move || {
            drop((download, filled, pinned, tensor, shared, other));
        });
        assert_eq!(value, Ok(1.0));
        drop(stream);
        assert_eq!(pool.in_use(), 0);
        // The platform goes on.
        let stream = pool.allocate("c").unwrap();
        assert_eq!(inside(&platform, &stream, || ()), Ok(1.0));
        let _expected = platform.take_races();
    }
}

/// A call under a lock of the platform may be the one that executes the kernel: here a record, perhaps under
/// its stream's lock, which a wait for that stream needs as well.
#[test]
fn what_is_locked_by_the_call_that_executes_it_hangs_nothing() {
    // Which call executes it is drawn: most often it is the launch.
    let random = (0..).filter(|seed| Policy::of_seed(*seed) == Policy::Random);
    for seed in random.take(200) {
        let platform = Platform::host().seed(seed).build().unwrap();
        let pool = pool(&platform);
        let (stream, other) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
        let mut data = platform.buffer::<f32>(4, &stream).unwrap();
        let mut out = platform.buffer::<f32>(4, &stream).unwrap();
        stream.record().unwrap();
        stream.fill_bytes(&mut data, 0).unwrap();
        BODY.set(Some(Box::new(move || refused(other.fill_bytes(&mut data, 1)))));
        stream.launch::<nested>(4, (&mut out,)).unwrap();
        let done = stream.record().and_then(|_| stream.synchronize_blocking());
        assert!(BODY.take().is_none(), "it was not executed");
        let _expected = platform.take_races();
        if let Err(error) = done {
            let text = error.to_string();
            let named = text.contains("kernel `nested`") && text.contains("uses its platform");
            assert!(named, "{text}");
            // One is enough: it takes its time.
            break;
        }
    }
}
