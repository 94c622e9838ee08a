//! Tests that the device is bound before each driver call that needs it, and that no work counts as ordered after a
//! failure to bind.

use super::*;

#[derive(Debug)]
pub(super) struct Bound {
    below: HostDriver,
    pub(super) fail_bind: AtomicBool,
    unbound: AtomicUsize,
}
thread_local! { static IS_BOUND: std::cell::Cell<bool> = const { std::cell::Cell::new(false) }; }

// SAFETY: this layer passes all calls on.
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
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.record_event(event, stream) }
    }
}

fn bound() -> (Arc<Bound>, Platform) {
    bound_with(1)
}

pub(super) fn bound_with(blocks: usize) -> (Arc<Bound>, Platform) {
    let driver = Arc::new(Bound {
        below: HostDriver::builder().policy(Policy::Lazy).build(),
        fail_bind: Default::default(),
        unbound: Default::default(),
    });
    let platform = Platform::builder().memory(in_flight(blocks)).driver(driver.clone()).unwrap();
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
fn a_failed_detach_of_an_external_stream_is_no_order() {
    let (driver, platform) = bound();
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new()).unwrap();
    let a = pool.allocate("a").unwrap();
    let raw = Driver::create_stream(&*driver, device(0), Default::default()).unwrap();
    // SAFETY: the stream is alive.
    let borrowed = unsafe { crate::stream::BorrowedStream::new(device(0), raw.handle()) };
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
