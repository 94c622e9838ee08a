//! Models (loom tests) of the race checker. They check the numbered invariants of
//! `crates/streamflow-driver/src/driver/race/README.md`.

pub(crate) mod sequences;
pub(crate) mod threads;

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use super::device::Device;
use super::race::RaceChecker;
use super::{
    Access, AccessMode, DeviceId, Driver, HostFunction, Launch, MemoryRange, MemorySource, Note,
    RaceReports, RawEvent, RawFunction, RawStream, StreamOptions,
};

pub(crate) const DEVICE: DeviceId = DeviceId(0);

/// A race checker above a driver that knows the real order of all work.
#[derive(Clone)]
pub(crate) struct Checked {
    device: Arc<Device>,
    driver: Arc<RaceChecker>,
}

impl Checked {
    fn new() -> Self {
        let device = Device::new(true);
        let driver = Arc::new(RaceChecker::new(device.clone()));
        Self { device, driver }
    }

    fn stream(&self) -> RawStream {
        Driver::create_stream(&*self.driver, DEVICE, StreamOptions::default()).unwrap()
    }

    fn event(&self) -> RawEvent {
        Driver::create_event(&*self.driver, DEVICE).unwrap()
    }

    fn allocate(&self, stream: RawStream) -> MemoryRange {
        // SAFETY: the driver of the models checks its objects itself: it refuses or reports every object that is not
        // live.
        unsafe { Driver::allocate(&*self.driver, stream, 64, MemorySource::Unused) }.unwrap()
    }

    fn free(&self, stream: RawStream, memory: MemoryRange) {
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::free(&*self.driver, stream, memory) }.unwrap();
    }

    /// Queues a write of memory. Returns whether the driver accepted the call.
    fn write(&self, stream: RawStream, memory: MemoryRange) -> bool {
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::fill(&*self.driver, stream, memory, 0) }.is_ok()
    }

    fn read(&self, stream: RawStream, memory: MemoryRange) -> bool {
        self.launch(stream, memory, AccessMode::Read)
    }

    fn launch(&self, stream: RawStream, range: MemoryRange, mode: AccessMode) -> bool {
        let launch = Launch {
            function: RawFunction::new(DEVICE, 1),
            name: "model",
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: &[],
            accesses: &[Access { range, mode, argument: "it", rows: None }],
            rows: &[],
        };
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::launch(&*self.driver, stream, &launch) }.is_ok()
    }

    fn record(&self, event: RawEvent, stream: RawStream) -> bool {
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::record_event(&*self.driver, event, stream) }.is_ok()
    }

    fn wait(&self, stream: RawStream, event: RawEvent) {
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::wait_event(&*self.driver, stream, event) }.unwrap();
    }

    fn destroy(&self, event: RawEvent) {
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::destroy_event(&*self.driver, event) }.unwrap();
    }

    fn synchronize(&self, stream: RawStream) {
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::synchronize_stream(&*self.driver, stream) }.unwrap();
    }

    fn query(&self, event: RawEvent) -> bool {
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::query_event(&*self.driver, event) }.unwrap()
    }

    /// Queues a host function that does nothing.
    fn call_host(&self, stream: RawStream) {
        unsafe extern "C" fn call(_: *mut c_void) {}
        let function = HostFunction { call, data: ptr::null_mut() };
        // SAFETY: the driver refuses or reports objects that are not live.
        unsafe { Driver::launch_host_function(&*self.driver, stream, function) }.unwrap();
    }

    fn observe(&self, note: &Note<'_>) {
        // SAFETY: a false note is no undefined behaviour here: the models' driver touches no real memory.
        unsafe { Driver::observer(&*self.driver).observe(note) };
    }

    fn take(&self) -> RaceReports {
        Driver::observer(&*self.driver).take_races()
    }

    /// Checks that the checker has reported the race if this interleaving has a race.
    fn assert_no_miss(&self) {
        let reports = self.take();
        let wrong = self.device.wrong();
        assert!(wrong.is_empty() || !reports.is_empty(), "a race is missed: {}", wrong[0]);
    }

    /// Checks that this interleaving has no race, and that the checker reports none.
    fn assert_right(&self) {
        self.device.check();
        let reports = self.take();
        assert!(reports.is_empty(), "a false report: {reports}");
    }

    /// Checks that this interleaving has a race, and that the checker reports the race.
    fn assert_wrong(&self) {
        assert!(!self.device.wrong().is_empty(), "the program is right");
        self.assert_no_miss();
    }
}
