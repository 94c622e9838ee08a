//! Tests that the simulator executes no Rust body of queued work while a thread holds the mutex for releasing memory.

use super::*;
use crate::driver::{LibraryBody, LibraryCall};

const BYTES: usize = 64 << 10;

/// Queues work with a Rust body, and then calls `release`, which releases free memory. The body may wait for another thread
/// that allocates from the pool, so it must execute while the pool's mutex is free. Returns whether it has done so.
fn executes_late(release: impl Fn(&Platform, &Allocator, &CudaStream)) -> bool {
    let driver = Arc::new(HostDriver::builder().policy(Policy::Eager).build());
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let stream = pool.allocate("a").unwrap();
    let limits = MemoryLimits::stream_ordered().max_size(BYTES as u64);
    let allocator = Arc::new(platform.allocator("ROOM", device(0), limits).unwrap());
    drop(allocator.buffer::<u8>(BYTES, &stream).unwrap());
    let (tell, told) = mpsc::channel();
    let of_body = allocator.clone();
    let body = move |_: crate::driver::HostArgs<'_>| Ok(tell.send(of_body.is_releasing())?);
    // SAFETY: the body touches no memory.
    let host = unsafe { LibraryBody::new("body", body) };
    let call = LibraryCall {
        function: "body",
        params: &[],
        accesses: &[],
        rows: &[],
        is_captured: true,
        host: &host,
        device: &|_| Ok(()),
    };
    // While this value lives, the simulator executes no body. So the body does not execute before `release` is called.
    let held = crate::lock::hold();
    // SAFETY: the stream is alive, and the body touches no memory.
    unsafe { driver.libraries().call_library(stream.timeline().raw(), &call) }.unwrap();
    drop(held);
    release(&platform, &allocator, &stream);
    told.try_recv() == Ok(false)
}

#[test]
fn no_body_executes_while_a_thread_releases_memory() {
    let for_another_size = |_: &Platform, allocator: &Allocator, stream: &CudaStream| {
        drop(allocator.buffer::<u8>(BYTES / 2, stream).unwrap());
    };
    assert!(executes_late(for_another_size));
    assert!(executes_late(|platform, _, _| {
        let _trimmed = platform.trim().unwrap();
    }));
}
