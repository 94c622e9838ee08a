//! A layer that counts driver calls and measures their times.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::{
    CopyOp, DriverResult, Launch, Layer, MemoryRange, MemorySource, RawEvent, RawGraph,
};

/// A kind of driver call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each has the name of its call")]
pub enum Kind {
    Launch,
    Copy,
    Record,
    Wait,
    Query,
    Bind,
    Allocate,
    Free,
    LaunchGraph,
    SetGraphKernel,
}

impl Kind {
    /// All kinds of calls.
    pub const ALL: [Self; 10] = [
        Self::Launch,
        Self::Copy,
        Self::Record,
        Self::Wait,
        Self::Query,
        Self::Bind,
        Self::Allocate,
        Self::Free,
        Self::LaunchGraph,
        Self::SetGraphKernel,
    ];

    /// Returns the kind's name in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Launch => "launches",
            Self::Copy => "copies",
            Self::Record => "records",
            Self::Wait => "waits",
            Self::Query => "queries",
            Self::Bind => "binds",
            Self::Allocate => "allocations",
            Self::Free => "frees",
            Self::LaunchGraph => "graphs",
            Self::SetGraphKernel => "sets",
        }
    }
}

/// How often calls of a kind were made, and how long they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// How often calls of this kind were made.
    pub calls: u64,
    /// The time of all these calls in ns, which includes reading the clock.
    pub nanoseconds: u64,
}

/// A layer that passes all calls on and measures them. Only one thread calls this layer.
#[derive(Debug)]
pub struct Timed {
    below: Arc<dyn Driver>,
    spent: [(AtomicU64, AtomicU64); Kind::ALL.len()],
}

impl Timed {
    /// Creates the layer above a driver.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, spent: Default::default() }
    }

    /// Returns the time that each kind of call has taken so far, in the order of [`Kind::ALL`].
    pub fn spent(&self) -> [Spent; Kind::ALL.len()] {
        self.spent.each_ref().map(|(calls, time)| Spent {
            calls: calls.load(Ordering::Relaxed),
            nanoseconds: time.load(Ordering::Relaxed),
        })
    }

    /// Returns by how many ns reading the clock lengthens each call.
    pub fn clock() -> f64 {
        const PAIRS: u32 = 100_000;
        let all = (0..PAIRS).map(|_| Instant::now().elapsed()).sum::<std::time::Duration>();
        all.as_secs_f64() * 1e9 / f64::from(PAIRS)
    }

    fn time<T>(&self, kind: Kind, call: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = call();
        let took = begin.elapsed().as_nanos() as u64;
        let (calls, time) = &self.spent[kind as usize];
        // Only one thread writes the counters. A load and a store are cheaper than an atomic addition, which several
        // threads would need.
        calls.store(calls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        time.store(time.load(Ordering::Relaxed) + took, Ordering::Relaxed);
        done
    }
}

// SAFETY: all calls are passed to the driver below.
unsafe impl Layer for Timed {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.time(Kind::Bind, || self.below.bind(device))
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        self.time(Kind::Record, || pass!([unsafe] self.below.record_event(event, stream)))
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        self.time(Kind::Wait, || pass!([unsafe] self.below.wait_event(stream, event)))
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        self.time(Kind::Query, || pass!([unsafe] self.below.query_event(event)))
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        self.time(Kind::Query, || pass!([unsafe] self.below.query_stream(stream)))
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        self.time(Kind::Allocate, || pass!([unsafe] self.below.allocate(stream, bytes, source)))
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.time(Kind::Free, || pass!([unsafe] self.below.free(stream, range)))
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        self.time(Kind::Copy, || pass!([unsafe] self.below.copy(stream, copy)))
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        self.time(Kind::Launch, || pass!([unsafe] self.below.launch(stream, launch)))
    }

    unsafe fn launch_graph(&self, graph: RawGraph, stream: RawStream) -> DriverResult<()> {
        self.time(Kind::LaunchGraph, || pass!([unsafe] self.below.launch_graph(graph, stream)))
    }

    unsafe fn set_graph_kernel(
        &self,
        graph: RawGraph,
        node: u32,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        self.time(
            Kind::SetGraphKernel,
            || pass!([unsafe] self.below.set_graph_kernel(graph, node, launch)),
        )
    }
}
