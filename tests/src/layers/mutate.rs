//! A layer that drops one dependency of a graph: a driver call by which the runtime orders work.
//!
//! The runtime orders work with waits, records, deferred frees, and waits and queries of the host. Each of these calls is
//! a
//! [`Dependency`], named by its place in the graph, so that it has the same name in each tick and each run. The layer
//! lists the dependencies, and drops one of them. It lies above a race checker and below the runtime: the checker sees
//! only executed calls, and the runtime assumes that its dependency is in effect.

mod declared;
mod dependency;
mod host;
mod log;
mod numbers;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow::driver::race::RaceReports;
use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::AccessMode::{Read, Write};
use streamflow_driver::driver::race::RaceMark;
use streamflow_driver::driver::{
    CopyOp, DriverResult, Launch, Layer, Libraries, LibraryCall, MemoryRange, MemorySource, Note,
    Observer, RawEvent, StreamOptions,
};

pub use declared::{
    AddOne, Axpy, Claim, Declaration, Fill, Misdeclared, SlowCopy, declarations, leave_claim_out,
};
pub use dependency::{Dependency, DependencyKind};
use dependency::{Names, Visit};
use host::Threads;
pub use log::{Access, Log, LogStep};
pub use numbers::Dropped;
use numbers::Numbers;

/// A layer that lists the dependencies, and drops one of them. See the [module](self).
pub struct Mutate {
    below: Arc<dyn Driver>,
    dropped: Option<Dependency>,
    /// Whether the layer hides the races that a checker below has found.
    quiet: bool,
    /// Whether the layer accepts notes.
    watches: bool,
    /// Whether the run has ended. Then every call passes, and no dependency is listed.
    ended: AtomicBool,
    declared: Arc<Mutex<declared::OfRun>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    threads: Threads,
    /// For each host thread, the place that it visits now.
    visits: HashMap<usize, Visit>,
    names: Names,
    dependencies: BTreeSet<Dependency>,
    log: Log,
    /// The streams that have waited for an event since the last free on them.
    waited: HashSet<RawStream>,
    /// For each device, a stream that never waits, so that a free on it is not deferred.
    no_wait_streams: HashMap<DeviceId, RawStream>,
    numbers: Numbers,
}

impl fmt::Debug for Mutate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutate").field("dropped", &self.dropped).finish_non_exhaustive()
    }
}

impl State {
    fn visit(&mut self) -> &mut Visit {
        self.visits.entry(self.threads.number()).or_default()
    }

    fn push(&mut self, step: LogStep) {
        self.log.push(self.threads.number(), step);
    }
}

impl Mutate {
    /// Creates a layer that drops `dependency` in every tick.
    pub fn new(below: Arc<dyn Driver>, dependency: Option<Dependency>) -> Self {
        let mut state = State::default();
        for device in (0..below.device_count() as u32).map(streamflow::device) {
            let name = format!("the default stream of {device}");
            state.names.name_stream(below.default_stream(device), &name);
            state.log.add_stream(below.default_stream(device));
        }
        let (ended, state) = (AtomicBool::new(false), Mutex::new(state));
        let declared = declared::of_run();
        Self { below, dropped: dependency, quiet: false, watches: true, ended, declared, state }
    }

    /// Makes the layer hide the races that a checker below finds.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// Makes the layer accept no notes, so that the runtime acts as without a checker. The layer then drops the same
    /// dependencies that an earlier run has dropped, by number.
    #[must_use]
    pub fn unwatched(mut self, dropped: &Dropped) -> Self {
        self.watches = false;
        self.lock().numbers = Numbers::repeat(dropped.dependencies.clone());
        declared::repeat(&self.declared, dropped.declarations.clone());
        self
    }

    /// Ends the run. All work is complete, and later calls only free things.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Returns the dependencies listed so far.
    pub fn dependencies(&self) -> BTreeSet<Dependency> {
        self.lock().dependencies.clone()
    }

    /// Returns how often the dependency was dropped. A run that never dropped it proves nothing.
    pub fn times(&self) -> u64 {
        self.lock().numbers.dropped().len() as u64
    }

    /// Returns the dropped calls and declarations, by number.
    pub fn dropped(&self) -> Dropped {
        let dependencies = self.lock().numbers.dropped().to_vec();
        Dropped { dependencies, declarations: declared::dropped(&self.declared) }
    }

    /// Removes and returns the log of the steps.
    pub fn take_log(&self) -> Log {
        std::mem::take(&mut self.lock().log)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state, or `None` after the end of the run.
    fn running(&self) -> Option<MutexGuard<'_, State>> {
        (!self.ended.load(Ordering::Relaxed)).then(|| self.lock())
    }

    /// Logs a step, unless the run has ended. A call is logged after it was made. In a test whose threads take turns, the
    /// turn passes to another thread only before the simulator makes a call, and never between a call and its log line. So the
    /// log has the calls of all threads in their order.
    fn log_step(&self, step: impl FnOnce(&mut Log) -> LogStep) {
        if let Some(mut state) = self.running() {
            let step = step(&mut state.log);
            state.push(step);
        }
    }

    /// Lists a dependency. Returns whether to drop it.
    fn drops(&self, state: &mut State, dependency: Dependency) -> bool {
        let drops = state.numbers.drops(self.dropped.as_ref() == Some(&dependency));
        state.dependencies.insert(dependency);
        drops
    }

    /// Returns a stream of this layer that never waits.
    fn no_wait_stream(&self, device: DeviceId) -> DriverResult<RawStream> {
        if let Some(stream) = self.lock().no_wait_streams.get(&device) {
            return Ok(*stream);
        }
        let stream = self.below.create_stream(device, StreamOptions::default())?;
        self.lock().no_wait_streams.insert(device, stream);
        Ok(stream)
    }
}

impl Drop for Mutate {
    fn drop(&mut self) {
        for stream in std::mem::take(&mut self.lock().no_wait_streams).into_values() {
            // SAFETY: the stream is from this driver, and only this layer has used it.
            let _done = unsafe { self.below.destroy_stream(stream) };
        }
    }
}

// In all comments below, the caller's contract is that of the same method of `Driver`. SAFETY: this layer breaks a
// driver's promises on purpose: work of streams races, since their waits are dropped. As for `DropWaits`, the kernels of
// its programs compute numbers from numbers. The programs run on the simulator, which executes one operation at a time
// and keeps freed memory.
unsafe impl Layer for Mutate {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let stream = self.below.create_stream(device, options)?;
        self.lock().log.add_stream(stream);
        Ok(stream)
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        let mut dropped = false;
        if let Some(mut state) = self.running() {
            let on = state.names.stream(stream);
            let dependency = state.visit().dependency(DependencyKind::Record, on, None);
            dropped = self.drops(&mut state, dependency);
        }
        if !dropped {
            // SAFETY: the caller's contract.
            unsafe { self.below.record_event(event, stream) }?;
        }
        if let Some(mut state) = self.running() {
            state.names.recorded(event, stream);
            state.push(LogStep::Record { event, stream, dropped });
        }
        Ok(())
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        let mut dropped = false;
        if let Some(mut state) = self.running() {
            state.waited.insert(stream);
            let (waiting, on) = (state.names.stream(stream), state.names.event(event));
            let dependency = state.visit().dependency(DependencyKind::Wait, waiting, Some(on));
            dropped = self.drops(&mut state, dependency);
        }
        if !dropped {
            // SAFETY: the caller's contract.
            unsafe { self.below.wait_event(stream, event) }?;
        }
        self.log_step(|_| LogStep::Wait { event, stream, dropped });
        Ok(())
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        // SAFETY: the caller's contract.
        let complete = unsafe { self.below.query_event(event) }?;
        let label = |names: &Names| names.event(event);
        Ok(self
            .reports_complete(complete, label, |dropped| LogStep::EventComplete { event, dropped }))
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        let label = |names: &Names| names.event(event);
        // SAFETY: the caller's contract.
        let wait = || unsafe { self.below.synchronize_event(event) };
        self.host_wait(label, wait, |dropped| LogStep::EventComplete { event, dropped })
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        // SAFETY: the caller's contract.
        let complete = unsafe { self.below.query_stream(stream) }?;
        let label = |names: &Names| names.stream(stream);
        Ok(self.reports_complete(complete, label, |dropped| LogStep::StreamComplete {
            stream,
            dropped,
        }))
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        let label = |names: &Names| names.stream(stream);
        // SAFETY: the caller's contract.
        let wait = || unsafe { self.below.synchronize_stream(stream) };
        self.host_wait(label, wait, |dropped| LogStep::StreamComplete { stream, dropped })
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        // SAFETY: the caller's contract.
        let range = unsafe { self.below.allocate(stream, bytes, source) }?;
        self.log_step(|log| {
            log.allocate(range);
            log.work(stream, "allocate", &[(range, Write)])
        });
        Ok(range)
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let mut instead = None;
        if let Some(mut state) = self.running() {
            let name = state.names.stream(stream);
            let dependency = state.visit().dependency(DependencyKind::Free, name, None);
            // A free after a wait on its stream is a deferred one: the runtime has made the stream wait for the memory's
            // users.
            let dropped = state.waited.remove(&stream) && self.drops(&mut state, dependency);
            drop(state);
            if dropped {
                instead = Some(self.no_wait_stream(stream.device())?);
            }
        }
        // The accesses are looked up before the call, since another thread may get the same address right after it.
        let accesses = self.lock().log.accesses(&[(range, Write)]);
        // SAFETY: the caller's contract, except for the order. This layer breaks the order on purpose.
        unsafe { self.below.free(instead.unwrap_or(stream), range) }?;
        self.log_step(|_| LogStep::Free { stream, instead, accesses });
        Ok(())
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        let range = self.below.allocate_pinned(device, bytes)?;
        self.lock().log.allocate(range);
        Ok(range)
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.copy(stream, copy) }?;
        self.log_step(|log| log.work(stream, "copy", &[(copy.source, Read), (copy.target, Write)]));
        Ok(())
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.fill(stream, range, byte) }?;
        self.log_step(|log| log.work(stream, "fill", &[(range, Write)]));
        Ok(())
    }

    /// Replaces the declared accesses by those that the kernel really makes.
    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        let accesses = declared::actual_accesses(launch);
        let launch = Launch { accesses: &accesses, ..*launch };
        // SAFETY: the caller's contract.
        unsafe { self.below.launch(stream, &launch) }?;
        self.log_step(|log| {
            let touched: Vec<_> =
                accesses.iter().map(|access| (access.range, access.mode)).collect();
            log.work(stream, launch.name, &touched)
        });
        Ok(())
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    fn observer(&self) -> &dyn Observer {
        self
    }
}

// SAFETY: this layer breaks the order of work on purpose, as in its calls of `Layer`.
unsafe impl Libraries for Mutate {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.libraries().call_library(stream, call) }?;
        self.log_step(|log| {
            let touched: Vec<_> =
                call.accesses.iter().map(|access| (access.range, access.mode)).collect();
            log.work(stream, call.function, &touched)
        });
        Ok(())
    }
}

impl Observer for Mutate {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.below.observer())
    }

    /// Notes tell this layer the name of the calling operator. It needs none if it goes by numbers.
    fn watches(&self) -> bool {
        self.watches
    }

    fn take_races(&self) -> RaceReports {
        if self.quiet { RaceReports::default() } else { self.below.observer().take_races() }
    }

    fn races_since(&self, mark: &mut RaceMark) -> RaceReports {
        if self.quiet { RaceReports::default() } else { self.below.observer().races_since(mark) }
    }

    unsafe fn observe(&self, note: &Note<'_>) {
        match *note {
            Note::Enter { node, hook, .. } => {
                declared::enter(&self.declared, node);
                self.lock().visit().enter(node, hook);
            }
            Note::Leave => self.lock().visit().leave(),
            Note::StreamLabel { stream, label } => self.lock().names.name_stream(stream, label),
            Note::Relies { on, record, by } => {
                self.log_step(|_| LogStep::Relies { on, record, by });
            }
            Note::HostAccess { range, mode, .. } => {
                self.log_step(|log| LogStep::Host { accesses: log.accesses(&[(range, mode)]) });
            }
            _ => {}
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().observe(note) };
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().recycle(stream, range) }?;
        self.log_step(|log| log.work(stream, "recycle", &[(range, Write)]));
        Ok(())
    }
}
