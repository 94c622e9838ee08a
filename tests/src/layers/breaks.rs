//! A layer that breaks one clause of the driver's contract.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow_driver::driver::{
    CopyOp, Coscheduling, DeviceId, Driver, DriverResult, GreenContext, KernelSource, Launch,
    Layer, LoadedKernel, MemoryRange, MemorySource, Note, Observer, RawEvent, RawStream,
    StreamOptions,
};

/// A clause of the contract that [`Breaks`] can break. The variants have the contract's words.
#[allow(missing_docs, reason = "each name is the clause")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clause {
    MemoryHasTheSize,
    MemoryIsAligned,
    MemoryIsReal,
    MemoryHasOneOwner,
    PinnedHasTheSize,
    FreeFrees,
    FreeFreesOnce,
    FillFills,
    CopyCopiesAllBytes,
    CopyIsOnItsStream,
    LaunchLaunches,
    LaunchIsOnItsStream,
    StreamIsOfTheDevice,
    StreamIsNotTheDefault,
    StreamHasOneOwner,
    DefaultStreamIsOfTheDevice,
    DeviceOfStreamExists,
    EventIsOfTheDevice,
    EventHasTiming,
    ElapsedIsATime,
    KernelIsOfTheDevice,
    BlocksHaveThreads,
    TrimTrims,
    AGreenContextForEachSize,
    BindBinds,
    DeviceCountStays,
    ObserverIsOfTheDriverBelow,
    NextIsOfTheDriverBelow,
    ObserversHaveAnEnd,
    NotesArePassed,
    RecyclingIsPassed,
    AdoptionIsPassed,
}

/// A layer that keeps the contract except for one clause, which it breaks in each call that the clause is about. Only for
/// a simulator with two devices, and for programs with kernels that compute numbers from numbers.
#[derive(Debug)]
pub struct Breaks {
    below: Arc<dyn Driver>,
    clause: Option<Clause>,
    times: AtomicUsize,
    /// The objects that were made first. A clause about new objects is broken by returning these again.
    first: Mutex<First>,
}

#[derive(Debug, Default)]
struct First {
    memory: Option<MemoryRange>,
    stream: Option<RawStream>,
}

impl Breaks {
    /// Creates the layer above a driver. It breaks the given clause, or none.
    pub fn new(below: Arc<dyn Driver>, clause: Option<Clause>) -> Self {
        Self { below, clause, times: AtomicUsize::new(0), first: Mutex::default() }
    }

    /// How often the clause was broken.
    pub fn times(&self) -> usize {
        self.times.load(Ordering::Relaxed)
    }

    /// Whether to break the clause in this call. Also counts the call.
    fn breaks(&self, clause: Clause) -> bool {
        let breaks = self.clause == Some(clause);
        if breaks {
            self.times.fetch_add(1, Ordering::Relaxed);
        }
        breaks
    }

    fn first(&self) -> MutexGuard<'_, First> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the other one of the two devices.
    fn other(device: DeviceId) -> DeviceId {
        streamflow::device(1 - device.index() as u32)
    }

    /// Returns a stream of this layer on which misplaced work is queued.
    fn elsewhere(&self, stream: RawStream) -> DriverResult<RawStream> {
        let known = self.first().stream;
        if let Some(known) = known {
            return Ok(known);
        }
        let made = self.below.create_stream(stream.device(), StreamOptions::default())?;
        Ok(*self.first().stream.insert(made))
    }
}

// In all comments below, the caller's contract is that of the same method of `Driver`. SAFETY: this layer breaks a
// driver's promises on purpose, above a simulator, for programs that compute numbers from numbers. Memory with a wrong
// size or place is refused before anything touches it; the tests are about this refusal.
unsafe impl Layer for Breaks {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn device_count(&self) -> usize {
        let count = self.below.device_count();
        let less = if self.breaks(Clause::DeviceCountStays) { self.times() - 1 } else { 0 };
        count.saturating_sub(less)
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        if self.breaks(Clause::BindBinds) { Ok(()) } else { self.below.bind(device) }
    }

    fn default_stream(&self, device: DeviceId) -> RawStream {
        let wrong = self.breaks(Clause::DefaultStreamIsOfTheDevice);
        self.below.default_stream(if wrong { Self::other(device) } else { device })
    }

    unsafe fn device_of_stream(&self, handle: u64) -> DriverResult<DeviceId> {
        if self.breaks(Clause::DeviceOfStreamExists) {
            return Ok(streamflow::device(7));
        }
        pass!([unsafe] self.below.device_of_stream(handle))
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        if self.breaks(Clause::StreamIsNotTheDefault) {
            return Ok(self.below.default_stream(device));
        }
        if self.breaks(Clause::StreamIsOfTheDevice) {
            self.below.bind(Self::other(device))?;
            return self.below.create_stream(Self::other(device), options);
        }
        if self.breaks(Clause::StreamHasOneOwner)
            && let Some(stream) = self.first().stream.filter(|known| known.device() == device)
        {
            return Ok(stream);
        }
        let stream = self.below.create_stream(device, options)?;
        if self.clause == Some(Clause::StreamHasOneOwner) {
            self.first().stream.get_or_insert(stream);
        }
        Ok(stream)
    }

    fn create_green_contexts(
        &self,
        device: DeviceId,
        coscheduling: Coscheduling,
        sizes: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        let mut made = self.below.create_green_contexts(device, coscheduling, sizes)?;
        if self.breaks(Clause::AGreenContextForEachSize) {
            made.truncate(sizes.len() - 1);
        }
        Ok(made)
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        if self.breaks(Clause::EventIsOfTheDevice) {
            self.below.bind(Self::other(device))?;
            return self.below.create_event(Self::other(device));
        }
        self.below.create_event(device)
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        if self.breaks(Clause::EventHasTiming) {
            return self.below.create_event(device);
        }
        self.below.create_timing_event(device)
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> DriverResult<f64> {
        if self.breaks(Clause::ElapsedIsATime) {
            return Ok(f64::NAN);
        }
        pass!([unsafe] self.below.elapsed(start, end))
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        if self.breaks(Clause::MemoryHasOneOwner)
            && let Some(memory) = self.first().memory.filter(|known| known.bytes == bytes)
        {
            return Ok(memory);
        }
        // SAFETY: the caller keeps the contract of this method.
        let range = unsafe { self.below.allocate(stream, bytes, source) }?;
        self.first().memory.get_or_insert(range);
        Ok(match self.clause {
            Some(clause @ Clause::MemoryHasTheSize) if self.breaks(clause) => {
                MemoryRange { bytes: bytes / 2, ..range }
            }
            Some(clause @ Clause::MemoryIsAligned) if self.breaks(clause) => {
                MemoryRange { address: range.address + 4, ..range }
            }
            Some(clause @ Clause::MemoryIsReal) if self.breaks(clause) => {
                MemoryRange { address: 0, ..range }
            }
            _ => range,
        })
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        if self.breaks(Clause::FreeFrees) {
            return Ok(());
        }
        if self.breaks(Clause::FreeFreesOnce) {
            // SAFETY: the caller keeps the contract of this method.
            unsafe { self.below.free(stream, range) }?;
        }
        pass!([unsafe] self.below.free(stream, range))
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        let range = self.below.allocate_pinned(device, bytes)?;
        let wrong = self.breaks(Clause::PinnedHasTheSize);
        Ok(MemoryRange { bytes: if wrong { bytes / 2 } else { bytes }, ..range })
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        let (mut stream, mut copy) = (stream, *copy);
        if self.breaks(Clause::CopyCopiesAllBytes) {
            copy.source.bytes /= 2;
            copy.target.bytes /= 2;
        }
        // Without notes, the report of the resulting race names no operator.
        if self.breaks(Clause::CopyIsOnItsStream) || self.clause == Some(Clause::NotesArePassed) {
            stream = self.elsewhere(stream)?;
        }
        pass!([unsafe] self.below.copy(stream, &copy))
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        if self.breaks(Clause::FillFills) {
            return Ok(());
        }
        pass!([unsafe] self.below.fill(stream, range, byte))
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        if self.breaks(Clause::LaunchLaunches) {
            return Ok(());
        }
        let elsewhere = self.breaks(Clause::LaunchIsOnItsStream);
        let stream = if elsewhere { self.elsewhere(stream)? } else { stream };
        pass!([unsafe] self.below.launch(stream, launch))
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        if self.breaks(Clause::KernelIsOfTheDevice) {
            self.below.bind(Self::other(device))?;
            // SAFETY: the caller keeps the contract of this method, and the images of a source are valid for any device.
            return unsafe { self.below.load_kernel(Self::other(device), source) };
        }
        // SAFETY: the caller's contract.
        let loaded = unsafe { self.below.load_kernel(device, source) }?;
        let wrong = self.breaks(Clause::BlocksHaveThreads);
        Ok(LoadedKernel { block_size: if wrong { 0 } else { loaded.block_size }, ..loaded })
    }

    fn trim(&self, device: DeviceId, keep: u64) -> DriverResult<()> {
        if self.breaks(Clause::TrimTrims) { Ok(()) } else { self.below.trim(device, keep) }
    }

    fn observer(&self) -> &dyn Observer {
        match self.clause {
            Some(clause @ Clause::ObserverIsOfTheDriverBelow) if self.breaks(clause) => &(),
            Some(
                Clause::NextIsOfTheDriverBelow
                | Clause::ObserversHaveAnEnd
                | Clause::NotesArePassed
                | Clause::RecyclingIsPassed
                | Clause::AdoptionIsPassed,
            ) => self,
            _ => self.below.observer(),
        }
    }
}

impl Observer for Breaks {
    fn next(&self) -> Option<&dyn Observer> {
        if self.breaks(Clause::ObserversHaveAnEnd) {
            return Some(self);
        }
        let none = self.breaks(Clause::NextIsOfTheDriverBelow);
        (!none).then(|| self.below.observer())
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        if self.breaks(Clause::RecyclingIsPassed) {
            return Ok(());
        }
        pass!([unsafe] self.below.observer().recycle(stream, range))
    }

    unsafe fn adopt(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        if self.breaks(Clause::AdoptionIsPassed) {
            return Ok(());
        }
        pass!([unsafe] self.below.observer().adopt(device, range))
    }

    unsafe fn observe(&self, note: &Note<'_>) {
        if !self.breaks(Clause::NotesArePassed) {
            // SAFETY: the caller's contract.
            unsafe { self.below.observer().observe(note) };
        }
    }
}
