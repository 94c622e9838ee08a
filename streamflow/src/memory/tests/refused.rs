//! A test of a launch whose stream must wait for its memory, and the driver refuses a wait.

use super::*;

/// A driver that calls a closure once, at the next wait of a stream, and refuses the wait that follows.
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

// SAFETY: a call that is refused promises nothing, and this layer passes all others on.
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
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.wait_event(stream, event) }
    }
}

#[crate::kernel(unsafe cuda = "")]
fn three(_first: &[u8], _second: &[u8], _third: &[u8]) {}

/// Two threads have handles of the same default stream, and read one buffer. While the launch of the first thread queues
/// the wait for its first argument, the second thread records the stream and reads the buffer. Then the driver refuses the
/// launch's wait for its third argument. The buffer must still have the second thread's read as a use.
#[test]
fn a_launch_that_is_refused_forgets_no_use_of_another_thread() {
    let driver = Arc::new(Meanwhile {
        below: HostDriver::builder().policy(Policy::Lazy).build(),
        then: Mutex::new(None),
        refuse_next: AtomicBool::new(false),
    });
    let platform = Platform::builder().driver(driver.clone()).unwrap();
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
