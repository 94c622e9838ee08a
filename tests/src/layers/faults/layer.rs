//! The driver calls of an [`Injector`].

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow::stream::Coscheduling;
use streamflow_driver::driver::graph::GraphNode;
use streamflow_driver::driver::{
    CopyKind, CopyOp, DriverResult, HostFunction, KernelSource, Launch, Layer, Libraries,
    LibraryCall, LoadedKernel, MemoryRange, MemorySource, Note, Observer, RawEvent, RawGraph,
    RawModule, StreamOptions,
};
use streamflow_driver::driver::{GreenContext, Image, Sticky};

use super::injector::{About, Verdict};
use super::{Injector, ledger::Ledger};

fn about(call: &'static str, device: DeviceId) -> About<'static> {
    About { call, device, bytes: None, kernel: None }
}

impl Injector {
    /// Makes a call that submits work or waits.
    fn submit<T>(
        &self,
        call: &'static str,
        device: DeviceId,
        make: impl FnOnce(&dyn Driver) -> DriverResult<T>,
    ) -> DriverResult<T> {
        self.ask(about(call, device), make)
    }

    fn ask<T>(
        &self,
        about: About<'_>,
        make: impl FnOnce(&dyn Driver) -> DriverResult<T>,
    ) -> DriverResult<T> {
        match self.judge(about) {
            Verdict::Passes | Verdict::IsSkipped => make(&*self.below),
            Verdict::Fails(error) => Err(error),
            Verdict::TakesEffectAndFails(error) => {
                make(&*self.below)?;
                Err(error)
            }
        }
    }

    /// Makes a call that creates an object, and adds the object to the ledger.
    fn make<T: Copy>(
        &self,
        about: About<'_>,
        make: impl FnOnce(&dyn Driver) -> DriverResult<T>,
        note: impl FnOnce(&mut Ledger, T),
    ) -> DriverResult<T> {
        let made = self.ask(about, make)?;
        note(&mut self.state().ledger, made);
        Ok(made)
    }

    /// Makes a call that gives an object back, and removes the object from the ledger.
    fn give_back(
        &self,
        call: &'static str,
        device: DeviceId,
        make: impl FnOnce(&dyn Driver) -> DriverResult<()>,
        note: impl FnOnce(&mut Ledger),
    ) -> DriverResult<()> {
        if self.sticky().is_some() {
            return Ok(());
        }
        let done = match self.judge(about(call, device)) {
            Verdict::Passes => Ok(()),
            Verdict::IsSkipped => return Ok(()),
            Verdict::Fails(error) => return Err(error),
            Verdict::TakesEffectAndFails(error) => Err(error),
        };
        // The ledger is changed before the call, since an object that is given back twice must not reach a GPU.
        let before = self.state().ledger.troubles.len();
        note(&mut self.state().ledger);
        if self.state().ledger.troubles.len() == before {
            make(&*self.below)?;
        }
        done
    }
}

/// Passes an `unsafe` call on, inside of a closure that gets the driver below.
macro_rules! below {
    (|$driver:ident| $call:expr) => {
        |$driver: &dyn Driver| {
            // SAFETY: the caller keeps the same contract of the same method.
            unsafe { $call }
        }
    };
}

// SAFETY: a call that fails promises nothing, a call that gives something back and is skipped leaves it alive, and all
// other calls are passed to the driver below.
unsafe impl Layer for Injector {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn sticky_error(&self) -> Option<Sticky> {
        self.sticky().or_else(|| self.below.sticky_error())
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.submit("bind", device, |driver| driver.bind(device))
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let make = |driver: &dyn Driver| driver.create_stream(device, options);
        self.make(about("create_stream", device), make, Ledger::add_stream)
    }

    fn create_green_contexts(
        &self,
        device: DeviceId,
        coscheduling: Coscheduling,
        sizes: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        self.below.create_green_contexts(device, coscheduling, sizes)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.give_back(
            "destroy_stream",
            stream.device(),
            below!(|driver| driver.destroy_stream(stream)),
            |ledger| ledger.remove_stream(stream),
        )
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        self.submit("query_stream", stream.device(), below!(|driver| driver.query_stream(stream)))
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        let make = below!(|driver| driver.synchronize_stream(stream));
        self.submit("synchronize_stream", stream.device(), make)
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let make = |driver: &dyn Driver| driver.create_event(device);
        self.make(about("create_event", device), make, Ledger::add_event)
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let make = |driver: &dyn Driver| driver.create_timing_event(device);
        self.make(about("create_event", device), make, Ledger::add_event)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        self.give_back(
            "destroy_event",
            event.device(),
            below!(|driver| driver.destroy_event(event)),
            |ledger| ledger.remove_event(event),
        )
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        let make = below!(|driver| driver.record_event(event, stream));
        self.submit("record_event", stream.device(), make)
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        let make = below!(|driver| driver.wait_event(stream, event));
        self.submit("wait_event", stream.device(), make)
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        self.submit("query_event", event.device(), below!(|driver| driver.query_event(event)))
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        let make = below!(|driver| driver.synchronize_event(event));
        self.submit("synchronize_event", event.device(), make)
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        let device = stream.device();
        self.make(
            About { bytes: Some(bytes), ..about("allocate", device) },
            below!(|driver| driver.allocate(stream, bytes, source)),
            |ledger, range| ledger.add_device(device, range),
        )
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.give_back(
            "free",
            stream.device(),
            below!(|driver| driver.free(stream, range)),
            |ledger| ledger.remove_device(range),
        )
    }

    fn trim(&self, device: DeviceId, keep: u64) -> DriverResult<()> {
        self.submit("trim", device, |driver| driver.trim(device, keep))
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        self.make(
            About { bytes: Some(bytes), ..about("allocate_pinned", device) },
            |driver| driver.allocate_pinned(device, bytes),
            |ledger, range| ledger.add_pinned(device, range),
        )
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        self.give_back(
            "free_pinned",
            device,
            below!(|driver| driver.free_pinned(device, range)),
            |ledger| ledger.remove_pinned(range),
        )
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        let call = match copy.kind {
            _ if copy.rows.is_some() => "copy of rows",
            CopyKind::PinnedToDevice | CopyKind::PageableToDevice => "copy to the device",
            CopyKind::DeviceToPinned | CopyKind::DeviceToPageable => "copy to the host",
            CopyKind::DeviceToDevice => "copy on the device",
            CopyKind::Peer { .. } => "copy between devices",
        };
        self.submit(call, stream.device(), below!(|driver| driver.copy(stream, copy)))
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        self.submit("fill", stream.device(), below!(|driver| driver.fill(stream, range, byte)))
    }

    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        image: &Image,
    ) -> DriverResult<RawModule> {
        self.submit("load_module", device, below!(|driver| driver.load_module(device, name, image)))
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        let about = About { kernel: Some(source.name), ..about("load_kernel", device) };
        self.ask(about, below!(|driver| driver.load_kernel(device, source)))
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        self.submit("launch", stream.device(), below!(|driver| driver.launch(stream, launch)))
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        let make = below!(|driver| driver.launch_host_function(stream, function));
        self.submit("launch_host_function", stream.device(), make)
    }

    unsafe fn create_graph(
        &self,
        device: DeviceId,
        nodes: &[GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        let make = below!(|driver| driver.create_graph(device, nodes));
        self.make(about("create_graph", device), make, Ledger::add_graph)
    }

    unsafe fn launch_graph(&self, graph: RawGraph, stream: RawStream) -> DriverResult<()> {
        let make = below!(|driver| driver.launch_graph(graph, stream));
        self.submit("launch_graph", stream.device(), make)
    }

    unsafe fn set_graph_kernel(
        &self,
        graph: RawGraph,
        node: u32,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        let make = below!(|driver| driver.set_graph_kernel(graph, node, launch));
        self.submit("set_graph_kernel", graph.device(), make)
    }

    unsafe fn destroy_graph(&self, graph: RawGraph) -> DriverResult<()> {
        self.give_back(
            "destroy_graph",
            graph.device(),
            below!(|driver| driver.destroy_graph(graph)),
            |ledger| ledger.remove_graph(graph),
        )
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    fn observer(&self) -> &dyn Observer {
        self
    }
}

// SAFETY: a call that fails promises nothing, and all other calls are passed to the driver below.
unsafe impl Libraries for Injector {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        let make = below!(|driver| driver.libraries().call_library(stream, call));
        self.submit("call_library", stream.device(), make)
    }
}

impl Observer for Injector {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.below.observer())
    }

    fn watches(&self) -> bool {
        self.is_watching()
    }

    unsafe fn observe(&self, note: &Note<'_>) {
        self.follow(note);
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().observe(note) };
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.submit(
            "recycle",
            stream.device(),
            below!(|driver| driver.observer().recycle(stream, range)),
        )
    }
}
