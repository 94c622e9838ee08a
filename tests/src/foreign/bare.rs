//! Raw streams, events and memory of a driver. Nothing orders them except the calls that the test makes.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use streamflow::__private::KernelInfo;
use streamflow::device;
use streamflow::driver::race::RaceReports;
use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow::stream::StreamFlags;
use streamflow_driver::driver::race::RaceChecker;
use streamflow_driver::driver::{
    Access, AccessMode, Code, CopyKind, CopyOp, CopyRows, DriverResult, HostFunction, KernelSource,
    Launch, MemoryRange, MemorySource, Note, Param, RawEvent, RawFunction, StreamOptions,
};

/// The size of each allocation.
pub const BYTES: u64 = 4096;

/// A device without streamflow's runtime, with or without a race checker. Dropping this value waits for all work and
/// frees everything that it made.
#[derive(Debug)]
pub struct Bare {
    driver: Arc<dyn Driver>,
    streams: RefCell<Vec<RawStream>>,
    events: RefCell<Vec<RawEvent>>,
    memory: RefCell<Vec<MemoryRange>>,
    pinned: RefCell<Vec<MemoryRange>>,
    /// For each stream, the memory to which [`read`](Self::read) copies.
    scratch: RefCell<Vec<(RawStream, MemoryRange)>>,
}

impl Bare {
    /// Uses device 0 of a driver, with a race checker of its own. The methods fail with the driver's errors.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn new(driver: Arc<dyn Driver>) -> DriverResult<Self> {
        Self::unwatched(Arc::new(RaceChecker::new(driver)))
    }

    /// Uses device 0 of a driver, without a race checker.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn unwatched(driver: Arc<dyn Driver>) -> DriverResult<Self> {
        Driver::bind(&*driver, device(0))?;
        Ok(Self {
            driver,
            streams: RefCell::default(),
            events: RefCell::default(),
            memory: RefCell::default(),
            pinned: RefCell::default(),
            scratch: RefCell::default(),
        })
    }

    /// Returns the driver, for use on another thread.
    pub fn driver(&self) -> Arc<dyn Driver> {
        self.driver.clone()
    }

    /// Returns the races found since the last call.
    pub fn races(&self) -> RaceReports {
        self.driver.observer().take_races()
    }

    /// Makes a stream, and memory to which its reads copy.
    pub fn stream(&self, flags: StreamFlags) -> DriverResult<RawStream> {
        let options = StreamOptions { flags, ..StreamOptions::default() };
        let stream = self.driver.create_stream(device(0), options)?;
        self.streams.borrow_mut().push(stream);
        self.add_scratch(stream)?;
        Ok(stream)
    }

    /// Returns the legacy default stream.
    pub fn default_stream(&self) -> DriverResult<RawStream> {
        let stream = self.driver.default_stream(device(0));
        self.add_scratch(stream)?;
        Ok(stream)
    }

    fn add_scratch(&self, stream: RawStream) -> DriverResult<()> {
        let scratch = self.allocate(stream)?;
        self.scratch.borrow_mut().push((stream, scratch));
        Ok(())
    }

    /// Makes an event.
    pub fn event(&self) -> DriverResult<RawEvent> {
        let event = self.driver.create_event(device(0))?;
        self.events.borrow_mut().push(event);
        Ok(event)
    }

    /// Allocates [`BYTES`] of device memory, first used on `stream`.
    pub fn allocate(&self, stream: RawStream) -> DriverResult<MemoryRange> {
        // SAFETY: this value owns the stream.
        let range = unsafe { self.driver.allocate(stream, BYTES, MemorySource::Unused) }?;
        self.memory.borrow_mut().push(range);
        Ok(range)
    }

    /// Allocates [`BYTES`] of page-locked memory.
    pub fn allocate_pinned(&self) -> DriverResult<MemoryRange> {
        let range = self.driver.allocate_pinned(device(0), BYTES)?;
        self.pinned.borrow_mut().push(range);
        Ok(range)
    }

    /// Queues a write of memory.
    pub fn write(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: this value owns the memory and frees it last. The memory has plain bytes, so a race makes only wrong
        // data.
        unsafe { self.driver.fill(stream, range, 1) }
    }

    /// Queues a read of memory.
    pub fn read(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let scratch = self.scratch.borrow();
        let target = scratch.iter().find(|(of, _)| *of == stream).map(|(_, range)| *range);
        let Some(target) = target else { return Ok(()) };
        self.copy(CopyKind::DeviceToDevice, stream, range, target)
    }

    /// Copies `source` to the first bytes of `target`.
    pub fn copy(
        &self,
        kind: CopyKind,
        stream: RawStream,
        source: MemoryRange,
        target: MemoryRange,
    ) -> DriverResult<()> {
        let target = MemoryRange { bytes: source.bytes, ..target };
        // SAFETY: this value owns the device memory and frees it last, and a race makes only wrong data. Copies of
        // pageable memory block, so that memory outlives them.
        unsafe { self.driver.copy(stream, &CopyOp { kind, target, source, rows: None }) }
    }

    /// Copies rows within the device. `source` and `target` begin with the first row.
    pub fn copy_rows(
        &self,
        stream: RawStream,
        source: MemoryRange,
        target: MemoryRange,
        rows: CopyRows,
    ) -> DriverResult<()> {
        let span = |pitch| (rows.count - 1) * pitch + rows.bytes;
        let copy = CopyOp {
            kind: CopyKind::DeviceToDevice,
            target: MemoryRange { bytes: span(rows.target_pitch), ..target },
            source: MemoryRange { bytes: span(rows.source_pitch), ..source },
            rows: Some(rows),
        };
        // SAFETY: this value owns the memory and frees it last. The memory has plain bytes, so a race makes only wrong
        // data.
        unsafe { self.driver.copy(stream, &copy) }
    }

    /// Copies to or from new pageable memory.
    pub fn copy_pageable(
        &self,
        kind: CopyKind,
        stream: RawStream,
        range: MemoryRange,
    ) -> DriverResult<()> {
        let mut memory = vec![0_u8; range.bytes as usize];
        let host = MemoryRange { address: memory.as_mut_ptr() as u64, bytes: range.bytes };
        match kind {
            CopyKind::PageableToDevice => self.copy(kind, stream, host, range),
            _ => self.copy(kind, stream, range, host),
        }
    }

    /// Loads the host body of a kernel, for a driver that runs host bodies.
    pub fn kernel(&self, info: &KernelInfo) -> DriverResult<RawFunction> {
        let no_image = |_| {
            let message = "the kernel has only a host body".to_owned();
            Err(DriverError::Kernel { kernel: info.name.to_owned(), message })
        };
        let (name, host) = (info.name, Some(info.host));
        let source = KernelSource { name, entry: info.entry, host, code: Code::Image(&no_image) };
        // SAFETY: the kernel has no image.
        Ok(unsafe { self.driver.load_kernel(device(0), &source) }?.function)
    }

    /// Launches a kernel on one thread.
    pub fn launch(
        &self,
        stream: RawStream,
        kernel: (RawFunction, &str),
        params: &[Param],
        accesses: &[Access],
    ) -> DriverResult<()> {
        let (function, name) = kernel;
        let (grid, block) = ([1; 3], [1; 3]);
        let launch =
            Launch { function, name, grid, block, shared_bytes: 0, params, accesses, rows: &[] };
        // SAFETY: the benchmark passes the kernel's parameters, with memory of this value.
        unsafe { self.driver.launch(stream, &launch) }
    }

    /// Tells the observer that a new owner on this stream gets the memory.
    pub fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: this value owns the memory and frees it last. The memory has plain bytes, so a race makes only wrong
        // data.
        unsafe { self.driver.observer().recycle(stream, range) }
    }

    /// Frees memory in the order of a stream.
    pub fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.memory.borrow_mut().retain(|owned| *owned != range);
        // SAFETY: this value owned the memory and has removed it from its list. If a use is not ordered before the free,
        // it touches memory that the simulator and CUDA's pool keep.
        unsafe { self.driver.free(stream, range) }
    }

    /// Records an event.
    pub fn record(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        // SAFETY: this value owns the stream and the event.
        unsafe { self.driver.record_event(event, stream) }
    }

    /// Makes a stream wait for an event.
    pub fn wait(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        // SAFETY: this value owns the stream and the event.
        unsafe { self.driver.wait_event(stream, event) }
    }

    /// Makes `to` wait for all work on `from` if `really` is true. Otherwise does nothing.
    pub fn order(&self, from: RawStream, to: RawStream, really: bool) -> DriverResult<()> {
        if really {
            let event = self.event()?;
            self.record(event, from)?;
            self.wait(to, event)?;
        }
        Ok(())
    }

    /// Blocks until an event is complete.
    pub fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        // SAFETY: this value owns the event.
        unsafe { self.driver.synchronize_event(event) }
    }

    /// Blocks until a stream is idle.
    pub fn synchronize(&self, stream: RawStream) -> DriverResult<()> {
        // SAFETY: this value owns the stream.
        unsafe { self.driver.synchronize_stream(stream) }
    }

    /// Whether an event is complete.
    pub fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        // SAFETY: this value owns the event.
        unsafe { self.driver.query_event(event) }
    }

    /// Whether a stream is idle.
    pub fn query(&self, stream: RawStream) -> DriverResult<bool> {
        // SAFETY: this value owns the stream.
        unsafe { self.driver.query_stream(stream) }
    }

    /// Queues a host function. Returns whether it has been called already.
    pub fn host_function(&self, stream: RawStream) -> DriverResult<bool> {
        host_function(&*self.driver, stream)
    }

    /// Sends the note that the calling thread, or the stream `by`, relies on a query that found work of the stream `on`
    /// complete: the work before the record that the event holds, or all work so far.
    pub fn relies(&self, on: RawStream, record: Option<RawEvent>, by: Option<RawStream>) {
        // SAFETY: only the race checker gets the note, and the test decides whether it is true.
        unsafe { self.driver.observer().observe(&Note::Relies { on, record, by }) };
    }

    /// Destroys a stream. A test may go on to use its handle.
    pub fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        let mut streams = self.streams.borrow_mut();
        if let Some(index) = streams.iter().position(|owned| *owned == stream) {
            streams.remove(index);
        }
        // SAFETY: this value made the stream. A second call with the handle is refused by the simulator or by a layer of
        // the tests.
        unsafe { self.driver.destroy_stream(stream) }
    }

    /// Destroys an event. A test may go on to use its handle.
    pub fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        self.events.borrow_mut().retain(|owned| *owned != event);
        // SAFETY: this value made the event. A second call with the handle is refused by the simulator or by a layer of
        // the tests.
        unsafe { self.driver.destroy_event(event) }
    }

    /// Sends the note that work on a stream gets the address of memory.
    #[track_caller]
    pub fn address(&self, stream: RawStream, range: MemoryRange, mode: AccessMode) {
        let location = Location::caller();
        let note = Note::ForeignAccess { stream, range, rows: None, mode, location };
        // SAFETY: only the race checker gets the note, and the test decides whether it is true.
        unsafe { self.driver.observer().observe(&note) };
    }

    /// Tells the observer that the runtime adopts memory of other code.
    pub fn adopt(&self, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: this value owns the memory and frees it last, and the caller disowns it before.
        unsafe { self.driver.observer().adopt(device(0), range) }
    }

    /// Tells the observer that memory goes back to other code, in the order of a stream.
    pub fn disown(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: this value owns the stream and frees the memory last.
        unsafe { self.driver.observer().disown(stream, range) }
    }

    /// Frees page-locked memory.
    pub fn free_pinned(&self, range: MemoryRange) -> DriverResult<()> {
        self.pinned.borrow_mut().retain(|owned| *owned != range);
        // SAFETY: this value owned the memory and has removed it from its list; no queued work uses it.
        unsafe { self.driver.free_pinned(device(0), range) }
    }

    /// Sends the note that the host accesses memory, as the library's guards do.
    #[track_caller]
    pub fn host(&self, range: MemoryRange, mode: AccessMode) {
        let note = Note::HostAccess { range, mode, location: Location::caller() };
        // SAFETY: only the race checker gets the note, and the test decides whether it is true.
        unsafe { self.driver.observer().observe(&note) };
    }
}

/// Queues a host function. Returns whether it has been called already.
///
/// # Errors
/// Those of the driver.
pub fn host_function(driver: &dyn Driver, stream: RawStream) -> DriverResult<bool> {
    unsafe extern "C" fn call(called: *mut c_void) {
        // SAFETY: the pointer is from `Arc::into_raw`, and the function is called once.
        let called = unsafe { Arc::from_raw(called.cast::<AtomicBool>()) };
        called.store(true, Ordering::Release);
    }
    let called = Arc::new(AtomicBool::new(false));
    let data = Arc::into_raw(called.clone()).cast_mut().cast();
    let function = HostFunction { call, data };
    // SAFETY: the data is valid until the function is called. The function makes no CUDA calls and does not unwind.
    unsafe { driver.launch_host_function(stream, function) }?;
    Ok(called.load(Ordering::Acquire))
}

impl Drop for Bare {
    fn drop(&mut self) {
        let mut done = Ok(());
        for stream in self.streams.get_mut().iter().copied() {
            // SAFETY: this value owns its streams, events and memory, and frees each once, when all are idle.
            done = done.and(unsafe { self.driver.synchronize_stream(stream) });
        }
        let default = self.driver.default_stream(device(0));
        for range in self.memory.get_mut().drain(..) {
            // SAFETY: this value owns its streams, events and memory, and frees each once, when all are idle.
            done = done.and(unsafe { self.driver.free(default, range) });
        }
        // SAFETY: this value owns its streams, events and memory, and frees each once, when all are idle.
        done = done.and(unsafe { self.driver.synchronize_stream(default) });
        for range in self.pinned.get_mut().drain(..) {
            // SAFETY: this value owns its streams, events and memory, and frees each once, when all are idle.
            done = done.and(unsafe { self.driver.free_pinned(device(0), range) });
        }
        for event in self.events.get_mut().drain(..) {
            // SAFETY: this value owns its streams, events and memory, and frees each once, when all are idle.
            done = done.and(unsafe { self.driver.destroy_event(event) });
        }
        for stream in self.streams.get_mut().drain(..) {
            // SAFETY: this value owns its streams, events and memory, and frees each once, when all are idle.
            done = done.and(unsafe { self.driver.destroy_stream(stream) });
        }
        if !std::thread::panicking() {
            assert!(done.is_ok(), "freeing failed: {done:?}");
        }
    }
}

/// Returns the bytes `from..to` of a range.
pub fn part(range: MemoryRange, from: u64, to: u64) -> MemoryRange {
    MemoryRange { address: range.address + from, bytes: to - from }
}
