//! The calls of a [`RaceChecker`], one by one.

use super::RaceChecker;
use super::host_function;
use super::me;
use super::op::{Verb, Work, function_number};
use super::order::Kind;
use super::site::Action;
use super::{RaceMark, RaceReports};
use crate::driver::note::Note;
use crate::driver::{
    Access, AccessMode, CopyKind, CopyOp, DeviceId, Driver, DriverResult, HostFunction,
    KernelSource, Launch, Layer, LoadedKernel, MemoryRange, RawEvent, RawStream, StreamOptions,
};

// When a call is noted matters where threads meet. What gives something back is noted before it is
// made, since another thread may get the same number or address from it. A record, too: it covers
// what was queued before, and no work that another thread queues during the call. All else is noted
// when it has succeeded: what failed orders nothing and touches nothing.
//
// A launch, a record and a wait are inlined into what `Driver` calls: one call less in what costs most.
//
// In all SAFETY reasons below: `Layer` asks for the contract of the same method of `Driver`.
// SAFETY: every call is handed on as it is, and its answer back. A host function is handed on in
// another one that calls it.
unsafe impl Layer for RaceChecker {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    fn watches(&self) -> bool {
        true
    }

    fn take_races(&self) -> RaceReports {
        self.shared.take()
    }

    fn races_since(&self, mark: &mut RaceMark) -> RaceReports {
        self.shared.since(mark)
    }

    unsafe fn tell(&self, note: &Note<'_>) {
        // SAFETY: the caller's contract.
        unsafe { self.below.tell(note) };
        if let Note::At(location) = note {
            return me::set_location(location);
        }
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        let state = locked.state();
        match *note {
            Note::At(_) => {}
            Note::Enter { node, hook, tick } => state.enter(thread, node, hook, tick),
            Note::Leave => state.leave(thread),
            Note::Port { range, port, direction } => state.pass(thread, range, port, direction),
            Note::HostAccess { range, mode, location } => {
                state.host_access(thread, range, mode, Action::OnHost, Some(location));
            }
            Note::ForeignAccess { stream, range, mode, location } => {
                let action = Action::Foreign;
                let work = Work { stream, action, function: 0, location: Some(location) };
                state.work(&state.caller(thread), work, [Access { range, mode, argument: "" }]);
            }
            Note::Relies { on, by } => {
                let order = &mut state.order;
                let (on, by) = (order.stream(on), by.map(|by| order.stream(by)));
                order.rely(thread, on, by);
            }
            Note::StreamLabel { stream, label } => {
                let stream = state.order.stream(stream);
                state.order.name_stream(stream, label);
            }
        }
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let stream = self.below.create_stream(device, options)?;
        self.shared.lock().state().create_stream(stream, Kind::from(options.flags));
        Ok(stream)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.shared.lock().state().destroy_stream(stream);
        // SAFETY: the caller's contract.
        unsafe { self.below.destroy_stream(stream) }
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        self.ask_stream(stream);
        // SAFETY: the caller's contract.
        let complete = unsafe { self.below.query_stream(stream) }?;
        if complete {
            self.answer();
        }
        Ok(complete)
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.ask_stream(stream);
        // SAFETY: the caller's contract.
        unsafe { self.below.synchronize_stream(stream) }?;
        self.answer();
        Ok(())
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let event = self.below.create_event(device)?;
        self.shared.lock().state().order.add_event(event);
        Ok(event)
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let event = self.below.create_timing_event(device)?;
        self.shared.lock().state().order.add_event(event);
        Ok(event)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        self.shared.lock().state().order.forget_event(event);
        // SAFETY: the caller's contract.
        unsafe { self.below.destroy_event(event) }
    }

    #[inline(always)]
    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        self.shared.event(Verb::Record, stream, event);
        // SAFETY: the caller's contract.
        if let Err(error) = unsafe { self.below.record_event(event, stream) } {
            self.shared.event(Verb::Unrecord, stream, event);
            return Err(error);
        }
        Ok(())
    }

    #[inline(always)]
    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.wait_event(stream, event) }?;
        self.shared.event(Verb::Wait, stream, event);
        Ok(())
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        self.ask_event(event);
        // SAFETY: the caller's contract.
        let complete = unsafe { self.below.query_event(event) }?;
        if complete {
            self.answer();
        }
        Ok(complete)
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        self.ask_event(event);
        // SAFETY: the caller's contract.
        unsafe { self.below.synchronize_event(event) }?;
        self.answer();
        Ok(())
    }

    unsafe fn allocate(&self, stream: RawStream, bytes: u64) -> DriverResult<MemoryRange> {
        let location = me::take_location();
        // SAFETY: the caller's contract.
        let range = unsafe { self.below.allocate(stream, bytes) }?;
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().allocate(thread, stream, range, location);
        Ok(range)
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let location = me::take_location();
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().free(thread, stream, range, location);
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.free(stream, range) }
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.recycle(stream, range) }?;
        self.shared.work(stream, Action::Recycle, 0, &[write(range, "")]);
        Ok(())
    }

    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        let range = self.below.allocate_pinned(device, bytes)?;
        self.shared.lock().state().allocate_pinned(range);
        Ok(range)
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        let location = me::take_location();
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().free_pinned(thread, range, location);
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.free_pinned(device, range) }
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.copy(stream, copy) }?;
        let read = Access { range: copy.source, mode: AccessMode::Read, argument: "source" };
        let write = write(copy.target, "target");
        // Ordinary host memory is the caller's for the length of the call, which waits for the copy.
        let accesses: &[Access] = match copy.kind {
            CopyKind::PageableToDevice => &[write],
            CopyKind::DeviceToPageable => &[read],
            _ => &[read, write],
        };
        self.shared.work(stream, Action::Copy, 0, accesses);
        if copy.kind == CopyKind::DeviceToPageable {
            // The data has arrived, so all before it on the stream is complete. That data has left the
            // host says nothing of where it is.
            self.ask_stream(stream);
            self.answer();
        }
        Ok(())
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.fill(stream, range, byte) }?;
        self.shared.work(stream, Action::Fill, 0, &[write(range, "")]);
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
        self.shared.work(stream, Action::Kernel, function, launch.accesses);
        Ok(())
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        let mut locked = self.shared.lock();
        let (thread, state) = (locked.thread, locked.state());
        let queued = state.order.queue(state.order.host(thread), stream);
        let before = state.order.snapshot(queued.stream);
        drop(locked);
        let function = host_function::wrap(&self.shared, before, function);
        // SAFETY: the caller vouches for what is wrapped; the wrapper is valid until its one call.
        unsafe { self.below.launch_host_function(stream, function) }
    }
}

impl RaceChecker {
    fn ask_stream(&self, stream: RawStream) {
        let mut locked = self.shared.lock();
        let (thread, state) = (locked.thread, locked.state());
        let stream = state.order.stream(stream);
        state.order.ask_stream(thread, stream);
    }

    fn ask_event(&self, event: RawEvent) {
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().order.ask_event(thread, event);
    }

    /// What this thread has asked for is complete.
    fn answer(&self) {
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().order.answer(thread);
    }
}

fn write(range: MemoryRange, argument: &'static str) -> Access {
    Access { range, mode: AccessMode::Write, argument }
}
