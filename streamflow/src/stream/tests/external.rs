//! Tests of external streams that are detached, and of timelines that are then used again.

use super::*;
use crate::driver::{Driver, DriverResult, Layer, MemoryRange, RawEvent};
use crate::stream::{BorrowedStream, ExternalStream};

/// A driver with one handle that first means one stream and later another. This is as if CUDA gave the handle of a destroyed
/// stream to the next stream that it makes.
#[derive(Debug)]
struct SameHandle {
    below: HostDriver,
    handle: RawStream,
    real: Mutex<RawStream>,
}

impl SameHandle {
    fn real(&self, stream: RawStream) -> RawStream {
        if stream == self.handle { *self.real.lock().unwrap() } else { stream }
    }
}

// SAFETY: both streams live as long as the driver, and each call with the handle is made for the stream in `real`.
unsafe impl Layer for SameHandle {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.record_event(event, self.real(stream)) }
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.wait_event(self.real(stream), event) }
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.fill(self.real(stream), range, byte) }
    }
}

/// Streams with equal handles count as the same stream. So work on the second stream with a handle must come after all work that
/// was queued on the first one.
#[test]
fn a_stream_with_the_handle_of_a_detached_one_comes_after_it() {
    let below = HostDriver::builder().policy(Policy::Lazy).build();
    below.bind(device(0)).unwrap();
    let [first, second] =
        [(); 2].map(|()| Driver::create_stream(&below, device(0), Default::default()).unwrap());
    let driver = Arc::new(SameHandle { below, handle: first, real: Mutex::new(first) });
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let ours = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap().allocate("a").unwrap();
    let mut data = platform.buffer::<u8>(3, &ours).unwrap();
    ours.synchronize_blocking().unwrap();
    let borrow = || -> ExternalStream<'_> {
        // SAFETY: both streams are alive until the driver is dropped.
        let borrowed = unsafe { BorrowedStream::new(device(0), first.handle()) };
        platform.external_stream(borrowed).unwrap()
    };
    borrow().fill_bytes(&mut data, 1).unwrap();
    *driver.real.lock().unwrap() = second;
    borrow().fill_bytes(&mut data, 2).unwrap();
    assert_eq!(ours.download_blocking(&data).unwrap(), [2; 3]);
    // This call executes the work of the first stream that is left, if any. SAFETY: the stream is alive.
    unsafe { driver.below.synchronize_stream(first) }.unwrap();
    assert_eq!(ours.download_blocking(&data).unwrap(), [2; 3]);
}

/// Another thread drops memory that was used on the stream, and is about to record the stream for that. Before it does so, the
/// stream is detached. It must not be recorded any more, because its owner may destroy it.
#[test]
fn a_detached_stream_is_not_recorded() {
    let bench = bench(Policy::Lazy);
    let driver = bench.platform.driver().clone();
    let raw = driver.create_stream(device(0), Default::default()).unwrap();
    // SAFETY: the stream is never destroyed in this test.
    let borrowed = unsafe { BorrowedStream::new(device(0), raw.handle()) };
    let external = bench.platform.external_stream(borrowed).unwrap();
    let ours = bench.stream();
    let mut data = bench.platform.buffer::<u8>(3, &ours).unwrap();
    external.fill_bytes(&mut data, 1).unwrap();
    let timeline = external.timeline().clone();
    bench.recorder.clear();
    let external = std::mem::ManuallyDrop::new(external);
    let detach = detaching(external.timeline().clone(), bench.platform.streams().clone());
    crate::turns::hooks::at("a record is due, and the ring is not locked yet", detach);
    timeline.close().unwrap();
    assert!(crate::turns::hooks::are_done());
    assert_eq!(bench.records_and_waits().0, 1, "the record of `detach` alone");
    ours.wait(timeline.point(1)).unwrap();
    assert_eq!(bench.records_and_waits(), (0, 1), "what was queued is covered");
}

/// Returns a function that detaches a stream, as the drop of an `ExternalStream` does.
fn detaching(timeline: Arc<Timeline>, table: Arc<StreamTable>) -> impl FnOnce() {
    move || timeline.detach(|| timeline.synchronize(&table)).unwrap()
}
