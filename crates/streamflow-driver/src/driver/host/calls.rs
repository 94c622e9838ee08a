//! The implementation of [`Driver`] for the simulator.

use super::*;

/// The most and the least urgent stream priority. Recent GPUs have the same two.
const PRIORITIES: (i32, i32) = (-5, 0);

// SAFETY: memory comes from arenas. An arena gives each block to one owner, aligned to 256 bytes, and keeps its memory while
// the driver lives. Operations execute by the rules in `schedule`, and count as complete afterwards. Two operations that
// touch the same bytes never execute at the same time if one of them writes.
unsafe impl Driver for HostDriver {
    fn name(&self) -> &str {
        "host"
    }

    /// Returns at least 1. With no device at all, a platform of a simulator with an impossible number of devices would make
    /// no call, and the number would not be refused.
    fn device_count(&self) -> usize {
        options::possible(self.devices)
    }

    fn device_info(&self, device: DeviceId) -> DriverResult<DeviceInfo> {
        self.begin("device_info", device)?;
        Ok(DeviceInfo {
            name: format!("simulated {device}"),
            ordinal: None,
            compute_capability: self.compute_capability,
            multiprocessors: green::MULTIPROCESSORS,
            total_memory: self.memory,
            priorities: PRIORITIES,
            max_shared_bytes: self.max_shared_bytes(),
            is_simulated: true,
            waits_for_device: true,
        })
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.begin("bind", device)?;
        self.lock().refuse_lost(device, "bind")?;
        self.make_current(device);
        Ok(())
    }

    fn sticky_error(&self) -> Option<Sticky> {
        // In a test with turns, `begin` notes a call of a thread that takes no turns as the test's error. The call is
        // answered all the same, also inside of a body.
        let _noted = self.begin("sticky_error", DeviceId(0));
        self.lock().reported_error().cloned()
    }

    fn default_stream(&self, device: DeviceId) -> RawStream {
        // The first slots of `Sim::streams` are the devices' default streams. If the device does not exist, every call with
        // the handle refuses it.
        RawStream::new(device, device.index() as u64)
    }

    /// Creates a stream. The priority has no effect on the order; a priority out of range is refused, as by the CUDA driver.
    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let mut sim = self.enter("create_stream", device, Needs::Own)?;
        sim.check(device, "create_stream")?;
        let (most, least) = PRIORITIES;
        if !(most..=least).contains(&options.priority) {
            let priority = options.priority;
            let message =
                format!("priority {priority} is not one of this device's, {most}..={least}");
            return Err(invalid_value("create_stream", device, &message));
        }
        if let Some(green) = options.green {
            sim.check_green(device, green, options.flags)?;
        }
        Ok(sim.add_stream(
            device,
            match options.flags {
                StreamFlags::Blocking => StreamKind::Blocking,
                StreamFlags::NonBlocking => StreamKind::NonBlocking,
            },
        ))
    }

    unsafe fn device_of_stream(&self, handle: u64) -> DriverResult<DeviceId> {
        self.lock().device_of_stream(handle)
    }

    fn sm_sizes(&self, device: DeviceId, coscheduling: Coscheduling) -> DriverResult<SmSizes> {
        self.begin("sm_sizes", device)?;
        self.make_current(device);
        Ok(green::sizes(coscheduling))
    }

    fn create_green_contexts(
        &self,
        device: DeviceId,
        coscheduling: Coscheduling,
        sizes: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        let mut sim = self.enter_bound("create_green_contexts", device)?;
        sim.check(device, "create_green_contexts")?;
        sim.divide(device, coscheduling, sizes)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        let mut sim = self.enter("destroy_stream", stream.device(), Needs::Any)?;
        let index = sim.stream(stream, "destroy_stream")?;
        if sim.streams[index].kind == StreamKind::Default {
            let message = "the default stream can't be destroyed";
            return Err(invalid_handle("destroy_stream", stream.device(), message));
        }
        sim.destroy_stream(index);
        sim.check(stream.device(), "destroy_stream")
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        let sim = self.enter("query_stream", stream.device(), self.needs(stream))?;
        let index = sim.stream(stream, "query_stream")?;
        let latest = sim.latest(index);
        self.query(sim, "query_stream", latest, stream.device())
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.begin("synchronize_stream", stream.device())?;
        self.check_context("synchronize_stream", stream.device(), self.needs(stream))?;
        let sim = self.lock();
        let index = sim.stream(stream, "synchronize_stream")?;
        let latest = sim.latest(index);
        self.wait(sim, "synchronize_stream", latest, stream.device())
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        self.add_event(device, false)
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        self.add_event(device, true)
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> DriverResult<f64> {
        self.simulated_time_between(start, end)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        let mut sim = self.enter("destroy_event", event.device(), Needs::Any)?;
        sim.destroy_event(event, "destroy_event")?;
        sim.check(event.device(), "destroy_event")
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        const CALL: &str = "record_event";
        if event.device() != stream.device() {
            let message = "an event is recorded on a stream of its own device";
            return Err(invalid_handle(CALL, event.device(), message));
        }
        // Records are mostly made under the lock of the stream's ring, and a body must not execute under a lock. `hold`
        // makes every record count as one under a lock, so bodies that are queued before it always execute in a later call.
        let _held = crate::lock::hold();
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        let event = sim.event(event, CALL)?;
        let latest = &mut sim.events[event];
        latest.records += 1;
        let op = Op::Record { event: latest.name, record: latest.records };
        let point = sim.submit(index, op);
        sim.recorded(event, point);
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        const CALL: &str = "wait_event";
        let _held = crate::lock::hold();
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        let slot = sim.event(event, CALL)?;
        let event = &sim.events[slot];
        let Some(until) = event.latest else { return Ok(()) };
        let op = Op::Wait { event: event.name, record: event.records, until };
        sim.submit(index, op);
        sim.ordered_after(index, slot);
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        let sim = self.enter("query_event", event.device(), Needs::Any)?;
        let slot = sim.event(event, "query_event")?;
        match sim.events[slot].latest {
            Some(latest) => self.query(sim, "query_event", latest, event.device()),
            None => {
                let mut sim = sim;
                sim.check(event.device(), "query_event").map(|()| true)
            }
        }
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        const CALL: &str = "synchronize_event";
        self.begin(CALL, event.device())?;
        self.check_context(CALL, event.device(), Needs::Any)?;
        let mut sim = self.lock();
        let slot = sim.event(event, CALL)?;
        match sim.events[slot].latest {
            Some(latest) => self.wait(sim, CALL, latest, event.device()),
            None => {
                self.permit(&sim, CALL, event.device())?;
                sim.check(event.device(), CALL)
            }
        }
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        _: MemorySource,
    ) -> DriverResult<MemoryRange> {
        self.allocate_on(stream, bytes)
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.free_on(stream, range) }
    }

    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()> {
        self.wait_for_all_streams(stream)
    }

    /// Does nothing: the simulator keeps freed memory, so that a use after free finds poison.
    fn trim(&self, device: DeviceId, _keep: u64) -> DriverResult<()> {
        self.enter("trim", device, Needs::Nothing)?.check(device, "trim")
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        self.allocate_page_locked(device, bytes)
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.free_page_locked(device, range) }
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.submit_copy(stream, copy) }
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        const CALL: &str = "fill";
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        sim.check_in_reach(CALL, stream.device(), range, || "the memory".to_owned())?;
        let MemoryRange { address, bytes } = range;
        sim.submit(index, Op::Fill { address, bytes, byte });
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        _: &Image,
    ) -> DriverResult<RawModule> {
        self.enter_bound("load_module", device)?.check(device, "load_module")?;
        Err(DriverError::Module {
            module: name.to_owned(),
            message: "the host simulator runs no compiled code; run it on a CUDA device".to_owned(),
        })
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        let mut sim = self.enter_bound("load_kernel", device)?;
        sim.check(device, "load_kernel")?;
        let Some(body) = source.host else {
            return Err(DriverError::Kernel {
                kernel: source.name.to_owned(),
                message: "it has no host body; give it one, or run it on a CUDA device".to_owned(),
            });
        };
        let handle = sim.functions.len() as u64;
        sim.functions.push(Function { device, name: source.name.into(), body });
        Ok(LoadedKernel {
            function: RawFunction::new(device, handle),
            block_size: 256,
            max_block_size: launch::THREADS,
        })
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.submit_launch(stream, launch) }
    }

    unsafe fn create_graph(
        &self,
        device: DeviceId,
        nodes: &[crate::driver::graph::GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.make_graph(device, nodes) }
    }

    unsafe fn launch_graph(&self, graph: RawGraph, stream: RawStream) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.submit_graph(graph, stream) }
    }

    unsafe fn set_graph_kernel(
        &self,
        graph: RawGraph,
        node: u32,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.set_kernel_of_graph(graph, node, launch) }
    }

    unsafe fn destroy_graph(&self, graph: RawGraph) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.give_back_graph(graph) }
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        self.submit("launch_host_function", stream, Op::Host(SendHostFunction(function)))
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    fn observer(&self) -> &dyn Observer {
        self
    }
}

// SAFETY: the body executes in the order of its stream, as every operation does.
unsafe impl Libraries for HostDriver {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.submit_library(stream, call) }
    }
}

impl Observer for HostDriver {
    fn next(&self) -> Option<&dyn Observer> {
        None
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let MemoryRange { address, bytes } = range;
        self.submit("recycle", stream, Op::Poison { address, bytes, why: Poison::Recycle })
    }

    unsafe fn adopt(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        let mut sim = self.enter("adopt", device, Needs::Nothing)?;
        sim.check(device, "adopt")?;
        sim.devices[device.index()].adopted.push(range);
        Ok(())
    }

    unsafe fn disown(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        const CALL: &str = "disown";
        let mut sim = self.enter(CALL, stream.device(), Needs::Any)?;
        let adopted = &mut sim.devices[stream.device().index()].adopted;
        match adopted.iter().position(|known| *known == range) {
            Some(index) => adopted.swap_remove(index),
            None => return Err(invalid_value(CALL, stream.device(), "this memory is not adopted")),
        };
        sim.retire_graphs_of(range);
        Ok(())
    }

    fn works_alone(&self) -> bool {
        false
    }

    fn catch_up(&self) {
        self.execute_put_off();
    }

    fn seed(&self) -> Option<u64> {
        self.seed
    }
}
