//! The implementation of [`Driver`] for the simulator.

use super::*;

/// The most and the least urgent stream priority; those of recent GPUs.
const PRIORITIES: (i32, i32) = (-5, 0);

// SAFETY: memory comes from arenas that give a block to one owner and are kept while the driver lives,
// 256 bytes aligned. Operations execute one at a time, by the rules in `schedule`, and count as complete
// afterwards.
unsafe impl Driver for HostDriver {
    fn name(&self) -> &str {
        "host"
    }

    fn device_count(&self) -> usize {
        self.devices
    }

    fn device_info(&self, device: DeviceId) -> DriverResult<DeviceInfo> {
        self.begin("device_info", device)?;
        Ok(DeviceInfo {
            name: format!("simulated {device}"),
            compute_capability: (0, 0),
            multiprocessors: green::MULTIPROCESSORS,
            total_memory: self.memory,
            priorities: PRIORITIES,
        })
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.begin("bind", device)
    }

    /// `None` inside of a kernel's body, where the simulator's lock is held.
    fn sticky_error(&self) -> Option<Sticky> {
        // A foreign thread is noted as the test's trouble by `begin`, and still gets the answer.
        if self.begin("sticky_error", DeviceId(0)).is_err() && body::running(self.number).is_some()
        {
            return None;
        }
        self.lock().reported_error().cloned()
    }

    fn default_stream(&self, device: DeviceId) -> RawStream {
        // The first slots are the default streams. For a device that does not exist, every call refuses the
        // handle.
        RawStream::new(device, device.index() as u64)
    }

    /// The priority changes nothing; one out of range is refused, as by the CUDA driver.
    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let mut sim = self.enter("create_stream", device)?;
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

    fn sm_sizes(&self, device: DeviceId, coscheduling: Coscheduling) -> DriverResult<SmSizes> {
        self.begin("sm_sizes", device)?;
        Ok(green::sizes(coscheduling))
    }

    fn create_green_contexts(
        &self,
        device: DeviceId,
        coscheduling: Coscheduling,
        sizes: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        let mut sim = self.enter("create_green_contexts", device)?;
        sim.check(device, "create_green_contexts")?;
        sim.divide(device, coscheduling, sizes)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        let mut sim = self.enter("destroy_stream", stream.device())?;
        let index = sim.stream(stream, "destroy_stream")?;
        if sim.streams[index].kind == StreamKind::Default {
            let message = "the default stream can't be destroyed";
            return Err(invalid_handle("destroy_stream", stream.device(), message));
        }
        sim.destroy_stream(index);
        sim.check(stream.device(), "destroy_stream")
    }

    fn works_alone(&self) -> bool {
        false
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        let sim = self.enter("query_stream", stream.device())?;
        let index = sim.stream(stream, "query_stream")?;
        let latest = sim.latest(index);
        self.query(sim, "query_stream", latest, stream.device())
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.begin("synchronize_stream", stream.device())?;
        let sim = self.lock();
        let index = sim.stream(stream, "synchronize_stream")?;
        let latest = sim.latest(index);
        self.wait(sim, "synchronize_stream", latest, stream.device())
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let mut sim = self.enter("create_event", device)?;
        sim.check(device, "create_event")?;
        Ok(sim.add_event(device))
    }

    /// The same as `create_event`: all simulated events have a time.
    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        self.create_event(device)
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> DriverResult<f64> {
        const CALL: &str = "elapsed";
        let mut sim = self.enter(CALL, start.device())?;
        sim.check(start.device(), CALL)?;
        let mut time = |event: RawEvent| {
            let latest = sim.event(event, CALL)?.latest;
            match latest {
                Some(latest) if sim.reached(latest) => Ok(sim.time_of(latest) as f64),
                Some(_) => {
                    let message = "the event's record is not complete";
                    Err(call_error(CALL, event.device(), 600, "CUDA_ERROR_NOT_READY", message))
                }
                None => Err(invalid_handle(CALL, event.device(), "the event was never recorded")),
            }
        };
        let (start, end) = (time(start)?, time(end)?);
        let elapsed = (end - start) / 1e6;
        // The time depends on the order in which work was executed.
        sim.note_answer(elapsed.to_bits());
        Ok(elapsed)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        let mut sim = self.enter("destroy_event", event.device())?;
        sim.destroy_event(event, "destroy_event")?;
        sim.check(event.device(), "destroy_event")
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        const CALL: &str = "record_event";
        if event.device() != stream.device() {
            let message = "an event is recorded on a stream of its own device";
            return Err(invalid_handle(CALL, event.device(), message));
        }
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        let latest = sim.event(event, CALL)?;
        latest.records += 1;
        let op = Op::Record { event: latest.name, record: latest.records };
        let point = sim.submit(index, op);
        sim.event(event, CALL)?.latest = Some(point);
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        const CALL: &str = "wait_event";
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        let event = sim.event(event, CALL)?;
        let Some(until) = event.latest else { return Ok(()) };
        let op = Op::Wait { event: event.name, record: event.records, until };
        sim.submit(index, op);
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        let mut sim = self.enter("query_event", event.device())?;
        match sim.event(event, "query_event")?.latest {
            Some(latest) => self.query(sim, "query_event", latest, event.device()),
            None => sim.check(event.device(), "query_event").map(|()| true),
        }
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        const CALL: &str = "synchronize_event";
        self.begin(CALL, event.device())?;
        let mut sim = self.lock();
        match sim.event(event, CALL)?.latest {
            Some(latest) => self.wait(sim, CALL, latest, event.device()),
            None => {
                self.permit(&sim, CALL, event.device())?;
                sim.check(event.device(), CALL)
            }
        }
    }

    unsafe fn allocate(&self, stream: RawStream, bytes: u64) -> DriverResult<MemoryRange> {
        let (mut sim, index) = self.enter_stream("allocate", stream)?;
        let address = sim.allocate(index, bytes)?;
        sim.submit(index, Op::Poison { address, bytes, why: Poison::Allocate });
        drop(self.execute_after_submission(sim, index));
        Ok(MemoryRange { address, bytes })
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let (mut sim, index) = self.enter_stream("free", stream)?;
        let MemoryRange { address, bytes } = range;
        // The stream may belong to another device than the memory: a peer may free it.
        let owner = sim.devices.iter().position(|device| device.memory.is_live(address, bytes));
        let Some(owner) = owner else {
            return Err(invalid_value("free", stream.device(), "this memory is not allocated"));
        };
        let point = sim.submit(index, Op::Poison { address, bytes, why: Poison::Free });
        sim.devices[owner].memory.free(address, bytes, Some(point));
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let MemoryRange { address, bytes } = range;
        self.submit("recycle", stream, Op::Poison { address, bytes, why: Poison::Recycle })
    }

    /// Does nothing: the simulator keeps its memory, so that a use after free finds poison.
    fn trim(&self, device: DeviceId, _keep: u64) -> DriverResult<()> {
        self.enter("trim", device)?.check(device, "trim")
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        let mut sim = self.enter("allocate_pinned", device)?;
        sim.check(device, "allocate_pinned")?;
        let arena = &mut sim.devices[device.index()].pinned;
        let Some(address) = arena.allocate(bytes, u64::MAX, |_| true, |_| true) else {
            return Err(DriverError::OutOfMemory { device, requested: bytes });
        };
        // SAFETY: the arena just handed it out, so it has no other owner.
        unsafe { memory::poison(address, bytes, POISON_ALLOCATED) };
        Ok(MemoryRange { address, bytes })
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        const CALL: &str = "free_pinned";
        let mut sim = self.enter(CALL, device)?;
        let MemoryRange { address, bytes } = range;
        if !sim.devices[device.index()].pinned.is_live(address, bytes) {
            return Err(invalid_value(CALL, device, "this memory is not allocated"));
        }
        // CUDA may synchronise here, so the simulator does.
        for index in 0..sim.streams.len() {
            if sim.streams[index].device == device {
                let latest = sim.latest(index);
                sim = self.execute_until(sim, CALL, latest)?;
            }
        }
        if sim.devices[device.index()].pinned.free(address, bytes, None) {
            // SAFETY: the arena keeps the memory, and no queued work uses it, by the contract.
            unsafe { memory::poison(address, bytes, POISON_FREED) };
        }
        sim.check(device, CALL)
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        const CALL: &str = "copy";
        if copy.target.bytes != copy.source.bytes {
            let message = format!(
                "{} bytes can't be copied to {} bytes",
                copy.source.bytes, copy.target.bytes
            );
            return Err(invalid_value(CALL, stream.device(), &message));
        }
        if let CopyKind::Peer { from, to } = copy.kind {
            self.check_device(CALL, from)?;
            self.check_device(CALL, to)?;
            if ![from, to].contains(&stream.device()) {
                let message = "a copy between devices is queued on a stream of one of them";
                return Err(invalid_value(CALL, stream.device(), message));
            }
        }
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        let op = Op::Copy {
            target: copy.target.address,
            source: copy.source.address,
            bytes: copy.source.bytes,
            kind: copy.kind,
        };
        let point = sim.submit(index, op);
        let sim = self.execute_after_submission(sim, index);
        if copy.kind.blocks_host() {
            let done = self.wait(sim, CALL, point, stream.device());
            if done.is_err() {
                // The host memory belongs to the caller again: a copy that is still queued must not touch it.
                self.lock().cancel_copy(point);
            }
            return done;
        }
        Ok(())
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        let MemoryRange { address, bytes } = range;
        self.submit("fill", stream, Op::Fill { address, bytes, byte })
    }

    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        _: &Image,
    ) -> DriverResult<RawModule> {
        self.enter("load_module", device)?.check(device, "load_module")?;
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
        let mut sim = self.enter("load_kernel", device)?;
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
            max_block_size: limits::THREADS,
        })
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        const CALL: &str = "launch";
        if let Some(message) = limits::exceeded(launch) {
            return Err(invalid_value(CALL, stream.device(), &message));
        }
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        let function = sim.function(launch.function, CALL)?;
        if launch.function.device() != stream.device() {
            let message = "the kernel was loaded for another device";
            return Err(invalid_handle(CALL, stream.device(), message));
        }
        sim.streams[index].params.extend(launch.params);
        let bytes = launch.accesses.iter().map(|access| access.range.bytes).sum();
        sim.submit(index, Op::Kernel { function, params: launch.params.len() as u32, bytes });
        drop(self.execute_after_submission(sim, index));
        Ok(())
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        self.submit("launch_host_function", stream, Op::Host(SendHostFunction(function)))
    }
}
