//! Tests with two threads: one releases free memory to make room for a new block, while the other allocates.

use super::logged::at_first_warning;
use super::*;

type Job = Box<dyn FnOnce() + Send>;

/// A driver that starts a job on another thread during the first call of `free`. The call continues when that thread has
/// ended, or after many yields, because that thread then seems to wait.
struct Beside {
    below: HostDriver,
    job: Mutex<Option<Job>>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
    is_freed: AtomicBool,
}

/// How often the freeing thread yields to the other thread. If this number is too small, the test may miss a mistake of the
/// pool, but it never fails without a mistake.
const YIELDS: usize = 50_000;

impl std::fmt::Debug for Beside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Beside")
    }
}

// SAFETY: this layer passes all calls on.
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
        // SAFETY: the caller guarantees the same for the layer below.
        let freed = unsafe { self.below.free(stream, range) };
        self.is_freed.store(true, Ordering::SeqCst);
        freed
    }
}

const CAPACITY: usize = 64 << 10;

const PART: usize = CAPACITY / 16;

/// Of the 16 parts of the device's memory, 7 are in use, and for each number in `free` a block of that many parts is free in
/// the pool. A thread allocates `first` parts. While it releases the free blocks, another thread allocates `second` parts.
/// Returns whether the other thread got its memory, and whether memory had been freed before that.
fn beside(limits: MemoryLimits, free: &[usize], first: usize, second: usize) -> (bool, bool) {
    let below = HostDriver::builder().memory(CAPACITY as u64).build();
    let (job, thread) = (Mutex::new(None), Mutex::new(None));
    let driver = Arc::new(Beside { below, job, thread, is_freed: AtomicBool::new(false) });
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (stream, other) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
    let allocator = Arc::new(platform.allocator("ROOM", device(0), limits).unwrap());
    let _in_use = allocator.buffer::<u8>(7 * PART, &stream).unwrap();
    let parts = |parts: &usize| allocator.buffer::<u8>(parts * PART, &stream).unwrap();
    drop(free.iter().map(parts).collect::<Vec<_>>());
    let (tell, told) = mpsc::channel();
    let (of_other, at) = (allocator.clone(), driver.clone());
    *driver.job.lock().unwrap() = Some(Box::new(move || {
        let got = of_other.buffer::<u8>(second * PART, &other);
        tell.send((got.is_ok(), at.is_freed.load(Ordering::SeqCst))).unwrap();
        drop(got);
    }));
    allocator.buffer::<u8>(first * PART, &stream).unwrap();
    let thread = driver.thread.lock().unwrap().take().unwrap();
    thread.join().unwrap();
    told.recv().unwrap()
}

/// This tests invariant 9 with two threads: another thread gets the room of released blocks only after their frees are
/// queued.
#[test]
fn a_thread_finds_no_room_before_its_frees_are_queued() {
    let limits = MemoryLimits::stream_ordered().max_size(CAPACITY as u64);
    assert_eq!(beside(limits, &[8], 3, 2), (true, true));
}

/// The device has no memory left for a thread while another thread is releasing memory. The allocation waits for the
/// release and succeeds.
#[test]
fn memory_that_another_thread_is_releasing_is_waited_for() {
    assert_eq!(beside(MemoryLimits::stream_ordered(), &[8], 3, 2), (true, true));
    assert_eq!(beside(MemoryLimits::unbounded(), &[8], 3, 2), (true, true));
}

/// The limit is more than the memory of the device. The block of the other thread fits into the limit even if the memory
/// that is being freed counts as in use.
#[test]
fn memory_that_is_released_when_the_device_has_none_counts_until_it_is_freed() {
    let limits = MemoryLimits::stream_ordered().max_size(18 * PART as u64);
    assert_eq!(beside(limits, &[8], 3, 1), (true, true));
}

/// An allocation from a pool that has reached its limit takes a free block, and does not wait for a thread that releases
/// memory.
#[test]
fn a_free_block_of_another_stream_is_taken_while_memory_is_released() {
    let limits = MemoryLimits::stream_ordered().max_size(CAPACITY as u64);
    assert_eq!(beside(limits, &[6, 2], 7, 2), (true, false));
}

/// A driver that calls a closure in each trim of the device. The closure does what another thread might do at that time.
struct InTrim {
    below: HostDriver,
    work: Mutex<Option<Box<dyn FnMut() + Send>>>,
    trims: AtomicUsize,
}

impl std::fmt::Debug for InTrim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InTrim")
    }
}

// SAFETY: this layer passes all calls on.
unsafe impl Layer for InTrim {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    fn trim(&self, device: DeviceId, keep: u64) -> DriverResult<()> {
        self.trims.fetch_add(1, Ordering::Relaxed);
        // The work itself never runs out of memory, so it causes no trim, and this lock is not taken twice.
        if let Some(work) = &mut *self.work.lock().unwrap() {
            work();
        }
        self.below.trim(device, keep)
    }
}

/// All memory of the device is free in the pool, and a thread allocates a block of another size. Each time the free memory
/// is released, another thread takes most of it. The first `drops` times, that thread drops the memory at once. After
/// that, the thread keeps the memory if `is_kept` is set, and else takes none. Returns whether the allocation succeeds, and
/// how often memory was released.
fn taken_meanwhile(drops: usize, is_kept: bool) -> (bool, usize) {
    let below = HostDriver::builder().memory(CAPACITY as u64).build();
    let driver = Arc::new(InTrim { below, work: Mutex::new(None), trims: AtomicUsize::new(0) });
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (stream, other) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
    drop(platform.buffer::<u8>(CAPACITY, &stream).unwrap());
    let (of_other, mut left, mut kept) = (platform.clone(), drops, Vec::new());
    *driver.work.lock().unwrap() = Some(Box::new(move || {
        let take = || of_other.buffer::<u8>(15 * PART, &other).unwrap();
        match left.checked_sub(1) {
            Some(fewer) => {
                drop(take());
                left = fewer;
            }
            None if is_kept => kept.push(take()),
            None => {}
        }
    }));
    let is_made = platform.buffer::<u8>(2 * PART, &stream).is_ok();
    // The closure is dropped to break a cycle: the closure owns the platform, and the platform owns the driver.
    *driver.work.lock().unwrap() = None;
    (is_made, driver.trims.load(Ordering::Relaxed))
}

#[test]
fn memory_that_another_thread_takes_and_drops_is_released_again() {
    assert_eq!(taken_meanwhile(2, false), (true, 3));
}

/// If another thread keeps the memory, all memory is in use, and the allocation is an error.
#[test]
fn memory_that_another_thread_takes_and_keeps_is_an_error() {
    assert_eq!(taken_meanwhile(0, true), (false, 1));
    assert_eq!(taken_meanwhile(2, true), (false, 3));
}

/// An allocation releases memory 16 times at most. Without this bound, a thread could lose the memory to faster threads for
/// ever.
#[test]
fn an_allocation_releases_memory_so_many_times() {
    assert_eq!(taken_meanwhile(usize::MAX, false), (false, 16));
}

/// A subscriber of the log is code of the program, and may wait for another thread that needs memory of the device.
#[test]
fn no_thread_waits_while_a_release_is_logged() {
    let driver = Arc::new(HostDriver::builder().memory(CAPACITY as u64).build());
    let platform = Platform::builder().driver(driver).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (stream, other) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
    let _in_use = platform.buffer::<u8>(8 * PART, &stream).unwrap();
    drop(platform.buffer::<u8>(8 * PART, &stream).unwrap());
    let (tell, told) = mpsc::channel();
    let (say, said) = mpsc::channel();
    let of_other = platform.clone();
    let in_warning = move || {
        thread::spawn(move || tell.send(of_other.buffer::<u8>(9 * PART, &other).is_ok()).unwrap());
        // The other thread's allocation ends at once, because no mutex is held. If it has not ended after this time, the test
        // fails.
        say.send(told.recv_timeout(Duration::from_secs(20))).unwrap();
    };
    at_first_warning(in_warning, || drop(platform.buffer::<u8>(7 * PART, &stream).unwrap()));
    assert_eq!(said.recv().unwrap(), Ok(false));
}

/// A driver that refuses only the first allocation for want of memory, as if another thread were just releasing memory.
#[derive(Debug)]
struct FirstRefused {
    below: HostDriver,
    has_refused: AtomicBool,
}

// SAFETY: this layer passes all calls on.
unsafe impl Layer for FirstRefused {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn allocate(
        &self,
        stream: crate::driver::RawStream,
        bytes: u64,
        source: crate::driver::MemorySource,
    ) -> DriverResult<MemoryRange> {
        if !self.has_refused.swap(true, Ordering::Relaxed) {
            return Err(DriverError::OutOfMemory { device: stream.device(), requested: bytes });
        }
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.allocate(stream, bytes, source) }
    }
}

/// Law 10: an allocation that succeeds at its second call of the driver is logged, even if it has released no memory itself.
#[test]
fn a_second_try_is_logged() {
    let (below, has_refused) = (HostDriver::builder().build(), AtomicBool::new(false));
    let driver = Arc::new(FirstRefused { below, has_refused });
    let platform = Platform::builder().driver(driver).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let stream = pool.allocate("a").unwrap();
    let (say, said) = mpsc::channel();
    let in_warning = move || say.send(()).unwrap();
    at_first_warning(in_warning, || drop(platform.buffer::<u8>(PART, &stream).unwrap()));
    assert_eq!(said.try_iter().count(), 1);
}
