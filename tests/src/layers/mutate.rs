//! A driver that drops one edge of a graph.
//!
//! What the runtime orders with (waits, records, frees that it defers, waits and questions of the host) is named by
//! where in the graph it happens, so that the same [`Edge`] can be found again in each tick and each run. A layer lists the
//! edges that pass, and swallows one of them. It stands above a race checker and below the runtime: the
//! checker sees what is executed, and the runtime believes in its edge.

mod declared;
mod edge;
mod host;
mod log;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use streamflow::driver::AccessMode::{Read, Write};
use streamflow::driver::race::{RaceMark, RaceReports};
use streamflow::driver::{
    CopyOp, DeviceId, Driver, DriverResult, Launch, Layer, MemoryRange, Note, RawEvent, RawStream,
    StreamOptions,
};

pub use declared::{AddOne, Axpy, Declaration, Fill, Misdeclared, SlowCopy, declarations};
pub use edge::{Edge, EdgeKind};
use edge::{Names, Visit};
pub use log::{Access, Log, Step};

/// Lists the edges that pass, and drops one. See the [module](self).
pub struct Mutate {
    below: Arc<dyn Driver>,
    dropped: Option<Edge>,
    /// Nobody is told what a checker below has found.
    quiet: bool,
    /// After the end of a run everything passes, and nothing is listed.
    over: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Of each host thread.
    visits: HashMap<usize, Visit>,
    names: Names,
    edges: BTreeSet<Edge>,
    log: Log,
    /// The streams that have waited since they freed something.
    waited: HashSet<RawStream>,
    /// A stream that has waited for nothing, for a free that is not deferred.
    bare: HashMap<DeviceId, RawStream>,
    times: u64,
}

impl fmt::Debug for Mutate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutate").field("dropped", &self.dropped).finish_non_exhaustive()
    }
}

impl State {
    fn visit(&mut self) -> &mut Visit {
        self.visits.entry(host::THREAD.get()).or_default()
    }
}

impl Mutate {
    /// Drops `edge`, in every tick.
    pub fn new(below: Arc<dyn Driver>, edge: Option<Edge>) -> Self {
        let mut state = State::default();
        for device in (0..below.device_count() as u32).map(streamflow::device) {
            let name = format!("the default stream of {device}");
            state.names.name_stream(below.default_stream(device), &name);
        }
        let (over, state) = (AtomicBool::new(false), Mutex::new(state));
        Self { below, dropped: edge, quiet: false, over, state }
    }

    /// Says nothing of what a checker below finds.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// The run is at its end: what comes now gives things back, when all work is complete.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// The edges that have passed.
    pub fn edges(&self) -> BTreeSet<Edge> {
        self.lock().edges.clone()
    }

    /// How often the edge was dropped: a mutation that never happened proves nothing.
    pub fn times(&self) -> u64 {
        self.lock().times
    }

    /// What was done, in order.
    pub fn take_log(&self) -> Log {
        std::mem::take(&mut self.lock().log)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, while the run lasts.
    fn running(&self) -> Option<MutexGuard<'_, State>> {
        (!self.over.load(Ordering::Relaxed)).then(|| self.lock())
    }

    /// Writes down a step, while the run lasts.
    fn note(&self, step: impl FnOnce(&mut Log) -> Step) {
        if let Some(mut state) = self.running() {
            let step = step(&mut state.log);
            state.log.push(step);
        }
    }

    /// Lists an edge; whether it is the one to be dropped.
    fn drops(&self, state: &mut State, edge: Edge) -> bool {
        let drops = self.dropped.as_ref() == Some(&edge);
        state.times += u64::from(drops);
        state.edges.insert(edge);
        drops
    }

    /// A stream of this layer's own.
    fn bare_stream(&self, device: DeviceId) -> DriverResult<RawStream> {
        if let Some(stream) = self.lock().bare.get(&device) {
            return Ok(*stream);
        }
        let stream = self.below.create_stream(device, StreamOptions::default())?;
        self.lock().bare.insert(device, stream);
        Ok(stream)
    }
}

impl Drop for Mutate {
    fn drop(&mut self) {
        for stream in std::mem::take(&mut self.lock().bare).into_values() {
            // SAFETY: it came from this driver, and this layer alone has used it.
            let _done = unsafe { self.below.destroy_stream(stream) };
        }
    }
}

// In all SAFETY reasons below: `Layer` asks for the contract of the same method of `Driver`.
// SAFETY: it does not keep a driver's promises, on purpose: streams race that should wait. As for
// `DropWaits`, it stands below programs whose kernels compute numbers from numbers, on the simulator,
// which executes one operation at a time and keeps freed memory.
unsafe impl Layer for Mutate {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    /// It is to be told which operator calls.
    fn watches(&self) -> bool {
        true
    }

    fn take_races(&self) -> RaceReports {
        if self.quiet { RaceReports::default() } else { self.below.take_races() }
    }

    fn races_since(&self, mark: &mut RaceMark) -> RaceReports {
        if self.quiet { RaceReports::default() } else { self.below.races_since(mark) }
    }

    unsafe fn tell(&self, note: &Note<'_>) {
        match *note {
            Note::Enter { node, hook, .. } => {
                declared::enter(node);
                self.lock().visit().enter(node, hook);
            }
            Note::Leave => self.lock().visit().leave(),
            Note::StreamLabel { stream, label } => self.lock().names.name_stream(stream, label),
            Note::Relies { by, .. } => self.note(|_| Step::Relies { by }),
            Note::HostAccess { range, mode, .. } => {
                self.note(|log| Step::Host { accesses: log.accesses(&[(range, mode)]) });
            }
            _ => {}
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.tell(note) };
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        if let Some(mut state) = self.running() {
            let on = state.names.recorded(event, stream);
            let edge = state.visit().edge(EdgeKind::Record, on, None);
            let dropped = self.drops(&mut state, edge);
            state.log.push(Step::Record { event, stream, dropped });
            if dropped {
                return Ok(());
            }
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.record_event(event, stream) }
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        if let Some(mut state) = self.running() {
            state.waited.insert(stream);
            let (waiting, on) = (state.names.stream(stream), state.names.event(event));
            let edge = state.visit().edge(EdgeKind::Wait, waiting, Some(on));
            let dropped = self.drops(&mut state, edge);
            state.log.push(Step::Wait { event, stream, dropped });
            if dropped {
                return Ok(());
            }
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.wait_event(stream, event) }
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        // SAFETY: the caller's contract.
        let complete = unsafe { self.below.query_event(event) }?;
        let of = |names: &Names| names.event(event);
        Ok(self.answers(complete, of, |dropped| Step::EventComplete { event, dropped }))
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        let of = |names: &Names| names.event(event);
        if self.goes_on(of, |dropped| Step::EventComplete { event, dropped }) {
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.synchronize_event(event) }
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        // SAFETY: the caller's contract.
        let complete = unsafe { self.below.query_stream(stream) }?;
        let of = |names: &Names| names.stream(stream);
        Ok(self.answers(complete, of, |dropped| Step::StreamComplete { stream, dropped }))
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        let of = |names: &Names| names.stream(stream);
        if self.goes_on(of, |dropped| Step::StreamComplete { stream, dropped }) {
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.synchronize_stream(stream) }
    }

    unsafe fn allocate(&self, stream: RawStream, bytes: u64) -> DriverResult<MemoryRange> {
        // SAFETY: the caller's contract.
        let range = unsafe { self.below.allocate(stream, bytes) }?;
        self.note(|log| {
            log.allocate(range);
            log.work(stream, "allocate", &[(range, Write)])
        });
        Ok(range)
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let mut instead = None;
        if let Some(mut state) = self.running() {
            let name = state.names.stream(stream);
            let edge = state.visit().edge(EdgeKind::Free, name, None);
            // What nobody uses any more is not deferred.
            let dropped = state.waited.remove(&stream) && self.drops(&mut state, edge);
            drop(state);
            if dropped {
                instead = Some(self.bare_stream(stream.device())?);
            }
            self.note(|log| {
                let accesses = log.accesses(&[(range, Write)]);
                Step::Free { stream, instead, accesses }
            });
        }
        // SAFETY: the caller's contract, but for the order, which is broken on purpose.
        unsafe { self.below.free(instead.unwrap_or(stream), range) }
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.note(|log| log.work(stream, "recycle", &[(range, Write)]));
        // SAFETY: the caller's contract.
        unsafe { self.below.recycle(stream, range) }
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        let range = self.below.allocate_pinned(device, bytes)?;
        self.lock().log.allocate(range);
        Ok(range)
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        self.note(|log| log.work(stream, "copy", &[(copy.source, Read), (copy.target, Write)]));
        // SAFETY: the caller's contract.
        unsafe { self.below.copy(stream, copy) }
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        self.note(|log| log.work(stream, "fill", &[(range, Write)]));
        // SAFETY: the caller's contract.
        unsafe { self.below.fill(stream, range, byte) }
    }

    /// With the accesses that the kernel really makes, whatever was declared of them.
    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        let accesses = declared::truth(launch);
        self.note(|log| {
            let touched: Vec<_> = accesses.iter().map(|it| (it.range, it.mode)).collect();
            log.work(stream, launch.name, &touched)
        });
        let launch = Launch { accesses: &accesses, ..*launch };
        // SAFETY: the caller's contract.
        unsafe { self.below.launch(stream, &launch) }
    }
}
