//! The driver calls of a [`RaceChecker`]: each is noted, and forwarded to the driver below.

use arrayvec::ArrayVec;

use super::RaceChecker;
use super::current_thread;
use super::host_function;
use super::op::{EventOp, function_number, library_number};
use super::order::BarrierRole;
use super::site::Action;
use super::stamps::{stamped_event, stamped_stream};
use crate::driver::graph::GraphNode;
use crate::driver::{
    Access, AccessMode, CopyKind, CopyOp, DeviceId, Driver, DriverError, DriverResult,
    HostFunction, KernelSource, Launch, Layer, Libraries, LibraryCall, LoadedKernel, MemoryRange,
    MemorySource, Observer, RawEvent, RawGraph, RawStream, Rows, RowsAt, StreamOptions,
};

// With several threads it matters whether a call is noted before or after the driver is called. A call that destroys an
// object or frees memory is noted before: another thread may get the same handle or address as soon as the driver is called.
// A host function is noted before it is queued, since it comes after the work that was queued until then. A record, a wait,
// a query and a download that blocks are noted before, and take effect when they have succeeded (`order::in_flight`): they
// cover the work that was queued and recorded before, and nothing that another thread queues or records during the call. All
// other calls are noted after they have succeeded, since a failed call orders nothing and touches nothing.
//
// The code that notes a launch, a record or a wait is inlined into the `Driver` method, since these calls are the most
// frequent.
//
// In all SAFETY reasons below, "the caller's contract": `Layer` requires the contract of the same method of `Driver`.
// SAFETY: every call is forwarded unchanged, and so is its answer. A host function is forwarded within a wrapper that calls
// it.
unsafe impl Layer for RaceChecker {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    fn observer(&self) -> &dyn Observer {
        self
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let stream = stamped_stream(self.below.create_stream(device, options)?);
        let role = match options.green {
            Some(_) => BarrierRole::NonBlocking,
            None => BarrierRole::from(options.flags),
        };
        self.shared.lock().state().create_stream(stream, role);
        Ok(stream)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().destroy_stream(thread, stream);
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.destroy_stream(stream) }
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        let query = self.begin_stream_query(stream);
        // SAFETY: the caller's contract.
        self.end_query(query, unsafe { self.below.query_stream(stream) })
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        let query = self.begin_stream_query(stream);
        // SAFETY: the caller's contract.
        self.end_wait(query, unsafe { self.below.synchronize_stream(stream) })
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let event = stamped_event(self.below.create_event(device)?);
        self.shared.lock().state().order.add_event(event);
        Ok(event)
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let event = stamped_event(self.below.create_timing_event(device)?);
        self.shared.lock().state().order.add_event(event);
        Ok(event)
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> DriverResult<f64> {
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().measure(thread, start, end);
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.elapsed(start, end) }
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().destroy_event(thread, event);
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.destroy_event(event) }
    }

    #[inline(always)]
    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        let noted = self.shared.begin_event(EventOp::Record, stream, event);
        // SAFETY: the caller's contract.
        let recorded = unsafe { self.below.record_event(event, stream) };
        self.shared.end_event(noted, recorded.is_ok());
        recorded
    }

    #[inline(always)]
    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        let noted = self.shared.begin_event(EventOp::Wait, stream, event);
        // SAFETY: the caller's contract.
        let waited = unsafe { self.below.wait_event(stream, event) };
        self.shared.end_event(noted, waited.is_ok());
        waited
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        let query = self.begin_event_query(event);
        // SAFETY: the caller's contract.
        self.end_query(query, unsafe { self.below.query_event(event) })
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        let query = self.begin_event_query(event);
        // SAFETY: the caller's contract.
        self.end_wait(query, unsafe { self.below.synchronize_event(event) })
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        let location = current_thread::take_location();
        // SAFETY: the caller's contract.
        let range = unsafe { self.below.allocate(stream, bytes, source) }?;
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().allocate(thread, stream, range, location);
        Ok(range)
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let location = current_thread::take_location();
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().free(thread, stream, range, location);
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.free(stream, range) }
    }

    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()> {
        let mut locked = self.shared.lock();
        let (thread, state) = (locked.thread, locked.state());
        let before = state.order.everything_on(stream.device());
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.wait_for_device(stream) }?;
        let mut locked = self.shared.lock();
        let order = &mut locked.state().order;
        order.wait_for(order.host(thread), stream, &before);
        Ok(())
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        let range = self.below.allocate_pinned(device, bytes)?;
        self.shared.lock().state().allocate_pinned(range);
        Ok(range)
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        let location = current_thread::take_location();
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().free_pinned(thread, range, location);
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.free_pinned(device, range) }
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        let mut rows = ArrayVec::<Rows, 2>::new();
        let mut put = |it: Option<Rows>| {
            let place = RowsAt(rows.len() as u8);
            it.map(|it| rows.push(it)).map(|()| place)
        };
        let mode = AccessMode::Read;
        let source = put(copy.source_rows());
        let read = Access { range: copy.source, mode, argument: "source", rows: source };
        let write = Access { rows: put(copy.target_rows()), ..write(copy.target, "target") };
        if copy.kind == CopyKind::DeviceToPageable {
            let query = self.begin_download(stream, read, copy.source_rows());
            // SAFETY: the caller's contract.
            return self.end_wait(query, unsafe { self.below.copy(stream, copy) });
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.copy(stream, copy) }?;
        // A copy from ordinary host memory returns when it no longer needs that memory, so its read of the host's memory is
        // not noted. The return does not prove that the stream's work is complete: CUDA may return before the data has
        // arrived on the device.
        let accesses: &[Access] = match copy.kind {
            CopyKind::PageableToDevice => &[write],
            _ => &[read, write],
        };
        self.shared.work(stream, Action::Copy, 0, (accesses, &rows));
        Ok(())
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.fill(stream, range, byte) }?;
        self.shared.work(stream, Action::Fill, 0, (&[write(range, "")], &[]));
        Ok(())
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        // SAFETY: the caller's contract.
        let loaded = unsafe { self.below.load_kernel(device, source) }?;
        self.shared.lock().state().load(loaded.function, source.name);
        Ok(loaded)
    }

    #[inline(always)]
    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.launch(stream, launch) }?;
        let function = function_number(launch.function);
        self.shared.work(stream, Action::Kernel, function, (launch.accesses, launch.rows));
        Ok(())
    }

    /// Refuses the graph: the checker would not see the calls that a graph replays. A driver that replays graphs is below
    /// the checker, and the checker sees each call as the program makes it.
    unsafe fn create_graph(
        &self,
        _device: DeviceId,
        _nodes: &[GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        Err(DriverError::Unavailable {
            what: "a race checker can't check the work of a graph".to_owned(),
            remedy: "put the checker above the driver that replays".to_owned(),
        })
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        let function = host_function::wrap(&self.shared, stream, function);
        // SAFETY: the caller vouches for the function; the wrapper's data is valid until its one call.
        unsafe { self.below.launch_host_function(stream, function) }
    }
}

// SAFETY: every call is forwarded unchanged, and so is its answer.
unsafe impl Libraries for RaceChecker {
    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.libraries().call_library(stream, call) }?;
        self.shared.lock().state().name_library(call.function);
        let accesses = (call.accesses, call.rows);
        self.shared.work(stream, Action::Library, library_number(call.function), accesses);
        Ok(())
    }
}

pub(super) fn write(range: MemoryRange, argument: &'static str) -> Access {
    Access { range, mode: AccessMode::Write, argument, rows: None }
}
