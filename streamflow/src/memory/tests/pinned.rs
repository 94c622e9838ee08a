//! Tests of page-locked memory: when the memory is reused, when the host may write it, and when it is freed.

use super::*;

/// The number of the page-locked allocation that the last copy reads.
fn uploaded_from(bench: &Bench) -> u32 {
    let source = bench.recorder.calls().into_iter().rev().find_map(|call| match call {
        Call::Copy { source: RecordedRange::Pinned { buffer, .. }, .. } => Some(buffer),
        _ => None,
    });
    source.unwrap()
}

#[test]
fn page_locked_memory_is_reused_only_when_no_copy_uses_it() {
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
    // The first memory is dropped, but its upload has not been executed.
    a.upload(&pinned(9), &mut second).unwrap();
    assert_ne!(uploaded_from(&bench), one);
    assert_eq!(a.download_blocking(&first).unwrap(), [3; LEN]);
    assert_eq!(a.download_blocking(&second).unwrap(), [9; LEN]);
    // After this call both uploads are complete, and the host knows it.
    a.synchronize_blocking().unwrap();
    bench.recorder.clear();
    let (third, fourth) = (pinned(4), pinned(5));
    assert_eq!(bench.count(|call| matches!(call, Call::AllocatePinned { .. })), 0);
    drop((third, fourth));
}

#[test]
fn the_host_waits_for_uploads_before_it_overwrites_their_memory() {
    let bench = bench(MemoryOptions::default());
    let ((a, _), (b, _)) = (bench.stream(), bench.stream());
    let (mut one, mut two) = (bench.buffer(&a), bench.buffer(&b));
    let mut pinned = bench.platform.pinned::<u8>(device(0), LEN).unwrap();
    pinned.as_mut_slice_blocking().unwrap().fill(3);
    a.upload(&pinned, &mut one).unwrap();
    b.upload(&pinned, &mut two).unwrap();
    // The host may read the memory without a wait, because the uploads only read the memory.
    bench.recorder.clear();
    assert_eq!(pinned.as_slice_blocking().unwrap(), [3; LEN]);
    assert!(!bench.recorder.calls().iter().any(Call::blocks_host));
    pinned.as_mut_slice_blocking().unwrap().fill(9);
    assert_eq!(a.download_blocking(&one).unwrap(), [3; LEN]);
    assert_eq!(b.download_blocking(&two).unwrap(), [3; LEN]);
}

/// A driver that has no page-locked memory for one allocation, and that fails to free the first block. While it frees a
/// block, it waits until another thread has dropped the memory in `meanwhile`.
#[derive(Debug)]
struct RunsOut {
    below: HostDriver,
    allocations_left: AtomicUsize,
    meanwhile: Mutex<Option<Pinned<u8>>>,
    freed: AtomicUsize,
}

// SAFETY: a call that fails promises nothing, and this layer passes all others on.
unsafe impl Layer for RunsOut {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        match self.allocations_left.fetch_sub(1, Ordering::Relaxed) {
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
            assert_eq!(waited, Ok(()), "another thread can't drop memory meanwhile");
        }
        if self.freed.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(DriverError::OutOfMemory { device, requested: 0 });
        }
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.below.free_pinned(device, range) }
    }
}

/// Freeing page-locked memory waits for the device. Other threads can return memory to the pool meanwhile.
#[test]
fn memory_can_be_returned_while_other_memory_is_freed() {
    let driver = Arc::new(RunsOut {
        below: HostDriver::builder().build(),
        allocations_left: AtomicUsize::new(3),
        meanwhile: Mutex::new(None),
        freed: AtomicUsize::new(0),
    });
    let platform = Platform::builder().driver(driver.clone()).unwrap();
    let pinned = |granules: usize| platform.pinned::<u8>(device(0), granules * 4096);
    let [one, two, three] = [1, 2, 3].map(|granules| pinned(granules).unwrap());
    drop((one, two));
    *driver.meanwhile.lock().unwrap() = Some(three);
    assert!(pinned(4).is_err(), "the largest could not be freed");
    assert_eq!(driver.freed.load(Ordering::Relaxed), 1, "so the others stay");
    drop((pinned(1).unwrap(), pinned(3).unwrap()));
    drop(platform);
    assert_eq!(driver.freed.load(Ordering::Relaxed), 3, "each once");
}
