//! Kernels whose Rust body uses the platform that executes it. The result must be an error that names the kernel,
//! and no hang. `bodies.rs` tests other things that a body should not do.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "in tests a panic is a failed test"
)]

use std::cell::RefCell;

use streamflow::driver::host::Policy;
use streamflow::prelude::*;
use streamflow::stream::StreamPool;

type Body = Box<dyn FnOnce()>;

thread_local! {
    static BODY: RefCell<Option<Body>> = const { RefCell::new(None) };
}

/// A kernel that runs `BODY` on the thread that executes the kernel.
#[kernel(unsafe cuda = "if (out_len > 0) out[0] = 1.0f;")]
fn nested(out: &mut [f32]) {
    if let Some(body) = BODY.take() {
        body();
    }
    out.fill(1.0);
}

/// Returns a platform for each policy of the simulator, with and without the race checker.
fn platforms() -> impl Iterator<Item = Platform> {
    let seeds = (0..16).flat_map(|seed| [(seed, false), (seed, true)]);
    seeds.map(|(seed, checked)| Platform::host().seed(seed).race_check(checked).build().unwrap())
}

fn pool(platform: &Platform) -> StreamPool {
    platform.stream_pool("TEST", &CudaStreamPool::new()).unwrap()
}

/// Executes `body` inside of a kernel. Returns the kernel's data, or the error.
fn inside(platform: &Platform, stream: &CudaStream, body: impl FnOnce() + 'static) -> Result<f32> {
    let mut out = platform.tensor::<f32>([4], stream)?;
    BODY.set(Some(Box::new(body)));
    stream.launch::<nested>(4, (&mut out,))?;
    let value = stream.download_blocking(&out)?;
    assert!(BODY.take().is_none(), "the body was not executed");
    Ok(value[0])
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) {
    let text = result.unwrap_err().to_string();
    assert!(text.contains("from inside of kernel `nested`"), "{text}");
}

#[test]
fn calls_of_a_kernel_to_its_own_platform_are_an_error() {
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
fn drops_in_a_kernel_do_not_hang() {
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
        // The platform can still be used after the error.
        let stream = pool.allocate("c").unwrap();
        assert_eq!(inside(&platform, &stream, || ()), Ok(1.0));
        let _expected = platform.take_races();
    }
}

/// Checks that making a record, which holds its stream's lock, executes no kernel. A kernel's body could wait for
/// that stream, which needs the same lock.
#[test]
fn a_kernel_that_needs_a_lock_of_the_executing_call_does_not_hang() {
    // The seed decides which call executes the kernel. In most cases it is the launch.
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
        assert!(BODY.take().is_none(), "the body was not executed");
        assert_eq!(done, Ok(()));
        let _expected = platform.take_races();
    }
}
