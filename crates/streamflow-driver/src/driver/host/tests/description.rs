//! Tests that a simulated device does no more than its description permits.

use super::*;
use crate::driver::{CopyRows, MemorySource};

fn launch_with(bench: &Bench, shared_bytes: u32) -> DriverResult<()> {
    let launch = Launch {
        function: bench.set.function,
        name: "set",
        grid: [1; 3],
        block: [1; 3],
        shared_bytes,
        params: &[Param::new(bench.settled_buffer().address), Param::new(1_u32)],
        accesses: &[],
        rows: &[],
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

/// A simulator with two devices, a stream and memory on each device, and page-locked memory.
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
            (stream, unsafe { driver.allocate(stream, BYTES, MemorySource::Unused) }.unwrap())
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
            rows: &[],
        };
        accepted(unsafe { self.bench.driver.launch(self.streams[on], &launch) })
    }

    fn fill(&self, on: usize, range: MemoryRange) -> bool {
        accepted(unsafe { self.bench.driver.fill(self.streams[on], range, 0) })
    }
}

/// Whether a call was accepted. The error of a refused call must be "invalid value".
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
    // A range of 0 bytes is accepted even if its address is on another device.
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
    // A copy that blocks the host accepts both kinds of host memory.
    assert!(two.copy(0, CopyKind::PageableToDevice, device, host));
    assert!(two.copy(0, CopyKind::DeviceToPageable, two.pinned, device));
    // A range that ends after the block is not page-locked, and neither is a block that was freed.
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

/// The refused rows are those that CUDA refuses, and those whose effect CUDA leaves undefined.
#[test]
fn rows_are_within_their_pitch_and_overlap_nothing() {
    let two = Two::new();
    let [near, far] = two.memory;
    let target =
        unsafe { two.bench.driver.allocate(two.streams[0], BYTES, MemorySource::Unused) }.unwrap();
    let right =
        CopyRows { bytes: 5, count: 3, source_pitch: 8, target_pitch: 6, target_is_padded: false };
    let spans = |rows: CopyRows, target: MemoryRange, source: MemoryRange| {
        let span = |pitch| rows.span(pitch).unwrap_or(0);
        let source = MemoryRange { bytes: span(rows.source_pitch), ..source };
        (MemoryRange { bytes: span(rows.target_pitch), ..target }, source)
    };
    let copied = |kind, (target, source), rows| {
        let copy = CopyOp { kind, target, source, rows: Some(rows) };
        unsafe { two.bench.driver.copy(two.streams[0], &copy) }
    };
    let within = CopyKind::DeviceToDevice;
    let copy = |rows| copied(within, spans(rows, target, near), rows);
    let refused = |result: DriverResult<()>, text: &str| {
        let error = result.as_ref().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
        assert_eq!(code_of(result).0, 1, "{error}");
    };
    assert_eq!(copy(right), Ok(()));
    assert_eq!(copy(CopyRows { target_pitch: 5, ..right }), Ok(()));
    refused(
        copy(CopyRows { target_pitch: 4, ..right }),
        "the pitch of the target, 4 bytes, is less",
    );
    refused(
        copy(CopyRows { source_pitch: 4, ..right }),
        "the pitch of the source, 4 bytes, is less",
    );
    let too_far = CopyRows { source_pitch: 1 << 31, ..right };
    refused(copy(too_far), "2147483648 bytes, is more than 2147483647");
    let (sides, longer) = (spans(right, target, near), CopyRows { count: 4, ..right });
    refused(copied(within, sides, longer), "are not 4 rows of 5 bytes, 8 bytes apart");
    // With `at(4)`, a row of the target begins at the last byte of the first row of the source. With `beside`, it lies
    // between two rows of the source.
    let at = |offset| spans(right, MemoryRange { address: near.address + offset, ..near }, near);
    refused(copied(within, at(4), right), "overlap");
    let between = CopyRows { target_pitch: 8, bytes: 3, ..right };
    let beside = spans(between, MemoryRange { address: near.address + 4, ..near }, near);
    assert_eq!(copied(within, beside, between), Ok(()));
    refused(copied(within, spans(right, far, near), right), "memory of another device");
    let peer = CopyKind::Peer { from: DEVICE, to: DeviceId(1) };
    refused(copied(peer, spans(right, far, near), right), "has no rows");
    // An asynchronous copy of rows also needs page-locked memory.
    let mut words = vec![0_u32; LEN];
    let host = MemoryRange { address: words.as_mut_ptr().expose_provenance() as u64, bytes: BYTES };
    let (up, down) = (CopyKind::PinnedToDevice, CopyKind::DeviceToPinned);
    assert_eq!(copied(up, spans(right, target, two.pinned), right), Ok(()));
    assert_eq!(copied(down, spans(right, two.pinned, near), right), Ok(()));
    refused(copied(up, spans(right, target, host), right), "not page-locked");
    refused(copied(down, spans(right, host, near), right), "not page-locked");
    let beyond = MemoryRange { address: two.pinned.address + BYTES - 16, ..two.pinned };
    refused(copied(down, spans(right, beyond, near), right), "not page-locked");
    assert_eq!(copied(CopyKind::DeviceToPageable, spans(right, host, near), right), Ok(()));
}
