//! The implementation of [`Driver`] for [`CudaDriver`].

use cudarc::driver::sys;

use super::error::{
    STICKY, check, check_allocated, check_given_back, check_query, explain, failure,
};
use super::module::{self, Module, What};
use super::optional::cuEventElapsedTime_v2;
use super::submit::{length, stream_of};
use super::{CudaDriver, context, handle_of, pointer_to, pool};
use crate::driver::graph::GraphNode;
use crate::driver::{
    Code, CopyOp, Coscheduling, DeviceId, DeviceInfo, Driver, DriverResult, GreenContext,
    HostFunction, Image, KernelSource, Launch, Libraries, LoadedKernel, MemoryRange, MemorySource,
    Observer, RawEvent, RawGraph, RawModule, RawStream, SmSizes, Sticky, StreamFlags,
    StreamOptions, Target,
};

fn create_event(device: DeviceId, flags: sys::CUevent_flags) -> DriverResult<RawEvent> {
    STICKY.usable("cuEventCreate")?;
    let mut event: sys::CUevent = std::ptr::null_mut();
    // SAFETY: CUDA writes one handle to `event`.
    let result = unsafe { sys::cuEventCreate(&raw mut event, flags as u32) };
    check("cuEventCreate", device, result)?;
    Ok(RawEvent::new(device, handle_of(event)))
}

fn event_of(event: RawEvent) -> sys::CUevent {
    pointer_to(event.handle())
}

// In the SAFETY comments below, "valid" means that the handle is live, which the contract of the method requires.
//
// SAFETY: CUDA keeps these promises: memory of `cuMemAllocFromPoolAsync` and `cuMemHostAlloc` is as large as requested,
// aligned to 256 bytes and has one owner (CUDA driver API, *Memory Management*), and streams are in order. Copies from
// and to pageable memory are waited for here. Every return code is checked.
unsafe impl Driver for CudaDriver {
    fn name(&self) -> &str {
        "cuda"
    }

    fn device_count(&self) -> usize {
        self.devices.len()
    }

    fn device_info(&self, device: DeviceId) -> DriverResult<DeviceInfo> {
        Ok(self.device(device)?.info.clone())
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        STICKY.usable("cuCtxSetCurrent")?;
        context::bind(&self.device(device)?.context, device)
    }

    fn sticky_error(&self) -> Option<Sticky> {
        STICKY.get().cloned()
    }

    fn default_stream(&self, device: DeviceId) -> RawStream {
        RawStream::new(device, 0)
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        const CALL: &str = "cuStreamCreateWithPriority";
        STICKY.usable(CALL)?;
        let (most, least) = self.device(device)?.info.priorities;
        let StreamOptions { flags, priority, green } = options;
        if !(most..=least).contains(&priority) {
            // CUDA itself would silently take the nearest legal priority.
            return Err(explain(
                failure(CALL, device, sys::CUresult::CUDA_ERROR_INVALID_VALUE),
                || format!("priority {priority} is not one of this device's, {most}..={least}"),
            ));
        }
        if let Some(green) = green {
            let stream = self.green_stream(device, green, options)?;
            return Ok(RawStream::new(device, handle_of(stream)));
        }
        let flags = match flags {
            StreamFlags::NonBlocking => sys::CUstream_flags::CU_STREAM_NON_BLOCKING,
            StreamFlags::Blocking => sys::CUstream_flags::CU_STREAM_DEFAULT,
        };
        let mut stream: sys::CUstream = std::ptr::null_mut();
        // SAFETY: CUDA writes one handle to `stream`.
        let result =
            unsafe { sys::cuStreamCreateWithPriority(&raw mut stream, flags as u32, priority) };
        check(CALL, device, result)?;
        Ok(RawStream::new(device, handle_of(stream)))
    }

    unsafe fn device_of_stream(&self, handle: u64) -> DriverResult<DeviceId> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.find_device_of_stream(handle) }
    }

    fn sm_sizes(&self, device: DeviceId, coscheduling: Coscheduling) -> DriverResult<SmSizes> {
        STICKY.usable("cuDeviceGetDevResource")?;
        self.probe_sm_sizes(device, coscheduling)
    }

    fn create_green_contexts(
        &self,
        device: DeviceId,
        coscheduling: Coscheduling,
        sizes: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        STICKY.usable("cuGreenCtxCreate")?;
        self.divide(device, coscheduling, sizes)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        if STICKY.get().is_some() {
            return Ok(());
        }
        // SAFETY: the caller destroys a stream of this driver, once. CUDA lets queued work finish.
        let result = unsafe { sys::cuStreamDestroy_v2(stream_of(stream)) };
        check_given_back("cuStreamDestroy", stream.device(), result)
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        STICKY.usable("cuStreamQuery")?;
        // SAFETY: the stream is valid.
        let result = unsafe { sys::cuStreamQuery(stream_of(stream)) };
        check_query("cuStreamQuery", stream.device(), result)
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        STICKY.usable("cuStreamSynchronize")?;
        // SAFETY: the stream is valid.
        let result = unsafe { sys::cuStreamSynchronize(stream_of(stream)) };
        check("cuStreamSynchronize", stream.device(), result)
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        // The event has no timing: a record with timing costs several times as much.
        create_event(device, sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        create_event(device, sys::CUevent_flags::CU_EVENT_DEFAULT)
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> DriverResult<f64> {
        // cudarc's bindings have only the second version of this function.
        const CALL: &str = "cuEventElapsedTime_v2";
        STICKY.usable(CALL)?;
        let elapsed = cuEventElapsedTime_v2.get()?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: CUDA writes one number to `milliseconds`, and the two events are valid and have timing.
        let result = unsafe { elapsed(&raw mut milliseconds, event_of(start), event_of(end)) };
        check(CALL, start.device(), result)?;
        Ok(f64::from(milliseconds))
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        if STICKY.get().is_some() {
            return Ok(());
        }
        // SAFETY: the caller destroys an event of this driver, once. CUDA lets pending records and waits
        // finish.
        let result = unsafe { sys::cuEventDestroy_v2(event_of(event)) };
        check_given_back("cuEventDestroy", event.device(), result)
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        STICKY.usable("cuEventRecord")?;
        // SAFETY: the event and the stream are valid.
        let result = unsafe { sys::cuEventRecord(event_of(event), stream_of(stream)) };
        check("cuEventRecord", stream.device(), result)
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        STICKY.usable("cuStreamWaitEvent")?;
        // SAFETY: the event and the stream are valid; 0 is the flag for the usual wait.
        let result = unsafe { sys::cuStreamWaitEvent(stream_of(stream), event_of(event), 0) };
        check("cuStreamWaitEvent", stream.device(), result)
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        STICKY.usable("cuEventQuery")?;
        // SAFETY: the event is valid.
        let result = unsafe { sys::cuEventQuery(event_of(event)) };
        check_query("cuEventQuery", event.device(), result)
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        STICKY.usable("cuEventSynchronize")?;
        // SAFETY: the event is valid.
        let result = unsafe { sys::cuEventSynchronize(event_of(event)) };
        check("cuEventSynchronize", event.device(), result)
    }

    /// Allocates from the device's pool. For 0 bytes the range is empty, at address 0, and CUDA is not called.
    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        STICKY.usable("cuMemAllocFromPoolAsync")?;
        let pool = &self.device(stream.device())?.pool;
        if bytes == 0 {
            return Ok(MemoryRange::default());
        }
        // SAFETY: the caller keeps the same contract, and the stream is on the pool's device.
        unsafe { pool.allocate(stream, bytes, source) }
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        if range.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller frees what `allocate` gave, once, and ordered after all uses.
        unsafe { pool::free(stream, range) }
    }

    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.wait_for_context(stream) }
    }

    /// Trims the device's pool. CUDA trims only memory with a `free` that it has found complete. A synchronisation with
    /// the stream of the `free` finds the `free` complete; before that, the memory stays.
    fn trim(&self, device: DeviceId, keep: u64) -> DriverResult<()> {
        STICKY.usable("cuMemPoolTrimTo")?;
        self.device(device)?.pool.trim(keep)
    }

    /// Allocates memory that is page-locked for all devices. The memory is not write-combined: the host reads it, too.
    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        STICKY.usable("cuMemHostAlloc")?;
        if bytes == 0 {
            return Ok(MemoryRange::default());
        }
        let mut address: *mut std::ffi::c_void = std::ptr::null_mut();
        // SAFETY: CUDA writes one pointer to `address`.
        let result = unsafe {
            sys::cuMemHostAlloc(&raw mut address, bytes as usize, sys::CU_MEMHOSTALLOC_PORTABLE)
        };
        check_allocated("cuMemHostAlloc", device, bytes, result)?;
        Ok(MemoryRange { address: handle_of(address), bytes })
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        if range.bytes == 0 || STICKY.get().is_some() {
            return Ok(());
        }
        // SAFETY: the caller frees what `allocate_pinned` gave, once, and nothing queued uses it.
        let result = unsafe { sys::cuMemFreeHost(pointer_to(range.address)) };
        check_given_back("cuMemFreeHost", device, result)
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.submit_copy(stream, copy) }
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        STICKY.usable("cuMemsetD8Async")?;
        if range.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller vouches for the range until the fill has executed.
        let result =
            unsafe { sys::cuMemsetD8Async(range.address, byte, length(range), stream_of(stream)) };
        check("cuMemsetD8Async", stream.device(), result)
    }

    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        image: &Image,
    ) -> DriverResult<RawModule> {
        STICKY.usable("cuModuleLoadDataEx")?;
        context::bind(&self.device(device)?.context, device)?;
        // SAFETY: the caller keeps the same contract.
        let module = unsafe { Module::load(device, What::Module(name), image) }?;
        let raw = RawModule::new(device, module.handle());
        self.keep(module);
        Ok(raw)
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        STICKY.usable("cuModuleGetFunction")?;
        let on = self.device(device)?;
        let module = match &source.code {
            Code::Module(module) => {
                context::bind(&on.context, device)?;
                module.handle()
            }
            Code::Image(make) => {
                let image = make(Target { compute_capability: on.info.compute_capability })?;
                // The context is bound after `make`, since `make` may have bound another context.
                context::bind(&on.context, device)?;
                // SAFETY: the caller vouches for the image.
                let module = unsafe { Module::load(device, What::Kernel(source.name), &image) }?;
                let handle = module.handle();
                // The module is kept even if its function is not found: unloading it would wait for the device.
                self.keep(module);
                handle
            }
            Code::Embedded(code) => {
                context::bind(&on.context, device)?;
                // SAFETY: the caller vouches for the image.
                unsafe { self.embedded(device, source.name, code) }?
            }
        };
        // SAFETY: the module belongs to this driver, and the driver keeps all modules that it loads.
        let function = unsafe { module::function(device, module, source) }?;
        self.functions.add(device, function)
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        // SAFETY: the caller keeps the same contract.
        unsafe { self.submit_launch(stream, launch) }
    }

    unsafe fn create_graph(
        &self,
        device: DeviceId,
        nodes: &[GraphNode<'_>],
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
        STICKY.usable("cuLaunchHostFunc")?;
        // SAFETY: the caller vouches for the function and its data until the function has been called.
        let result =
            unsafe { sys::cuLaunchHostFunc(stream_of(stream), Some(function.call), function.data) };
        check("cuLaunchHostFunc", stream.device(), result)
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    #[inline]
    fn observer(&self) -> &dyn Observer {
        self
    }
}

// The driver needs no call for memory that gets another owner: addresses are unique over the process.
impl Observer for CudaDriver {
    fn next(&self) -> Option<&dyn Observer> {
        None
    }

    unsafe fn recycle(&self, _stream: RawStream, _range: MemoryRange) -> DriverResult<()> {
        // After a sticky error the caller gets that error from this method, as it would from an allocation.
        STICKY.usable("cuMemAllocFromPoolAsync")
    }

    unsafe fn adopt(&self, _device: DeviceId, _range: MemoryRange) -> DriverResult<()> {
        // After a sticky error no work can use adopted memory, so the caller gets that error.
        STICKY.usable("adopting memory")
    }
}
