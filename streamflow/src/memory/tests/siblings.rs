//! Tests of an allocation for which the device has no memory, while another pool of the device has free memory.

use super::*;

const CAPACITY: usize = 64 << 10;

const PART: usize = CAPACITY / 16;

/// A driver in which the first synchronisation with a stream starts work on another thread, and waits until that work is
/// done.
struct Meanwhile {
    below: HostDriver,
    work: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

// SAFETY: this layer passes all calls on.
unsafe impl Layer for Meanwhile {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn synchronize_stream(&self, stream: crate::driver::RawStream) -> DriverResult<()> {
        let work = self.work.lock().unwrap().take();
        if let Some(work) = work {
            let (done, is_done) = mpsc::channel();
            thread::spawn(move || {
                work();
                done.send(())
            });
            // If the other thread has not ended after this time, the test fails.
            let waited = is_done.recv_timeout(Duration::from_secs(20));
            assert_eq!(waited, Ok(()), "another thread can't go on meanwhile");
        }
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.synchronize_stream(stream) }
    }
}

/// A thread waits until the device has freed the free blocks of all pools. Meanwhile other threads allocate and drop in
/// each of these pools: in a pool without a limit, and in a pool with a limit, where other blocks must be released
/// first.
#[test]
fn no_other_thread_waits_for_the_device() {
    let below = HostDriver::builder().memory(CAPACITY as u64).build();
    let driver = Arc::new(Meanwhile { below, work: Mutex::new(None) });
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (stream, other) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
    let allocator = |name, limits| platform.allocator(name, device(0), limits).unwrap();
    let free = allocator("FREE", MemoryLimits::unbounded());
    let limits = MemoryLimits::stream_ordered().max_size(3 * PART as u64);
    let limited = allocator("LIMITED", limits);
    drop(free.buffer::<u8>(9 * PART, &stream).unwrap());
    drop(limited.buffer::<u8>(2 * PART, &stream).unwrap());
    let (of_free, of_limited) = (free.clone(), limited.clone());
    *driver.work.lock().unwrap() = Some(Box::new(move || {
        drop(of_free.buffer::<u8>(PART, &other).unwrap());
        drop(of_limited.buffer::<u8>(PART, &other).unwrap());
        drop(of_limited.buffer::<u8>(3 * PART, &other).unwrap());
    }));
    drop(platform.buffer::<u8>(8 * PART, &stream).unwrap());
    assert!(driver.work.lock().unwrap().is_none(), "the device was waited for");
}

/// Two threads allocate at the same time from two pools. Each pool has free memory that the other thread needs.
#[test]
fn two_pools_give_back_to_each_other() {
    for _ in 0..50 {
        let driver = Arc::new(HostDriver::builder().memory(CAPACITY as u64).build());
        let platform = Platform::builder().driver(driver).unwrap();
        let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
        let pools = ["A", "B"]
            .map(|name| platform.allocator(name, device(0), MemoryLimits::unbounded()).unwrap());
        thread::scope(|scope| {
            for memory in &pools {
                let stream = pool.allocate("a").unwrap();
                scope.spawn(move || {
                    for parts in [3, 5, 6, 7, 2, 8, 4] {
                        drop(memory.buffer::<u8>(parts * PART, &stream).unwrap());
                    }
                });
            }
        });
    }
}

/// An allocation of one pool frees the free memory of a pool with a limit. In that second pool, the room of the freed blocks
/// then counts as if it had never been used.
#[test]
fn a_pool_that_has_given_back_needs_no_wait_for_a_new_block() {
    let driver = HostDriver::builder().policy(Policy::Lazy).memory(CAPACITY as u64).build();
    let recorder = Arc::new(Recorder::new(Arc::new(driver)));
    let platform = Platform::builder().driver(recorder.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let stream = pool.allocate("a").unwrap();
    let limits = MemoryLimits::stream_ordered().max_size(10 * PART as u64);
    let limited = platform.allocator("LIMITED", device(0), limits).unwrap();
    let mut data = limited.buffer::<u8>(10 * PART, &stream).unwrap();
    stream.fill_bytes(&mut data, 1).unwrap();
    drop(data);
    drop(platform.buffer::<u8>(12 * PART, &stream).unwrap());
    assert_eq!((limited.used(), limited.reserved()), (0, 0));
    let _ = platform.trim().unwrap();
    recorder.clear();
    drop(limited.buffer::<u8>(9 * PART, &stream).unwrap());
    assert_eq!(recorder.count(is_wait), 0);
}

/// Pools that were dropped are removed from the list of the device's pools.
#[test]
fn pools_that_are_dropped_are_forgotten() {
    let platform = Platform::host().build().unwrap();
    let stream = platform.default_stream(device(0)).unwrap();
    for _ in 0..100 {
        let allocator = platform.allocator("A", device(0), MemoryLimits::unbounded()).unwrap();
        drop(allocator.buffer::<u8>(PART, &stream).unwrap());
    }
    let pools = Pools::of(stream.table());
    assert!(pools.known_pools(device(0)) <= 3, "{} pools", pools.known_pools(device(0)));
}
