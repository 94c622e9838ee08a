//! A recorder over a driver that only makes handles, different ones in each run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Call, RecordedRange, Recorder, StreamLabel};
use crate::driver::*;

/// A driver with handles that are multiples of `step`; allocations of 13 bytes fail.
#[derive(Debug)]
struct Fake {
    step: u64,
    next: AtomicU64,
    host_calls: AtomicU64,
}

impl Fake {
    fn new(step: u64) -> Arc<Self> {
        Arc::new(Self { step, next: AtomicU64::new(1), host_calls: AtomicU64::new(0) })
    }

    fn handle(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) * self.step
    }
}

// SAFETY: no memory or handle of this driver is used: the recorder only compares numbers.
unsafe impl Driver for Fake {
    fn name(&self) -> &str {
        "fake"
    }
    fn device_count(&self) -> usize {
        1
    }
    fn device_info(&self, _: DeviceId) -> DriverResult<DeviceInfo> {
        Ok(DeviceInfo {
            name: "fake".to_owned(),
            ordinal: None,
            compute_capability: (0, 0),
            multiprocessors: 1,
            total_memory: 0,
            priorities: (0, 0),
            max_shared_bytes: 0,
            is_simulated: true,
            waits_for_device: true,
        })
    }
    fn bind(&self, _: DeviceId) -> DriverResult<()> {
        Ok(())
    }
    fn sticky_error(&self) -> Option<Sticky> {
        None
    }
    fn default_stream(&self, device: DeviceId) -> RawStream {
        RawStream::new(device, 0)
    }
    fn create_stream(&self, device: DeviceId, _: StreamOptions) -> DriverResult<RawStream> {
        Ok(RawStream::new(device, self.handle()))
    }
    unsafe fn device_of_stream(&self, _: u64) -> DriverResult<DeviceId> {
        Ok(DeviceId(0))
    }
    unsafe fn destroy_stream(&self, _: RawStream) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn query_stream(&self, _: RawStream) -> DriverResult<bool> {
        Ok(true)
    }
    unsafe fn synchronize_stream(&self, _: RawStream) -> DriverResult<()> {
        Ok(())
    }
    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        Ok(RawEvent::new(device, self.handle()))
    }
    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        self.create_event(device)
    }
    unsafe fn elapsed(&self, _: RawEvent, _: RawEvent) -> DriverResult<f64> {
        Ok(0.0)
    }
    fn sm_sizes(&self, _: DeviceId, _: Coscheduling) -> DriverResult<SmSizes> {
        Ok(SmSizes { total: 1, smallest: 1, step: 1 })
    }
    fn create_green_contexts(
        &self,
        _: DeviceId,
        _: Coscheduling,
        _: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        Ok(Vec::new())
    }
    unsafe fn destroy_event(&self, _: RawEvent) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn record_event(&self, _: RawEvent, _: RawStream) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn wait_event(&self, _: RawStream, _: RawEvent) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn query_event(&self, _: RawEvent) -> DriverResult<bool> {
        Ok(false)
    }
    unsafe fn synchronize_event(&self, _: RawEvent) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        _: MemorySource,
    ) -> DriverResult<MemoryRange> {
        if bytes == 13 {
            return Err(DriverError::OutOfMemory { device: stream.device(), requested: bytes });
        }
        Ok(MemoryRange { address: self.handle() * 0x1000, bytes })
    }
    unsafe fn wait_for_device(&self, _: RawStream) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn free(&self, _: RawStream, _: MemoryRange) -> DriverResult<()> {
        Ok(())
    }
    fn trim(&self, _: DeviceId, _: u64) -> DriverResult<()> {
        Ok(())
    }
    fn allocate_pinned(&self, _: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        Ok(MemoryRange { address: self.handle() * 0x1000, bytes })
    }
    unsafe fn free_pinned(&self, _: DeviceId, _: MemoryRange) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn copy(&self, _: RawStream, _: &CopyOp) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn fill(&self, _: RawStream, _: MemoryRange, _: u8) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn load_module(&self, device: DeviceId, _: &str, _: &Image) -> DriverResult<RawModule> {
        Ok(RawModule::new(device, self.handle()))
    }
    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        _: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        let function = RawFunction::new(device, self.handle());
        Ok(LoadedKernel { function, block_size: 1, max_block_size: 1 })
    }
    unsafe fn launch(&self, _: RawStream, _: &Launch<'_>) -> DriverResult<()> {
        Ok(())
    }
    unsafe fn launch_host_function(&self, _: RawStream, _: HostFunction) -> DriverResult<()> {
        self.host_calls.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    fn libraries(&self) -> &dyn Libraries {
        self
    }
}

// SAFETY: `call_library` queues nothing.
unsafe impl Libraries for Fake {
    unsafe fn call_library(&self, _: RawStream, _: &LibraryCall<'_>) -> DriverResult<()> {
        Ok(())
    }
}

const DEVICE: DeviceId = DeviceId(0);

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// Returns a part of `range`.
fn part(range: MemoryRange, offset: u64, bytes: u64) -> MemoryRange {
    MemoryRange { address: range.address + offset, bytes }
}

/// Makes each call of a driver once.
fn use_everything(driver: &dyn Driver) {
    let default = driver.default_stream(DEVICE);
    driver.bind(DEVICE).unwrap();
    let stream = driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
    let event = driver.create_event(DEVICE).unwrap();
    // SAFETY: the fake driver touches no memory and keeps no handle.
    let device = unsafe { driver.allocate(stream, 64, MemorySource::Unused) }.unwrap();
    let pinned = driver.allocate_pinned(DEVICE, 64).unwrap();
    let pageable = MemoryRange { address: 7, bytes: 64 };
    let image = Image(Vec::new());
    // SAFETY: the fake driver touches no memory and keeps no handle.
    let module = unsafe { driver.load_module(DEVICE, "m", &image) }.unwrap();
    let source = KernelSource { name: "k", entry: "k", host: None, code: Code::Module(module) };
    // SAFETY: the fake driver touches no memory and keeps no handle.
    let LoadedKernel { function, .. } = unsafe { driver.load_kernel(DEVICE, &source) }.unwrap();
    let accesses = [
        Access { range: part(device, 0, 8), mode: AccessMode::Read, argument: "a", rows: None },
        Access { range: part(device, 16, 48), mode: AccessMode::Write, argument: "b", rows: None },
    ];
    let launch = Launch {
        function,
        name: "k",
        grid: [2, 1, 1],
        block: [32, 1, 1],
        shared_bytes: 4,
        params: &[],
        accesses: &accesses,
        rows: &[],
    };
    let function = HostFunction { call: nothing, data: std::ptr::null_mut() };
    let upload =
        CopyOp { kind: CopyKind::PageableToDevice, target: device, source: pageable, rows: None };
    let download =
        CopyOp { kind: CopyKind::DeviceToPinned, target: pinned, source: device, rows: None };
    // SAFETY: the fake driver touches no memory and keeps no handle.
    unsafe {
        driver.copy(default, &upload).unwrap();
        driver.fill(stream, part(device, 8, 8), 0xAB).unwrap();
        driver.launch(stream, &launch).unwrap();
        driver.record_event(event, stream).unwrap();
        driver.wait_event(default, event).unwrap();
        driver.copy(stream, &download).unwrap();
        driver.launch_host_function(stream, function).unwrap();
        assert!(!driver.query_event(event).unwrap());
        driver.synchronize_event(event).unwrap();
        assert!(driver.query_stream(stream).unwrap());
        driver.synchronize_stream(stream).unwrap();
        driver.observer().recycle(stream, device).unwrap();
        driver.free(stream, device).unwrap();
        driver.free_pinned(DEVICE, pinned).unwrap();
        driver.trim(DEVICE, 0).unwrap();
        driver.destroy_event(event).unwrap();
        driver.destroy_stream(stream).unwrap();
    }
}

#[test]
fn every_call_is_one_stable_line() {
    let recorder = Recorder::new(Fake::new(16));
    use_everything(&recorder);
    let expected = "\
bind device 0
create stream 0 on device 0, non-blocking, priority 0
create event 0 on device 0
allocate buffer 0[0+64] on stream 0
allocate pinned 0[0+64] for device 0
load m on device 0
load kernel k on device 0
copy memory [64] to buffer 0[0+64] on default stream of device 0, blocking
fill buffer 0[8+8] with 0xab on stream 0
launch k on stream 0, 2x1x1 blocks of 32x1x1, 4 shared, reads a = buffer 0[0+8], writes b = buffer 0[16+48]
record event 0 on stream 0
wait on default stream of device 0 for event 0
copy buffer 0[0+64] to pinned 0[0+64] on stream 0
host function on stream 0
query event 0: not yet
synchronize event 0
query stream 0: complete
synchronize stream 0
recycle buffer 0[0+64] on stream 0
free buffer 0[0+64] on stream 0
free pinned 0[0+64] for device 0
trim device 0 to 0 bytes
destroy event 0
destroy stream 0
";
    assert_eq!(recorder.text(), expected);
}

#[test]
fn runs_with_other_handles_and_addresses_compare_equal() {
    let (a, b) = (Recorder::new(Fake::new(16)), Recorder::new(Fake::new(4096)));
    use_everything(&a);
    use_everything(&b);
    assert_eq!(a.calls(), b.calls());
    // In the second round, new objects get new numbers.
    use_everything(&b);
    assert_ne!(a.calls(), b.calls());
    assert_eq!(b.count(|call| matches!(call, Call::CreateEvent { event: 1, .. })), 1);
}

#[test]
fn calls_reach_the_driver_below() {
    let fake = Fake::new(16);
    let recorder = Recorder::new(fake.clone());
    use_everything(&recorder);
    recorder.pause();
    use_everything(&recorder);
    assert_eq!(fake.host_calls.load(Ordering::Relaxed), 2);
    assert_eq!(Driver::name(&recorder), "fake");
}

#[test]
fn a_pause_leaves_calls_out_and_keeps_the_numbers() {
    let recorder = Recorder::new(Fake::new(16));
    let driver: &dyn Driver = &recorder;
    recorder.pause();
    use_everything(driver);
    assert_eq!(recorder.calls(), []);
    recorder.resume();
    let stream = driver.create_stream(DEVICE, StreamOptions::default()).unwrap();
    // SAFETY: the fake driver touches no memory and keeps no handle.
    unsafe { driver.allocate(stream, 8, MemorySource::Unused) }.unwrap();
    let name = StreamLabel::Numbered(1);
    let place = RecordedRange::Device { buffer: 1, offset: 0, bytes: 8 };
    assert_eq!(recorder.calls().last(), Some(&Call::Allocate { stream: name, place }));
    assert_eq!(recorder.count(Call::changes_resources), 2);
    assert_eq!(recorder.count(|call| call.stream() == Some(name)), 2);
    recorder.clear();
    assert_eq!(recorder.text(), "");
}

#[test]
fn a_failed_call_is_in_the_log() {
    let recorder = Recorder::new(Fake::new(16));
    let driver: &dyn Driver = &recorder;
    let stream = driver.default_stream(DEVICE);
    // SAFETY: the fake driver touches no memory and keeps no handle.
    assert!(unsafe { driver.allocate(stream, 13, MemorySource::Unused) }.is_err());
    let text = recorder.text();
    assert!(text.starts_with("allocate failed: out of memory on device 0: 13 bytes"), "{text}");
    // The failed allocation was given no number, so the next one is buffer 0.
    // SAFETY: the fake driver touches no memory and keeps no handle.
    unsafe { driver.allocate(stream, 8, MemorySource::Unused) }.unwrap();
    assert!(recorder.text().contains("allocate buffer 0[0+8]"), "{}", recorder.text());
}

#[test]
fn a_new_allocation_replaces_earlier_ones_at_its_addresses() {
    let mut names = super::Names::default();
    let at = |address, bytes| MemoryRange { address, bytes };
    let buffer = |buffer, offset, bytes| RecordedRange::Device { buffer, offset, bytes };
    names.new_block(at(100, 10), false);
    names.new_block(at(110, 10), false);
    names.new_block(at(120, 10), false);
    // An empty allocation has no address.
    names.new_block(at(105, 0), false);
    assert_eq!(names.range_of(at(105, 5)), buffer(0, 5, 5));
    // The new block covers the end of the first block and the whole second block, and nothing of the third.
    names.new_block(at(108, 12), false);
    assert_eq!(names.range_of(at(100, 4)), RecordedRange::Other { bytes: 4 });
    assert_eq!(names.range_of(at(112, 8)), buffer(4, 4, 8));
    assert_eq!(names.range_of(at(120, 10)), buffer(2, 0, 10));
    // A range that reaches beyond the end of a block does not belong to that block.
    assert_eq!(names.range_of(at(125, 6)), RecordedRange::Other { bytes: 6 });
    assert_eq!(
        names.new_block(at(500, 1), true),
        RecordedRange::Pinned { buffer: 0, offset: 0, bytes: 1 }
    );
}
