//! A call as its thread notes it.

use super::site::Action;
use crate::driver::note::SourceLocation;
use crate::driver::{Access, AccessMode, DeviceId, MemoryRange, RawEvent, RawFunction, RawStream};

/// A call, or an access of the call before.
///
/// It is flat, and its fields are written and read one by one: an enum is put together on the stack and
/// copied from there in larger pieces, for which a processor has to wait until the smaller ones have
/// reached the cache (Intel's optimization manual, *Store forwarding*).
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Op {
    verb: Verb,
    pub(super) action: Action,
    mode: AccessMode,
    /// Of work: how many follow.
    accesses: u16,
    device: DeviceId,
    event_device: DeviceId,
    /// A stream, or an address.
    first: u64,
    /// A function, an event, or a number of bytes.
    second: u64,
    rest: Rest,
}

/// What only some have.
#[derive(Clone, Copy)]
union Rest {
    /// Of work.
    location: Option<SourceLocation>,
    /// Of an access.
    argument: &'static str,
    /// Of the others, which then need not be written.
    nothing: (),
}

/// Which call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Verb {
    /// Work is queued; its accesses follow.
    Work,
    /// An access of the work before.
    Access,
    Record,
    Unrecord,
    Wait,
}

impl Op {
    #[inline(always)]
    pub(super) fn work(
        stream: RawStream,
        action: Action,
        function: u64,
        location: Option<SourceLocation>,
        accesses: usize,
    ) -> Self {
        // A kernel has 32 parameters at most.
        let accesses = accesses.min(u16::MAX as usize) as u16;
        Self {
            verb: Verb::Work,
            action,
            mode: AccessMode::Read,
            accesses,
            device: stream.device(),
            event_device: stream.device(),
            first: stream.handle(),
            second: function,
            rest: Rest { location },
        }
    }

    #[inline(always)]
    pub(super) fn access(access: &Access) -> Self {
        Self {
            verb: Verb::Access,
            action: Action::OnHost,
            mode: access.mode,
            accesses: 0,
            device: DeviceId(0),
            event_device: DeviceId(0),
            first: access.range.address,
            second: access.range.bytes,
            rest: Rest { argument: access.argument },
        }
    }

    #[inline(always)]
    pub(super) fn record(stream: RawStream, event: RawEvent) -> Self {
        Self::event(Verb::Record, stream, event)
    }

    #[inline(always)]
    pub(super) fn unrecord(stream: RawStream, event: RawEvent) -> Self {
        Self::event(Verb::Unrecord, stream, event)
    }

    #[inline(always)]
    pub(super) fn wait(stream: RawStream, event: RawEvent) -> Self {
        Self::event(Verb::Wait, stream, event)
    }

    #[inline(always)]
    fn event(verb: Verb, stream: RawStream, event: RawEvent) -> Self {
        Self {
            verb,
            action: Action::OnHost,
            mode: AccessMode::Read,
            accesses: 0,
            device: stream.device(),
            event_device: event.device(),
            first: stream.handle(),
            second: event.handle(),
            rest: Rest { nothing: () },
        }
    }

    #[inline(always)]
    pub(super) fn stream(&self) -> RawStream {
        RawStream::new(self.device, self.first)
    }

    #[inline(always)]
    pub(super) fn of_event(&self) -> RawEvent {
        RawEvent::new(self.event_device, self.second)
    }

    #[inline(always)]
    pub(super) fn verb(&self) -> Verb {
        self.verb
    }

    /// Where work was asked for.
    #[inline(always)]
    pub(super) fn location(&self) -> Option<SourceLocation> {
        if self.verb == Verb::Work {
            // SAFETY: the verb is private, and work is made with a location alone.
            unsafe { self.rest.location }
        } else {
            None
        }
    }

    /// What an access was passed as.
    #[inline(always)]
    pub(super) fn argument(&self) -> &'static str {
        if self.verb == Verb::Access {
            // SAFETY: the verb is private, and an access is made with an argument alone.
            unsafe { self.rest.argument }
        } else {
            ""
        }
    }

    #[inline(always)]
    pub(super) fn function(&self) -> u64 {
        self.second
    }

    #[inline(always)]
    pub(super) fn range(&self) -> MemoryRange {
        MemoryRange { address: self.first, bytes: self.second }
    }

    #[inline(always)]
    pub(super) fn accesses(&self) -> usize {
        self.accesses as usize
    }

    #[inline(always)]
    pub(super) fn mode(&self) -> AccessMode {
        self.mode
    }
}

/// A function's number for a site: a driver's handle names one kernel, on whatever device.
pub(super) fn function_number(function: RawFunction) -> u64 {
    function.handle()
}
