//! Tests with a call of the driver that fails while memory or a stream is given back. The memory or stream is given back
//! nevertheless, and the error is reported.

use super::logged::errors_in;
use super::*;
use crate::driver::{RawEvent, RawStream, StreamOptions};
use crate::kernel;
use crate::stream::BorrowedStream;

/// A driver of which the next call with the name in `next` fails once.
#[derive(Debug)]
struct FailsOnce {
    below: HostDriver,
    next: Mutex<Option<&'static str>>,
}

impl FailsOnce {
    fn check(&self, call: &'static str, device: DeviceId) -> DriverResult<()> {
        match self.next.lock().unwrap().take_if(|next| *next == call) {
            Some(_) => Err(DriverError::OutOfMemory { device, requested: 0 }),
            None => Ok(()),
        }
    }
}

// SAFETY: a call that fails promises nothing, and this layer passes all others on.
unsafe impl Layer for FailsOnce {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.check("bind", device)?;
        self.below.bind(device)
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        self.check("wait_event", stream.device())?;
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.wait_event(stream, event) }
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        self.check("synchronize_event", event.device())?;
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.synchronize_event(event) }
    }
}

/// Creates a bench over a driver of which a call can be made to fail.
fn failing(options: MemoryOptions) -> (Bench, Arc<FailsOnce>) {
    let below = HostDriver::builder().policy(Policy::Lazy).build();
    let driver = Arc::new(FailsOnce { below, next: Mutex::default() });
    let recorder = Arc::new(Recorder::new(driver.clone()));
    let platform = Platform::builder().memory(options).driver(recorder.clone()).unwrap();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    (Bench { recorder, platform, pool }, driver)
}

impl FailsOnce {
    fn fail_next(&self, call: &'static str) {
        *self.next.lock().unwrap() = Some(call);
    }

    fn has_failed(&self) -> bool {
        self.next.lock().unwrap().is_none()
    }
}

/// The test drops memory that another stream still reads, and a driver call of that drop fails.
#[test]
fn device_memory_is_freed_after_its_uses_although_a_call_fails() {
    for call in ["bind", "wait_event"] {
        let options = MemoryOptions { release_threshold: 0, ..MemoryOptions::default() };
        let (bench, driver) = failing(options);
        let ((a, _), (b, _)) = (bench.stream(), bench.stream());
        let (mut data, mut copy) = (bench.buffer(&a), bench.buffer(&b));
        a.fill_bytes(&mut data, 7).unwrap();
        b.copy(&data, &mut copy).unwrap();
        bench.recorder.clear();
        driver.fail_next(call);
        drop(data);
        assert!(driver.has_failed(), "{call}");
        let freed = bench.count(|call| matches!(call, Call::Free { .. }));
        assert_eq!(freed, 1, "{call}: {}", bench.recorder.text());
        // The simulator overwrites freed memory, so these values show that the copy came before the free.
        assert_eq!(b.download_blocking(&copy).unwrap(), [7; LEN], "{call}");
    }
}

/// The test drops page-locked memory that a copy still writes, after its platform, and a driver call of that drop fails.
#[test]
fn page_locked_memory_is_freed_although_a_call_fails() {
    for call in ["bind", "synchronize_event"] {
        let (bench, driver) = failing(MemoryOptions::default());
        let (a, _) = bench.stream();
        let mut data = bench.buffer(&a);
        a.fill_bytes(&mut data, 7).unwrap();
        let unread = bench.platform.download(&data, &a).unwrap();
        let Bench { recorder, platform, pool } = bench;
        drop((data, a, pool, platform));
        recorder.clear();
        driver.fail_next(call);
        drop(unread);
        assert!(driver.has_failed(), "{call}");
        let freed = recorder.count(|call| matches!(call, Call::FreePinned { .. }));
        assert_eq!(freed, 1, "{call}: {}", recorder.text());
    }
}

#[test]
fn streams_and_events_are_destroyed_although_the_device_can_t_be_bound() {
    let (Bench { recorder, platform, pool }, driver) = failing(MemoryOptions::default());
    let made = |recorder: &Recorder| {
        let streams = recorder.count(|call| matches!(call, Call::CreateStream { .. }));
        (streams, recorder.count(|call| matches!(call, Call::CreateEvent { .. })))
    };
    drop(pool.allocate("a test").unwrap());
    let made = made(&recorder);
    driver.fail_next("bind");
    drop((pool, platform));
    assert!(driver.has_failed());
    let streams = recorder.count(|call| matches!(call, Call::DestroyStream { .. }));
    let events = recorder.count(|call| matches!(call, Call::DestroyEvent { .. }));
    assert_eq!((streams, events), made);
}

/// A kernel that makes the device unusable.
#[kernel(partial, unsafe cuda = "if (out_len > 0) asm volatile(\"trap;\");")]
fn faults(out: &mut [u8]) {
    assert!(out.is_empty(), "a trap");
}

/// A drop makes the first driver call that returns a sticky error. The drop logs that error, and no other code does.
#[test]
fn a_drop_that_meets_a_sticky_error_reports_it() {
    for is_external in [false, true] {
        let errors = errors_in(|| {
            let driver = Arc::new(HostDriver::builder().build());
            let platform = Platform::builder().driver(driver.clone()).unwrap();
            let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
            let [a, b] = ["a", "b"].map(|label| pool.allocate(label).unwrap());
            let mut data: Buffer<u8> = platform.buffer(LEN, &a).unwrap();
            if is_external {
                driver.bind(device(0)).unwrap();
                let raw = driver.create_stream(device(0), StreamOptions::default()).unwrap();
                // SAFETY: the stream is never destroyed.
                let borrowed = unsafe { BorrowedStream::new(device(0), raw.handle()) };
                let external = platform.external_stream(borrowed).unwrap();
                external.launch::<faults>(1, (&mut data,)).unwrap();
                assert!(driver.sticky_error().is_none());
                drop(external);
            } else {
                b.launch::<faults>(1, (&mut data,)).unwrap();
                assert!(driver.sticky_error().is_none());
                drop(data);
            }
            assert!(driver.sticky_error().is_some());
            drop((a, b, pool, platform));
        });
        assert_eq!(errors, 1, "external: {is_external}");
    }
}
