//! A simulated device does no more than its description says.

use super::*;

fn launch_with(bench: &Bench, shared_bytes: u32) -> DriverResult<()> {
    let launch = Launch {
        function: bench.set.function,
        name: "set",
        grid: [1; 3],
        block: [1; 3],
        shared_bytes,
        params: &[Param::new(bench.settled_buffer().address), Param::new(1_u32)],
        accesses: &[],
    };
    let stream = bench.stream();
    unsafe { bench.driver.launch(stream, &launch) }
}

#[test]
fn shared_memory_is_that_of_the_architecture() {
    for (capability, kibibytes) in [
        ((6, 1), 48),
        ((7, 0), 96),
        ((7, 5), 64),
        ((8, 0), 163),
        ((8, 6), 99),
        ((8, 9), 99),
        ((9, 0), 227),
        ((10, 0), 227),
        ((12, 0), 99),
        ((99, 0), 48),
    ] {
        let bench =
            Bench::with(HostDriver::builder().compute_capability(capability.0, capability.1));
        let info = bench.driver.device_info(DEVICE).unwrap();
        let most = kibibytes << 10;
        assert_eq!((info.compute_capability, info.max_shared_bytes), (capability, most));
        assert_eq!(launch_with(&bench, most), Ok(()));
        let refused = launch_with(&bench, most + 1);
        assert!(refused.as_ref().unwrap_err().to_string().contains(&format!("{most}")));
        assert_eq!(code_of(refused).0, 1, "{capability:?}");
    }
}

/// A simulator with two devices, a stream and memory on each, and page-locked memory.
struct Two {
    bench: Bench,
    streams: [RawStream; 2],
    memory: [MemoryRange; 2],
    pinned: MemoryRange,
}

impl Two {
    fn new() -> Self {
        let bench = Bench::with(HostDriver::builder().devices(2));
        let driver = &bench.driver;
        let made = [DeviceId(1), DEVICE].map(|device| {
            driver.bind(device).unwrap();
            let stream = driver.create_stream(device, StreamOptions::default()).unwrap();
            (stream, unsafe { driver.allocate(stream, BYTES) }.unwrap())
        });
        let [far, near] = made;
        let pinned = driver.allocate_pinned(DEVICE, BYTES).unwrap();
        Self { bench, streams: [near.0, far.0], memory: [near.1, far.1], pinned }
    }

    fn copy(&self, on: usize, kind: CopyKind, target: MemoryRange, source: MemoryRange) -> bool {
        let copy = CopyOp { kind, target, source, rows: None };
        accepted(unsafe { self.bench.driver.copy(self.streams[on], &copy) })
    }

    fn launch(&self, on: usize, range: MemoryRange) -> bool {
        let launch = Launch {
            function: self.bench.set.function,
            name: "set",
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: &[Param::new(range.address), Param::new(1_u32)],
            accesses: &[Access { range, mode: AccessMode::Write, argument: "out", rows: None }],
        };
        accepted(unsafe { self.bench.driver.launch(self.streams[on], &launch) })
    }

    fn fill(&self, on: usize, range: MemoryRange) -> bool {
        accepted(unsafe { self.bench.driver.fill(self.streams[on], range, 0) })
    }
}

/// Whether a call was made. A refused one is an invalid value.
fn accepted(result: DriverResult<()>) -> bool {
    if result.is_err() {
        assert_eq!(code_of(result.clone()).0, 1);
    }
    result.is_ok()
}

#[test]
fn memory_of_another_device_is_reached_by_copies_between_devices_alone() {
    let two = Two::new();
    let [near, far] = two.memory;
    assert!(two.launch(0, near) && two.fill(0, near) && two.fill(1, far));
    assert!(!two.launch(0, far) && !two.fill(0, far) && !two.fill(1, near));
    let kind = CopyKind::DeviceToDevice;
    assert!(two.copy(0, kind, near, near));
    assert!(!two.copy(0, kind, near, far) && !two.copy(0, kind, far, near));
    let kind = CopyKind::Peer { from: DEVICE, to: DeviceId(1) };
    assert!(two.copy(0, kind, far, near));
    assert!(!two.copy(0, kind, near, far), "the wrong way round");
    // Nothing is refused because of its place if it has no bytes.
    assert!(two.fill(0, MemoryRange { bytes: 0, ..far }));
}

#[test]
fn an_asynchronous_copy_needs_page_locked_memory() {
    let two = Two::new();
    let mut words = vec![0_u32; LEN];
    let host = MemoryRange { address: words.as_mut_ptr().expose_provenance() as u64, bytes: BYTES };
    let [device, _] = two.memory;
    assert!(two.copy(0, CopyKind::PinnedToDevice, device, two.pinned));
    assert!(two.copy(0, CopyKind::DeviceToPinned, two.pinned, device));
    assert!(!two.copy(0, CopyKind::PinnedToDevice, device, host));
    assert!(!two.copy(0, CopyKind::DeviceToPinned, host, device));
    // A copy that blocks takes either kind of host memory.
    assert!(two.copy(0, CopyKind::PageableToDevice, device, host));
    assert!(two.copy(0, CopyKind::DeviceToPageable, two.pinned, device));
    // A range that ends after the block is not page-locked; nor is a block that was freed.
    let longer = MemoryRange { bytes: BYTES + 4, ..two.pinned };
    let target = MemoryRange { bytes: BYTES + 4, ..device };
    assert!(!two.copy(0, CopyKind::PinnedToDevice, target, longer));
    unsafe { two.bench.driver.free_pinned(DEVICE, two.pinned) }.unwrap();
    assert!(!two.copy(0, CopyKind::PinnedToDevice, device, two.pinned));
}

#[test]
fn kernels_and_fills_reach_page_locked_memory_and_no_other_host_memory() {
    let two = Two::new();
    let mut words = vec![0_u32; LEN];
    let host = MemoryRange { address: words.as_mut_ptr().expose_provenance() as u64, bytes: BYTES };
    assert!(two.launch(0, two.pinned) && two.fill(1, two.pinned));
    assert!(!two.launch(0, host) && !two.fill(0, host));
    assert!(!two.copy(0, CopyKind::DeviceToPageable, host, host));
    assert!(!two.copy(0, CopyKind::PageableToDevice, host, host));
}
