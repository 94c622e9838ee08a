//! A layer over the simulator whose calls fail or stop when a test says so.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::driver::graph::{GraphNode, GraphWork};
use crate::driver::host::HostDriver;
use crate::driver::{
    DeviceId, Driver, DriverError, DriverResult, Launch, Layer, Libraries, LibraryCall,
    LibraryCalls, RawEvent, RawGraph, RawStream, Sticky,
};

/// The simulator, with calls that fail or stop when a test sets a field.
#[derive(Debug)]
pub(super) struct Probe {
    host: HostDriver,
    /// The kind of the call that fails next; 0 if none fails.
    pub(super) fails: AtomicU8,
    /// Whether the device is lost.
    is_lost: AtomicBool,
    /// The gate at which the host's wait for an event stops.
    pub(super) gate: AtomicU8,
    /// The gate at which a stream's wait for an event stops, before the simulator makes the wait.
    pub(super) wait_gate: AtomicU8,
    /// The gate at which the launch of a kernel stops, before the simulator makes the launch.
    pub(super) launch_gate: AtomicU8,
    /// The number of graphs that were made.
    pub(super) graphs: AtomicU64,
    /// The number of graphs that were destroyed.
    pub(super) destroyed: Arc<AtomicU64>,
    /// The number of waits of streams for events so far.
    pub(super) waits: AtomicU64,
    /// Whether all queries are answered "not yet", as if the device were slow.
    pub(super) is_behind: AtomicBool,
    /// The number of queries of events so far.
    pub(super) queries: AtomicU64,
}

/// The values of `Probe::fails`, each for one kind of call.
pub(super) const FAILS_WAIT: u8 = 1;
pub(super) const FAILS_RECORD: u8 = 2;
pub(super) const FAILS_QUERY: u8 = 3;
pub(super) const FAILS_GRAPH: u8 = 4;
pub(super) const FAILS_CAPTURE: u8 = 5;
/// A value of `Probe::fails`: a capture fails, and the device is lost.
pub(super) const FAILS_LAST_CAPTURE: u8 = 6;
/// Values of a gate. `CLOSED`: the next call stops there. `REACHED`: a call has stopped there. 0: the gate is open.
pub(super) const CLOSED: u8 = 1;
pub(super) const REACHED: u8 = 2;

thread_local! {
    static IN_GRAPH_LAUNCH: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

/// Calls `then` inside of the calling thread's next launch of a graph.
pub(super) fn in_graph_launch(then: impl FnOnce() + 'static) {
    IN_GRAPH_LAUNCH.set(Some(Box::new(then)));
}

impl Probe {
    pub(super) fn new(host: HostDriver) -> Self {
        let [is_behind, is_lost] = [(); 2].map(|()| AtomicBool::new(false));
        let [fails, gate, wait_gate, launch_gate] = [(); 4].map(|()| AtomicU8::new(0));
        let [graphs, waits, queries] = [(); 3].map(|()| AtomicU64::new(0));
        let destroyed = Arc::default();
        Self {
            host,
            fails,
            is_lost,
            gate,
            wait_gate,
            launch_gate,
            graphs,
            destroyed,
            waits,
            is_behind,
            queries,
        }
    }

    fn fails(&self, which: u8) -> DriverResult<()> {
        match self.fails.compare_exchange(which, 0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                self.is_lost.fetch_or(which == FAILS_LAST_CAPTURE, Ordering::Relaxed);
                Err(DriverError::Call {
                    call: "a call of a test",
                    device: DeviceId(0),
                    code: 999,
                    name: "INJECTED".into(),
                    message: "a test wants it".into(),
                })
            }
            Err(_) => Ok(()),
        }
    }
}

/// Stops at a gate that is closed, until the test opens the gate.
fn stop(gate: &AtomicU8) {
    let closed = gate.compare_exchange(CLOSED, REACHED, Ordering::AcqRel, Ordering::Acquire);
    while closed.is_ok() && gate.load(Ordering::Acquire) == REACHED {
        std::thread::yield_now();
    }
}

// SAFETY: every call is forwarded unchanged.
unsafe impl Libraries for Probe {
    /// Returns the answer of a driver for a device. The calls of these tests have all parts anyway.
    fn library_calls(&self) -> LibraryCalls {
        LibraryCalls::Body
    }

    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.host.libraries().call_library(stream, call) }
    }
}

// SAFETY: a call that fails promises nothing, and every other call is forwarded unchanged.
unsafe impl Layer for Probe {
    fn below(&self) -> &dyn Driver {
        &self.host
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    fn sticky_error(&self) -> Option<Sticky> {
        let lost = || Sticky {
            call: "a call of a test",
            code: 999,
            name: "INJECTED".into(),
            message: "a test wants it".into(),
        };
        self.is_lost.load(Ordering::Relaxed).then(lost).or_else(|| self.host.sticky_error())
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        self.fails(FAILS_WAIT)?;
        self.waits.fetch_add(1, Ordering::Relaxed);
        stop(&self.wait_gate);
        // SAFETY: the caller's contract.
        unsafe { self.host.wait_event(stream, event) }
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        self.fails(FAILS_QUERY)?;
        self.queries.fetch_add(1, Ordering::Relaxed);
        if self.is_behind.load(Ordering::Relaxed) {
            return Ok(false);
        }
        // SAFETY: the caller's contract.
        unsafe { self.host.query_event(event) }
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        if self.is_behind.load(Ordering::Relaxed) {
            return Ok(false);
        }
        // SAFETY: the caller's contract.
        unsafe { self.host.query_stream(stream) }
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        self.fails(FAILS_RECORD)?;
        // SAFETY: the caller's contract.
        unsafe { self.host.record_event(event, stream) }
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        stop(&self.gate);
        // SAFETY: the caller's contract.
        unsafe { self.host.synchronize_event(event) }
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        stop(&self.launch_gate);
        // SAFETY: the caller's contract.
        unsafe { self.host.launch(stream, launch) }
    }

    unsafe fn create_graph(
        &self,
        device: DeviceId,
        nodes: &[GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        if nodes.iter().any(|node| matches!(node.work, GraphWork::Library(_))) {
            self.fails(FAILS_CAPTURE)?;
            self.fails(FAILS_LAST_CAPTURE)?;
        }
        self.graphs.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { self.host.create_graph(device, nodes) }
    }

    unsafe fn destroy_graph(&self, graph: RawGraph) -> DriverResult<()> {
        self.destroyed.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { self.host.destroy_graph(graph) }
    }

    unsafe fn launch_graph(&self, graph: RawGraph, stream: RawStream) -> DriverResult<()> {
        self.fails(FAILS_GRAPH)?;
        if let Ok(Some(then)) = IN_GRAPH_LAUNCH.try_with(Cell::take) {
            then();
        }
        // SAFETY: the caller's contract.
        unsafe { self.host.launch_graph(graph, stream) }
    }
}
