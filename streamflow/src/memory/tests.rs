//! Who gets which memory and when: seen by a recorder over the simulator, which under the lazy
//! policy executes nothing before somebody waits for it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use super::*;
use crate::driver::host::{HostDriver, Policy};
use crate::driver::{
    Call, DeviceId, Driver, DriverError, DriverResult, Layer, MemoryRange, RecordedRange, Recorder,
    StreamLabel,
};
use crate::{CudaStream, CudaStreamPool, Platform, StreamPool, device};

const LEN: usize = 1003;

struct Bench {
    recorder: Arc<Recorder>,
    platform: Platform,
    pool: StreamPool,
}

/// So many blocks of any size.
fn in_flight(blocks: usize) -> MemoryOptions {
    MemoryOptions { in_flight: blocks, small_in_flight: blocks, ..MemoryOptions::default() }
}

fn bench(options: MemoryOptions) -> Bench {
    let host = HostDriver::builder().policy(Policy::Lazy).build();
    let recorder = Arc::new(Recorder::new(Arc::new(host)));
    let platform = Platform::with_memory(recorder.clone(), options).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    Bench { recorder, platform, pool }
}

impl Bench {
    /// A new stream, and what the log calls it.
    fn stream(&self) -> (CudaStream, StreamLabel) {
        let stream = self.pool.allocate("a test").unwrap();
        self.recorder.clear();
        stream.is_complete().unwrap();
        let name = self.recorder.calls().iter().find_map(Call::stream).unwrap();
        (stream, name)
    }

    fn buffer(&self, stream: &CudaStream) -> Buffer<u8> {
        self.platform.buffer(LEN, stream).unwrap()
    }

    fn count(&self, wanted: impl Fn(&Call) -> bool) -> usize {
        self.recorder.count(wanted)
    }
}

fn is_wait(call: &Call) -> bool {
    matches!(call, Call::WaitEvent { .. })
}

#[test]
fn memory_that_is_free_in_stream_order_is_preferred() {
    let bench = bench(in_flight(1));
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let (mut elsewhere, mut here) = (bench.buffer(&a), bench.buffer(&a));
    let addresses = [elsewhere.range().address, here.range().address];
    let mut copy = bench.buffer(&b);
    a.fill_bytes(&mut elsewhere, 1).unwrap();
    a.fill_bytes(&mut here, 2).unwrap();
    b.copy(&elsewhere, &mut copy).unwrap();
    // The older one is still read on `b`.
    drop(elsewhere);
    drop(here);
    bench.recorder.clear();
    let first = bench.buffer(&a);
    assert_eq!(first.range().address, addresses[1]);
    assert_eq!(bench.count(is_wait), 0);
    // Then the older one, for which the *new* owner's stream waits.
    let second = bench.buffer(&a);
    assert_eq!(second.range().address, addresses[0]);
    assert_eq!(bench.count(is_wait), 1);
    assert_eq!(bench.count(|call| matches!(call, Call::Allocate { .. })), 0);
}

#[test]
fn a_slow_consumer_bounds_memory() {
    for most in [1, 2, 5] {
        let bench = bench(in_flight(most));
        let ((a, _), (slow, _)) = (bench.stream(), bench.stream());
        let mut last = bench.platform.buffer::<u8>(10 * LEN, &slow).unwrap();
        bench.recorder.clear();
        for tick in 0..1000 {
            let mut data = bench.buffer(&a);
            a.fill_bytes(&mut data, tick as u8).unwrap();
            let mut part = last.slice_mut(..LEN).unwrap();
            slow.copy(&data, &mut part).unwrap();
        }
        let made = bench.count(|call| matches!(call, Call::Allocate { .. }));
        assert_eq!(made, most);
        let found = slow.download_blocking(&last).unwrap();
        assert_eq!(found[..LEN], [999_u32 as u8; LEN], "the last tick's");
    }
}

#[test]
fn a_drop_makes_no_stream_of_a_user_wait() {
    let bench = bench(MemoryOptions { release_threshold: 0, ..MemoryOptions::default() });
    let ((a, of_a), (b, of_b)) = (bench.stream(), bench.stream());
    let (mut data, mut copy) = (bench.buffer(&a), bench.buffer(&b));
    a.fill_bytes(&mut data, 7).unwrap();
    b.copy(&data, &mut copy).unwrap();
    bench.recorder.clear();
    drop(data);
    let calls = bench.recorder.calls();
    let waiting: Vec<_> =
        calls.iter().filter(|call| is_wait(call)).filter_map(Call::stream).collect();
    assert!(!waiting.is_empty(), "the reclaim stream must wait for the reader");
    assert!(!waiting.contains(&of_a) && !waiting.contains(&of_b), "{}", bench.recorder.text());
    let freed: Vec<_> = calls
        .iter()
        .filter(|call| matches!(call, Call::Free { .. }))
        .filter_map(Call::stream)
        .collect();
    assert_eq!(freed, waiting[..1], "freed once, by the reclaim stream");
    assert!(!calls.iter().any(Call::blocks_host), "{}", bench.recorder.text());
    assert_eq!(b.download_blocking(&copy).unwrap(), [7; LEN]);
}

#[test]
fn memory_is_kept_up_to_the_threshold() {
    // 1003 bytes take 1024.
    for (threshold, freed) in [(0, 3), (1023, 3), (1024, 2), (2048, 1), (u64::MAX, 0)] {
        let options = MemoryOptions { release_threshold: threshold, ..in_flight(9) };
        let bench = bench(options);
        let (a, _) = bench.stream();
        for _ in 0..2 {
            let held = [bench.buffer(&a), bench.buffer(&a), bench.buffer(&a)];
            bench.recorder.clear();
            drop(held);
            let released = bench.count(|call| matches!(call, Call::Free { .. }));
            assert_eq!(released, freed, "with a threshold of {threshold}");
        }
    }
}

/// The number of a page-locked allocation is that of the copy's host side.
fn uploaded_from(bench: &Bench) -> u32 {
    let source = bench.recorder.calls().into_iter().rev().find_map(|call| match call {
        Call::Copy { source: RecordedRange::Pinned { buffer, .. }, .. } => Some(buffer),
        _ => None,
    });
    source.unwrap()
}

#[test]
fn page_locked_memory_is_lent_again_only_when_no_copy_uses_it() {
    let bench = bench(MemoryOptions::default());
    let (a, _) = bench.stream();
    let (mut first, mut second) = (bench.buffer(&a), bench.buffer(&a));
    let pinned = |value| {
        let mut pinned = bench.platform.pinned::<u8>(device(0), LEN).unwrap();
        pinned.as_mut_slice_blocking().unwrap().fill(value);
        pinned
    };
    a.upload(&pinned(3), &mut first).unwrap();
    let one = uploaded_from(&bench);
    // The first is dropped, but its upload has not run.
    a.upload(&pinned(9), &mut second).unwrap();
    assert_ne!(uploaded_from(&bench), one);
    assert_eq!(a.download_blocking(&first).unwrap(), [3; LEN]);
    assert_eq!(a.download_blocking(&second).unwrap(), [9; LEN]);
    // Now both are done, and that is known.
    a.synchronize_blocking().unwrap();
    bench.recorder.clear();
    let (third, fourth) = (pinned(4), pinned(5));
    assert_eq!(bench.count(|call| matches!(call, Call::AllocatePinned { .. })), 0);
    drop((third, fourth));
}

#[test]
fn a_download_cannot_be_read_before_it_is_complete() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let mut data = bench.buffer(&a);
    a.fill_bytes(&mut data, 6).unwrap();
    let download = bench.platform.download(&data, &b).unwrap();
    assert_eq!(download.try_get().unwrap(), None);
    let asked = (0..100).find(|_| download.try_get().unwrap().is_some());
    assert!(asked.is_some(), "asking again and again must come to an end");
    assert_eq!(download.try_get().unwrap(), Some([6; LEN].as_slice()));
    assert!(!bench.recorder.calls().iter().any(Call::blocks_host));
    // And once more by waiting.
    a.fill_bytes(&mut data, 8).unwrap();
    let next = bench.platform.download(&data, &b).unwrap();
    assert_eq!(next.try_get().unwrap(), None);
    assert_eq!(next.wait_blocking().unwrap(), [8; LEN]);
    assert_eq!(download.wait_blocking().unwrap(), [6; LEN], "the earlier one keeps its values");
}

/// Nobody read the first, so its copy may still run while the memory has a new owner.
#[test]
fn a_download_that_was_dropped_does_not_write_into_the_next() {
    for most in [1, 2] {
        let bench = bench(in_flight(most));
        let ((a, _), (b, _)) = (bench.stream(), bench.stream());
        let (mut old, mut new) = (bench.buffer(&a), bench.buffer(&b));
        a.fill_bytes(&mut old, 1).unwrap();
        b.fill_bytes(&mut new, 2).unwrap();
        for _ in 0..most {
            drop(bench.platform.download(&old, &a).unwrap());
        }
        let download = bench.platform.download(&new, &b).unwrap();
        assert_eq!(download.wait_blocking().unwrap(), [2; LEN]);
        a.synchronize_blocking().unwrap();
        assert_eq!(download.wait_blocking().unwrap(), [2; LEN]);
    }
}

#[test]
fn the_host_waits_before_it_overwrites_what_is_being_uploaded() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let (mut one, mut two) = (bench.buffer(&a), bench.buffer(&b));
    let mut pinned = bench.platform.pinned::<u8>(device(0), LEN).unwrap();
    pinned.as_mut_slice_blocking().unwrap().fill(3);
    a.upload(&pinned, &mut one).unwrap();
    b.upload(&pinned, &mut two).unwrap();
    // Reading needs no wait: the uploads only read.
    bench.recorder.clear();
    assert_eq!(pinned.as_slice_blocking().unwrap(), [3; LEN]);
    assert!(!bench.recorder.calls().iter().any(Call::blocks_host));
    pinned.as_mut_slice_blocking().unwrap().fill(9);
    assert_eq!(a.download_blocking(&one).unwrap(), [3; LEN]);
    assert_eq!(b.download_blocking(&two).unwrap(), [3; LEN]);
}

#[test]
fn shapes_have_strides_also_where_a_dimension_is_zero() {
    assert_eq!(Shape::new(&[2, 3, 4]).unwrap().dense_strides()[..], [12, 4, 1]);
    assert_eq!(Shape::new(&[2, 0, 4]).unwrap().dense_strides()[..], [4, 4, 1]);
    assert_eq!(Shape::new(&[]).unwrap().count(), 1);
    for dims in [[0, usize::MAX, 2], [usize::MAX, 0, 2], [usize::MAX, 2, 0]] {
        assert!(Shape::new(&dims).is_err(), "{dims:?}");
    }
}

/// Law 8: a consumer waits for what it needs, not for what was queued later.
#[test]
fn reading_a_download_does_not_wait_for_later_work() {
    let bench = bench(MemoryOptions::default());
    let (a, _) = bench.stream();
    let mut source = bench.buffer(&a);
    a.fill_bytes(&mut source, 7).unwrap();
    let download = bench.platform.download(&source, &a).unwrap();
    bench.recorder.clear();
    a.fill_bytes(&mut source, 8).unwrap();
    assert_eq!(download.wait_blocking().unwrap(), [7; LEN]);
    let records = bench.count(|call| matches!(call, Call::RecordEvent { .. }));
    assert_eq!(records, 0, "the copy was recorded when it was queued");
}

/// Law 8 for memory: its next owner waits for its last users, not for what they queue later.
#[test]
fn dropping_memory_records_its_users_on_other_streams() {
    let bench = bench(in_flight(1));
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let source = bench.buffer(&a);
    let mut copy = bench.buffer(&b);
    b.copy(&source, &mut copy).unwrap();
    bench.recorder.clear();
    drop(source);
    let records = |bench: &Bench| bench.count(|call| matches!(call, Call::RecordEvent { .. }));
    assert_eq!(records(&bench), 1);
    b.fill_bytes(&mut copy, 1).unwrap();
    let _next = bench.buffer(&a);
    assert_eq!(records(&bench), 1, "the next owner waits for the record of before");
}

/// Law 8: a reader has waited for the write, so who waits for the reader need not.
#[test]
fn who_waits_for_the_latest_use_waits_once() {
    let bench = bench(in_flight(1));
    let ((a, _), (b, _), (c, _), (d, _)) =
        (bench.stream(), bench.stream(), bench.stream(), bench.stream());
    let mut source = bench.buffer(&a);
    let [mut of_c, mut of_d] = [&c, &d].map(|stream| bench.buffer(stream));
    b.fill_bytes(&mut source, 7).unwrap();
    c.copy(&source, &mut of_c).unwrap();
    // After what `c` has read.
    d.copy(&of_c, &mut of_d).unwrap();
    d.copy(&source, &mut of_d).unwrap();
    drop(source);
    bench.recorder.clear();
    let _next = bench.buffer(&a);
    assert_eq!(bench.count(is_wait), 1);
}

/// Has no page-locked memory left once, and waits while it frees some: until another thread has dropped
/// what it is given. To free the first block fails.
#[derive(Debug)]
struct Short {
    below: HostDriver,
    left: AtomicUsize,
    meanwhile: Mutex<Option<Pinned<u8>>>,
    freed: AtomicUsize,
}

// SAFETY: a call that fails promises nothing; all others are handed on.
unsafe impl Layer for Short {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        match self.left.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(DriverError::OutOfMemory { device, requested: bytes }),
            _ => self.below.allocate_pinned(device, bytes),
        }
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        if let Some(dropped) = self.meanwhile.lock().unwrap().take() {
            let (done, is_done) = mpsc::channel();
            thread::spawn(move || {
                drop(dropped);
                done.send(())
            });
            let waited = is_done.recv_timeout(Duration::from_secs(10));
            assert_eq!(waited, Ok(()), "nobody can drop anything meanwhile");
        }
        if self.freed.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(DriverError::OutOfMemory { device, requested: 0 });
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.free_pinned(device, range) }
    }
}

/// Freeing page-locked memory waits for the device: others must not wait for that.
#[test]
fn memory_can_be_given_back_while_some_is_freed() {
    let driver = Arc::new(Short {
        below: HostDriver::builder().build(),
        left: AtomicUsize::new(3),
        meanwhile: Mutex::new(None),
        freed: AtomicUsize::new(0),
    });
    let platform = Platform::from_driver(driver.clone()).unwrap();
    let pinned = |granules: usize| platform.pinned::<u8>(device(0), granules * 4096);
    let [one, two, three] = [1, 2, 3].map(|granules| pinned(granules).unwrap());
    drop((one, two));
    *driver.meanwhile.lock().unwrap() = Some(three);
    assert!(pinned(4).is_err(), "the first could not be freed");
    assert_eq!(driver.freed.load(Ordering::Relaxed), 1, "so the others stay");
    drop((pinned(2).unwrap(), pinned(3).unwrap()));
    drop(platform);
    assert_eq!(driver.freed.load(Ordering::Relaxed), 3, "each once");
}

/// Calls a closure once, when a stream is made to wait, and refuses the wait after that.
struct Meanwhile {
    below: HostDriver,
    then: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    refuse_next: AtomicBool,
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

// SAFETY: a call that is refused promises nothing; all others are handed on.
unsafe impl Layer for Meanwhile {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn wait_event(
        &self,
        stream: crate::driver::RawStream,
        event: crate::driver::RawEvent,
    ) -> DriverResult<()> {
        let then = self.then.lock().unwrap().take();
        if let Some(then) = then {
            then();
            self.refuse_next.store(true, Ordering::Relaxed);
        } else if self.refuse_next.swap(false, Ordering::Relaxed) {
            return Err(DriverError::OutOfMemory { device: stream.device(), requested: 0 });
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.wait_event(stream, event) }
    }
}

#[crate::kernel(unsafe cuda = "")]
fn three(_first: &[u8], _second: &[u8], _third: &[u8]) {}

/// Two threads have a handle each of a default stream, and read one buffer. While the launch of the first waits
/// for another argument, the second records and reads; then the wait for a third one is refused.
#[test]
fn a_launch_that_is_refused_forgets_no_use_of_another_thread() {
    let driver = Arc::new(Meanwhile {
        below: HostDriver::builder().policy(Policy::Lazy).build(),
        then: Mutex::new(None),
        refuse_next: AtomicBool::new(false),
    });
    let platform = Platform::from_driver(driver.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (writer, other) = (pool.allocate("w").unwrap(), pool.allocate("o").unwrap());
    let default = || platform.default_stream(device(0)).unwrap();
    let (first, third) = (default(), pool.allocate("t").unwrap());
    let waited_for = platform.buffer::<u8>(LEN, &other).unwrap();
    let source = Arc::new(platform.buffer::<u8>(LEN, &first).unwrap());
    let refused = platform.buffer::<u8>(LEN, &third).unwrap();
    let (read, is_read) = mpsc::channel();
    let second = default();
    let mut copy = platform.buffer::<u8>(LEN, &first).unwrap();
    let shared = source.clone();
    *driver.then.lock().unwrap() = Some(Box::new(move || {
        thread::spawn(move || {
            second.record().unwrap();
            second.copy(&shared, &mut copy).unwrap();
            read.send((second.timeline().open_point(), copy)).unwrap();
        })
        .join()
        .unwrap();
    }));
    assert!(first.launch::<three>(LEN, (&waited_for, &source, &refused)).is_err());
    let (read, _copy) = is_read.try_recv().unwrap();
    let mut source = Arc::into_inner(source).unwrap();
    writer.fill_bytes(&mut source, 1).unwrap();
    assert!(
        writer.timeline().implies(read),
        "the write does not come after the other thread's read"
    );
}

#[derive(Debug)]
struct Bound {
    below: HostDriver,
    fail_bind: AtomicBool,
    unbound: AtomicUsize,
}
thread_local! { static IS_BOUND: std::cell::Cell<bool> = const { std::cell::Cell::new(false) }; }

// SAFETY: handed on.
unsafe impl Layer for Bound {
    fn below(&self) -> &dyn Driver {
        &self.below
    }
    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        if self.fail_bind.load(Ordering::Relaxed) {
            return Err(DriverError::OutOfMemory { device, requested: 0 });
        }
        IS_BOUND.set(true);
        self.below.bind(device)
    }
    unsafe fn record_event(
        &self,
        event: crate::driver::RawEvent,
        stream: crate::driver::RawStream,
    ) -> DriverResult<()> {
        if !IS_BOUND.get() {
            self.unbound.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: as the caller says.
        unsafe { self.below.record_event(event, stream) }
    }
}

fn bound() -> (Arc<Bound>, Platform) {
    bound_with(1)
}

fn bound_with(blocks: usize) -> (Arc<Bound>, Platform) {
    let driver = Arc::new(Bound {
        below: HostDriver::builder().policy(Policy::Lazy).build(),
        fail_bind: Default::default(),
        unbound: Default::default(),
    });
    let platform = Platform::with_memory(driver.clone(), in_flight(blocks)).unwrap();
    (driver, platform)
}

#[test]
fn a_download_on_a_fresh_thread_binds_first() {
    let (driver, platform) = bound();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let (a, b) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
    let mut target = platform.buffer::<u8>(LEN, &a).unwrap();
    let source = platform.buffer::<u8>(LEN, &b).unwrap();
    let pinned = platform.pinned::<u8>(device(0), LEN).unwrap();
    a.upload(&pinned, &mut target).unwrap();
    drop(pinned);
    thread::scope(|scope| {
        let (platform, source) = (&platform, &source);
        scope.spawn(move || drop(platform.download(source, &b).unwrap()));
    });
    assert_eq!(driver.unbound.load(Ordering::Relaxed), 0, "recorded with nothing bound");
}

#[test]
fn an_external_stream_that_could_not_be_left_is_no_order() {
    let (driver, platform) = bound();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let a = pool.allocate("a").unwrap();
    let raw = Driver::create_stream(&*driver, device(0), Default::default()).unwrap();
    // SAFETY: alive.
    let borrowed = unsafe { crate::BorrowedStream::new(device(0), raw.handle()) };
    let external = platform.external_stream(borrowed).unwrap();
    let mut memory = platform.buffer::<u8>(LEN, &external).unwrap();
    external.fill_bytes(&mut memory, 7).unwrap();
    driver.fail_bind.store(true, Ordering::Relaxed);
    drop(external);
    driver.fail_bind.store(false, Ordering::Relaxed);
    match a.download_blocking(&memory) {
        Err(_) => {}
        Ok(read) => assert_eq!(read, [7; LEN], "read without an order"),
    }
}

/// What comes back when its platform is gone is freed, once each, also on other threads.
#[test]
fn what_comes_back_late_is_freed() {
    let Bench { recorder, platform, pool } = bench(MemoryOptions::default());
    let stream = pool.allocate("a test").unwrap();
    let other = pool.allocate("a test").unwrap();
    let mut memory: Vec<_> = (0..6).map(|_| platform.buffer::<u8>(LEN, &stream).unwrap()).collect();
    let pinned: Vec<_> = (0..6).map(|_| platform.pinned::<u8>(device(0), LEN).unwrap()).collect();
    for (pinned, memory) in pinned.iter().zip(&mut memory) {
        other.upload(pinned, memory).unwrap();
    }
    let late = (memory.split_off(3), pinned.into_iter().skip(3).collect::<Vec<_>>());
    drop(memory);
    drop(platform);
    thread::spawn(move || drop(late)).join().unwrap();
    let count = |wanted: &str| {
        recorder.calls().iter().filter(|call| format!("{call:?}").starts_with(wanted)).count()
    };
    let counts = ["Allocate {", "Free {", "AllocatePinned", "FreePinned"].map(count);
    assert_eq!(counts, [6, 6, 6, 6]);
    drop((stream, other, pool));
    assert_eq!(Arc::strong_count(&recorder), 1, "something keeps the platform");
}

mod access;
mod asking;
mod room;
mod shapes;
