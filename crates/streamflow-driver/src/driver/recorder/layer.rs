//! The driver calls of a [`Recorder`].

use super::names::Names;
use super::{Call, RecordedAccess, Recorder};
use crate::driver::graph::GraphNode;
use crate::driver::{
    Access, CopyOp, Coscheduling, DeviceId, Driver, DriverResult, GreenContext, HostFunction,
    Image, KernelSource, Launch, Layer, Libraries, LibraryCall, LoadedKernel, MemoryRange,
    MemorySource, Observer, RawEvent, RawGraph, RawModule, RawStream, StreamOptions,
};

// A call is recorded before it is made: after a `free` or `destroy`, another thread could get the same address or
// handle before this thread has recorded its call. A call with a result that is part of its entry is recorded
// afterwards.
//
// "The contract of this call" in the SAFETY comments below: `Layer` requires the contract of the same method of `Driver`.
// SAFETY: every call is forwarded unchanged, and so is its answer.
unsafe impl Layer for Recorder {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    fn observer(&self) -> &dyn Observer {
        self
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.note(|_| Call::Bind { device });
        self.record_failure("bind", self.below.bind(device))
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let made = self.below.create_stream(device, options);
        self.record_made("create_stream", made, |names, stream| Call::CreateStream {
            stream: names.new_stream(*stream),
            device,
            options,
        })
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.record_on(stream, |_, stream| Call::DestroyStream { stream });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("destroy_stream", unsafe { self.below.destroy_stream(stream) })
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        // SAFETY: the caller keeps the contract of this call.
        let answer = unsafe { self.below.query_stream(stream) };
        if let Ok(complete) = answer {
            self.record_on(stream, |_, stream| Call::QueryStream { stream, complete });
        }
        self.record_failure("query_stream", answer)
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.record_on(stream, |_, stream| Call::SynchronizeStream { stream });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("synchronize_stream", unsafe { self.below.synchronize_stream(stream) })
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let made = self.below.create_event(device);
        self.record_made("create_event", made, |names, event| Call::CreateEvent {
            event: names.new_event(*event),
            device,
        })
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let made = self.below.create_timing_event(device);
        self.record_made("create_timing_event", made, |names, event| Call::CreateEvent {
            event: names.new_event(*event),
            device,
        })
    }

    fn create_green_contexts(
        &self,
        device: DeviceId,
        coscheduling: Coscheduling,
        sizes: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        self.note(|_| Call::CreateGreenContexts { device, sizes: sizes.into() });
        let made = self.below.create_green_contexts(device, coscheduling, sizes);
        self.record_failure("create_green_contexts", made)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        self.note(|names| Call::DestroyEvent { event: names.event(event) });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("destroy_event", unsafe { self.below.destroy_event(event) })
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        self.record_on(stream, |names, stream| Call::RecordEvent {
            event: names.event(event),
            stream,
        });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("record_event", unsafe { self.below.record_event(event, stream) })
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        self.record_on(stream, |names, stream| Call::WaitEvent {
            stream,
            event: names.event(event),
        });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("wait_event", unsafe { self.below.wait_event(stream, event) })
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        // SAFETY: the caller keeps the contract of this call.
        let answer = unsafe { self.below.query_event(event) };
        if let Ok(complete) = answer {
            self.note(|names| Call::QueryEvent { event: names.event(event), complete });
        }
        self.record_failure("query_event", answer)
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        self.note(|names| Call::SynchronizeEvent { event: names.event(event) });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("synchronize_event", unsafe { self.below.synchronize_event(event) })
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        let default = self.below.default_stream(stream.device());
        // SAFETY: the caller keeps the contract of this call.
        let made = unsafe { self.below.allocate(stream, bytes, source) };
        self.record_made("allocate", made, |names, range| Call::Allocate {
            stream: names.stream(stream, default),
            place: names.new_block(*range, false),
        })
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.record_on(stream, |names, stream| Call::Free { stream, place: names.range_of(range) });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("free", unsafe { self.below.free(stream, range) })
    }

    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()> {
        self.record_on(stream, |_, stream| Call::WaitForDevice { stream });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("wait_for_device", unsafe { self.below.wait_for_device(stream) })
    }

    fn trim(&self, device: DeviceId, keep: u64) -> DriverResult<()> {
        self.note(|_| Call::Trim { device, keep });
        self.record_failure("trim", self.below.trim(device, keep))
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        let made = self.below.allocate_pinned(device, bytes);
        self.record_made("allocate_pinned", made, |names, range| Call::AllocatePinned {
            device,
            place: names.new_block(*range, true),
        })
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        self.note(|names| Call::FreePinned { device, place: names.range_of(range) });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("free_pinned", unsafe { self.below.free_pinned(device, range) })
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        self.record_on(stream, |names, stream| Call::Copy {
            stream,
            kind: copy.kind,
            target: names.range_of(copy.target),
            source: names.range_of(copy.source),
            rows: copy.rows,
        });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("copy", unsafe { self.below.copy(stream, copy) })
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        self.record_on(stream, |names, stream| Call::Fill {
            stream,
            place: names.range_of(range),
            byte,
        });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("fill", unsafe { self.below.fill(stream, range, byte) })
    }

    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        image: &Image,
    ) -> DriverResult<RawModule> {
        self.note(|names| Call::LoadModule { device, module: names.kernel(name) });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("load_module", unsafe { self.below.load_module(device, name, image) })
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        self.note(|names| Call::LoadKernel { device, kernel: names.kernel(source.name) });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("load_kernel", unsafe { self.below.load_kernel(device, source) })
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        self.record_on(stream, |names, stream| Call::Launch {
            stream,
            kernel: names.kernel(launch.name),
            grid: launch.grid,
            block: launch.block,
            shared_bytes: launch.shared_bytes,
            accesses: recorded(names, launch.accesses),
        });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("launch", unsafe { self.below.launch(stream, launch) })
    }

    unsafe fn create_graph(
        &self,
        device: DeviceId,
        nodes: &[GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        self.note(|_| Call::CreateGraph { device, nodes: nodes.len() });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("create_graph", unsafe { self.below.create_graph(device, nodes) })
    }

    unsafe fn launch_graph(&self, graph: RawGraph, stream: RawStream) -> DriverResult<()> {
        self.record_on(stream, |_, stream| Call::LaunchGraph { stream });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("launch_graph", unsafe { self.below.launch_graph(graph, stream) })
    }

    unsafe fn set_graph_kernel(
        &self,
        graph: RawGraph,
        node: u32,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        self.note(|names| Call::SetGraphKernel {
            device: graph.device(),
            node,
            kernel: names.kernel(launch.name),
        });
        // SAFETY: the caller keeps the contract of this call.
        let set = unsafe { self.below.set_graph_kernel(graph, node, launch) };
        self.record_failure("set_graph_kernel", set)
    }

    unsafe fn destroy_graph(&self, graph: RawGraph) -> DriverResult<()> {
        self.note(|_| Call::DestroyGraph { device: graph.device() });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("destroy_graph", unsafe { self.below.destroy_graph(graph) })
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        self.record_on(stream, |_, stream| Call::HostFunction { stream });
        // SAFETY: the caller keeps the contract of this call.
        let done = unsafe { self.below.launch_host_function(stream, function) };
        self.record_failure("launch_host_function", done)
    }
}

// SAFETY: every call is forwarded unchanged, and so is its answer.
unsafe impl Libraries for Recorder {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        self.record_on(stream, |names, stream| Call::Library {
            stream,
            function: names.kernel(call.function),
            accesses: recorded(names, call.accesses),
            is_captured: call.is_captured,
        });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("call_library", unsafe {
            self.below.libraries().call_library(stream, call)
        })
    }
}

impl Observer for Recorder {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.below.observer())
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.record_on(stream, |names, stream| Call::Recycle {
            stream,
            place: names.range_of(range),
        });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("recycle", unsafe { self.below.observer().recycle(stream, range) })
    }

    unsafe fn adopt(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        self.note(|_| Call::Adopt { device, bytes: range.bytes });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("adopt", unsafe { self.below.observer().adopt(device, range) })
    }

    unsafe fn disown(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.record_on(stream, |_, stream| Call::Disown { stream, bytes: range.bytes });
        // SAFETY: the caller keeps the contract of this call.
        self.record_failure("disown", unsafe { self.below.observer().disown(stream, range) })
    }
}

fn recorded(names: &mut Names, accesses: &[Access]) -> Box<[RecordedAccess]> {
    let record = |access: &Access| RecordedAccess {
        argument: access.argument,
        mode: access.mode,
        place: names.range_of(access.range),
    };
    accesses.iter().map(record).collect()
}
