//! The driver calls of a [`Replaying`]: each is held back, or forwarded to the driver below.

use super::answer::Asked;
use super::bound;
use super::entry::Looked;
use super::state::State;
use super::trace::Given;
use super::{Omission, Replaying};
use crate::driver::{
    Code, CopyOp, DeviceId, Driver, DriverResult, HostFunction, KernelSource, Launch, Layer,
    Libraries, LibraryCall, LibraryCalls, LoadedKernel, MemoryRange, MemorySource, Observer,
    RawEvent, RawStream, Sticky, StreamOptions,
};

// In all SAFETY reasons below, "the caller's contract": `Layer` requires the contract of the same method of `Driver`.
// SAFETY: the promises of the driver below hold for this layer, too. A call that is held back is made later, or by the
// launch of a graph, in the order that streams and events give to all work that shares memory. Work that an answer reports
// as complete is complete. A call that is not held back is forwarded.
unsafe impl<D: Driver> Layer for Replaying<D> {
    fn below(&self) -> &dyn Driver {
        &self.below
    }

    fn sticky_error(&self) -> Option<Sticky> {
        self.lost.cause().cloned().or_else(|| self.below.sticky_error())
    }

    fn bind(&self, device: DeviceId) -> DriverResult<()> {
        self.below.bind(device)?;
        bound::note(&self.below, device);
        Ok(())
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let stream = self.below.create_stream(device, options)?;
        self.with(|state, _| state.add_stream(stream, options));
        Ok(stream)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        let forgotten: Option<DriverResult<()>> = self.with(|state, who| {
            if self.is_on() {
                state.disturb(&self.below, who, "a stream that is destroyed", None, false)?;
                state.settle(&self.below, stream)?;
            }
            // The entry is removed under the same lock, so that no call of the stream is held back in between. It is removed
            // before the stream is destroyed, since another thread's new stream may get the same handle right after that.
            state.remove_stream(stream);
            Ok(())
        });
        forgotten.unwrap_or(Ok(()))?;
        // SAFETY: the caller's contract.
        unsafe { self.below.destroy_stream(stream) }
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        if self.is_on() {
            let ask = |state: &mut State, number| state.is_complete(&self.below, number);
            if self.answer(Asked::Stream(stream), ask)? == Some(false) {
                return Ok(false);
            }
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.query_stream(stream) }
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        if self.is_on() {
            let list = |state: &mut State, number| state.awaited(&self.below, number);
            if let Some(list) = self.answer(Asked::Stream(stream), list)? {
                self.wait_for(&list)?;
            }
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.synchronize_stream(stream) }
    }

    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let event = self.below.create_event(device)?;
        self.with(|state, _| state.add_event(event, true));
        Ok(event)
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        let event = self.below.create_timing_event(device)?;
        self.with(|state, _| state.add_event(event, false));
        Ok(event)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        self.disturb(None, "an event that is destroyed", None)?;
        self.with(|state, _| state.remove_event(event));
        // SAFETY: the caller's contract.
        unsafe { self.below.destroy_event(event) }
    }

    #[inline]
    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        if self.is_on() {
            let is_next = |state: &mut State, node| state.is_next_record(node, stream, event);
            // `beside` makes the call with the state locked: otherwise the thread of a pass could hold back another record
            // of the event between the check and the call.
            let beside = |state: &mut State| {
                if !state.spares(event) {
                    return None;
                }
                // SAFETY: the caller's contract.
                let done = unsafe { self.below.record_event(event, stream) };
                if done.is_ok() {
                    state.mark_recorded(event);
                }
                Some(done)
            };
            return match self.look(stream, is_next, beside) {
                Some(Looked::Held) => Ok(()),
                Some(Looked::Beside(done)) => done,
                // SAFETY: the caller's contract.
                None => unsafe { self.record_or_hold(event, stream) },
            };
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.record_event(event, stream) }
    }

    #[inline]
    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        if self.is_on() {
            let is_next = |state: &mut State, node| state.is_next_wait(node, stream, event);
            let beside = |state: &mut State| {
                // SAFETY: the caller's contract.
                state.is_sent(event).then(|| unsafe { self.below.wait_event(stream, event) })
            };
            return match self.look(stream, is_next, beside) {
                Some(Looked::Held) => Ok(()),
                Some(Looked::Beside(done)) => done,
                // SAFETY: the caller's contract.
                None => unsafe { self.wait_or_hold(stream, event) },
            };
        }
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.wait_event(stream, event) })
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        if self.is_on() {
            let ask = |state: &mut State, number| state.is_complete(&self.below, number);
            if let Some(complete) = self.answer(Asked::Event(event), ask)? {
                return Ok(complete);
            }
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.query_event(event) }
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        if self.is_on() {
            let list = |state: &mut State, number| state.awaited(&self.below, number);
            if let Some(list) = self.answer(Asked::Event(event), list)? {
                return self.wait_for(&list);
            }
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.synchronize_event(event) }
    }

    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> DriverResult<f64> {
        self.disturb(None, "a time between events", None)?;
        // SAFETY: the caller's contract. A record of an event with timing is never held back, so no launch contains it.
        unsafe { self.below.elapsed(start, end) }
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        self.disturb(Some(stream), "an allocation of device memory", None)?;
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.allocate(stream, bytes, source) })
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.disturb(Some(stream), "a free of device memory", None)?;
        self.give_back(range)?;
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.free(stream, range) })
    }

    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()> {
        self.disturb_all(stream, "a wait for the whole device")?;
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.wait_for_device(stream) })
    }

    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        self.disturb(None, "a free of page-locked memory", None)?;
        self.give_back(range)?;
        // SAFETY: the caller's contract.
        unsafe { self.below.free_pinned(device, range) }
    }

    #[inline]
    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        if self.is_on() {
            let is_next = |state: &mut State, node| state.is_next(node, stream, Given::Copy(copy));
            // SAFETY: the caller's contract.
            let send = || unsafe { self.below.copy(stream, copy) };
            return self.send_or_hold(stream, is_next, Given::Copy(copy), send);
        }
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.copy(stream, copy) })
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()> {
        if self.is_on() {
            let is_next =
                |state: &mut State, node| state.is_next(node, stream, Given::Fill(range, byte));
            // SAFETY: the caller's contract.
            let send = || unsafe { self.below.fill(stream, range, byte) };
            return self.send_or_hold(stream, is_next, Given::Fill(range, byte), send);
        }
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.fill(stream, range, byte) })
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        // SAFETY: the caller's contract.
        let loaded = unsafe { self.below.load_kernel(device, source) }?;
        let has_state = matches!(source.code, Code::Module(_));
        self.with(|state, _| state.add_kernel(loaded.function, source.name, has_state));
        Ok(loaded)
    }

    #[inline]
    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        if self.is_on() {
            let is_next =
                |state: &mut State, node| state.is_next(node, stream, Given::Launch(launch));
            // SAFETY: the caller's contract.
            let send = || unsafe { self.below.launch(stream, launch) };
            return self.send_or_hold(stream, is_next, Given::Launch(launch), send);
        }
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.launch(stream, launch) })
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        self.disturb(Some(stream), "a host function", Some(Omission::HostFunctions))?;
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.launch_host_function(stream, function) })
    }

    #[inline]
    fn libraries(&self) -> &dyn Libraries {
        self
    }

    #[inline]
    fn observer(&self) -> &dyn Observer {
        self
    }
}

// SAFETY: a call is held back and later replayed as a captured graph of its work, or forwarded after the held-back calls.
unsafe impl<D: Driver> Libraries for Replaying<D> {
    #[inline]
    fn library_calls(&self) -> LibraryCalls {
        // While the switch is on, library calls must come with their parameters and accesses, since calls with only a body
        // can't be compared.
        if self.is_on() { LibraryCalls::Whole } else { self.below.libraries().library_calls() }
    }

    unsafe fn call_library(&self, stream: RawStream, call: &LibraryCall<'_>) -> DriverResult<()> {
        let is_whole = !call.params.is_empty() || !call.accesses.is_empty();
        if call.is_captured && is_whole && self.is_on() {
            let is_next = |state: &mut State, node| state.is_next_library(node, stream, call);
            // SAFETY: the caller's contract.
            let send = || unsafe { self.below.libraries().call_library(stream, call) };
            return match self.look(stream, is_next, |_| Some(())) {
                Some(Looked::Held) => Ok(()),
                Some(Looked::Beside(())) => self.queued(stream, send()),
                // SAFETY: the caller's contract.
                None => unsafe { self.library_or_hold(stream, call, send) },
            };
        }
        let what = "a call of a library that may not be captured";
        // SAFETY: the caller's contract.
        self.send_library(stream, what, || unsafe {
            self.below.libraries().call_library(stream, call)
        })
    }
}
