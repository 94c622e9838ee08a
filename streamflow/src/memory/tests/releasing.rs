//! Free memory that a thread releases for a block of its own, while another thread allocates.

use super::*;

/// The first free of memory has another thread allocate, and goes on when that has returned, or seems to wait.
struct Beside {
    below: HostDriver,
    job: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
    is_freed: AtomicBool,
}

/// How often the freeing thread lets the other one run. If that is not enough, a test may find no mistake, and no test fails.
const YIELDS: usize = 50_000;

impl std::fmt::Debug for Beside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Beside")
    }
}

// SAFETY: all calls are passed on.
unsafe impl Layer for Beside {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn free(
        &self,
        stream: crate::driver::RawStream,
        range: MemoryRange,
    ) -> DriverResult<()> {
        if let Some(job) = self.job.lock().unwrap().take() {
            let other = thread::spawn(job);
            let mut yields = 0..YIELDS;
            while !other.is_finished() && yields.next().is_some() {
                thread::yield_now();
            }
            *self.thread.lock().unwrap() = Some(other);
        }
        // SAFETY: the caller's contract.
        let freed = unsafe { self.below.free(stream, range) };
        self.is_freed.store(true, Ordering::SeqCst);
        freed
    }
}

const CAPACITY: usize = 64 << 10;

/// Of 16 parts of the memory 7 are in use, and 8 are free in the pool. One thread needs 3 of them, and while it releases the
/// free ones, another one needs 2. Returns whether that one got them, and whether memory was freed by then.
fn beside(limits: MemoryLimits) -> (bool, bool) {
    let below = HostDriver::builder().memory(CAPACITY as u64).build();
    let (job, thread) = (Mutex::new(None), Mutex::new(None));
    let driver = Arc::new(Beside { below, job, thread, is_freed: AtomicBool::new(false) });
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (stream, other) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
    let allocator = Arc::new(platform.allocator("ROOM", device(0), limits).unwrap());
    let part = CAPACITY / 16;
    let _in_use = allocator.buffer::<u8>(7 * part, &stream).unwrap();
    drop(allocator.buffer::<u8>(8 * part, &stream).unwrap());
    let (tell, told) = mpsc::channel();
    let (of_other, at) = (allocator.clone(), driver.clone());
    *driver.job.lock().unwrap() = Some(Box::new(move || {
        let got = of_other.buffer::<u8>(2 * part, &other);
        tell.send((got.is_ok(), at.is_freed.load(Ordering::SeqCst))).unwrap();
        drop(got);
    }));
    allocator.buffer::<u8>(3 * part, &stream).unwrap();
    let thread = driver.thread.lock().unwrap().take().unwrap();
    thread.join().unwrap();
    told.recv().unwrap()
}

/// Invariant 9, for two threads: the room of released blocks is there when their frees are queued.
#[test]
fn a_thread_finds_no_room_before_its_frees_are_queued() {
    let limits = MemoryLimits::stream_ordered().max_size(CAPACITY as u64);
    assert_eq!(beside(limits), (true, true));
}

/// The device has no memory left, and another thread is releasing some.
#[test]
fn memory_that_another_thread_is_releasing_is_waited_for() {
    assert_eq!(beside(MemoryLimits::stream_ordered()), (true, true));
}
