//! Tests of free memory that a thread releases for a block of its own, while another thread allocates.

use super::logged::at_first_warning;
use super::*;

type Job = Box<dyn FnOnce() + Send>;

/// A driver that makes another thread allocate during the first free. The free continues when that thread has returned,
/// or seems to wait.
struct Beside {
    below: HostDriver,
    job: Mutex<Option<Job>>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
    is_freed: AtomicBool,
}

/// How often the freeing thread yields to the other one. If that is too seldom, the test may miss a mistake, but never
/// fails without one.
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

/// Of 16 parts of the memory 7 are in use, and the sizes in `free` are free in the pool, a block each. A thread needs
/// `first` parts, and while it releases the free blocks, another thread needs `second` parts. Returns whether the other
/// thread got them, and whether memory was freed by then.
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

/// Invariant 9 for two threads: the room of released blocks can be taken only when their frees are queued.
#[test]
fn a_thread_finds_no_room_before_its_frees_are_queued() {
    let limits = MemoryLimits::stream_ordered().max_size(CAPACITY as u64);
    assert_eq!(beside(limits, &[8], 3, 2), (true, true));
}

/// The device has no memory left, and another thread is releasing some.
#[test]
fn memory_that_another_thread_is_releasing_is_waited_for() {
    assert_eq!(beside(MemoryLimits::stream_ordered(), &[8], 3, 2), (true, true));
    assert_eq!(beside(MemoryLimits::unbounded(), &[8], 3, 2), (true, true));
}

/// The limit is more than the device has, and the other thread's block fits beside the memory that is being freed.
#[test]
fn memory_that_is_released_when_the_device_has_none_counts_until_it_is_freed() {
    let limits = MemoryLimits::stream_ordered().max_size(18 * PART as u64);
    assert_eq!(beside(limits, &[8], 3, 1), (true, true));
}

/// A tick of a pool that has reached its limit waits for no thread that frees memory.
#[test]
fn a_free_block_of_another_stream_is_taken_while_memory_is_released() {
    let limits = MemoryLimits::stream_ordered().max_size(CAPACITY as u64);
    assert_eq!(beside(limits, &[6, 2], 7, 2), (true, false));
}

/// A driver in which each trim of the device does the work of another thread.
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
        // The work never runs out of memory itself, so this lock is not taken twice.
        if let Some(work) = &mut *self.work.lock().unwrap() {
            work();
        }
        self.below.trim(device, keep)
    }
}

/// All of the memory is free in the pool, and a block of another size is needed. Each time the free memory is released,
/// another thread takes most of it. The first `drops` times, that thread drops the memory at once. After that, the
/// thread keeps the memory if `is_kept`, and else takes none. Returns whether the block was made, and how often memory
/// was released.
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
    // This breaks a cycle: the work owns the platform, and the platform owns the driver.
    *driver.work.lock().unwrap() = None;
    (is_made, driver.trims.load(Ordering::Relaxed))
}

#[test]
fn memory_that_another_thread_takes_and_drops_is_released_again() {
    assert_eq!(taken_meanwhile(2, false), (true, 3));
}

/// All memory is in use.
#[test]
fn memory_that_another_thread_takes_and_keeps_is_an_error() {
    assert_eq!(taken_meanwhile(0, true), (false, 1));
    assert_eq!(taken_meanwhile(2, true), (false, 3));
}

/// Without a bound on the rounds, a thread could lose its memory to faster threads for ever.
#[test]
fn an_allocation_releases_memory_so_many_times() {
    assert_eq!(taken_meanwhile(usize::MAX, false), (false, 16));
}

/// A subscriber of the log is the program's code: it may wait for a thread that needs memory.
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
        // The other thread answers at once. If it has not after this time, the test fails.
        say.send(told.recv_timeout(Duration::from_secs(20))).unwrap();
    };
    at_first_warning(in_warning, || drop(platform.buffer::<u8>(7 * PART, &stream).unwrap()));
    assert_eq!(said.recv().unwrap(), Ok(false));
}

/// A driver that has no memory for the first allocation, as if another thread were just releasing some.
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

/// Law 10 for an allocation that succeeds at the second try, without having released memory itself.
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
