//! Calls in flight: records, waits and queries that were noted, and that the driver may not have taken yet.
//!
//! Another thread may record the event of a wait while the wait is made. Then nobody knows which record the wait saw. It
//! is judged by what all these records have in common: that order holds in any case.

use super::events::Event;
use super::{HostThread, Order, Queued, Stream};
use crate::driver::race::clock::Clock;
use crate::driver::{RawEvent, RawStream};

/// A call in flight, until it is finished or cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::driver::race) struct CallId(usize);

/// What a call does when it has succeeded.
#[derive(Debug, Clone, Copy)]
enum Effect {
    /// None: the slot is free.
    Free,
    /// The event gets the clock.
    Record { stream: u32, epoch: u64 },
    /// The stream comes after the clock.
    Wait { stream: u32 },
    /// The thread has found complete what the clock has.
    Query { thread: u32 },
}

#[derive(Debug)]
struct Slot {
    effect: Effect,
    event: u32,
    clock: Clock,
}

/// The event of a call that has none.
const NO_EVENT: u32 = u32::MAX;

/// The epoch of a record whose clock is what several records have in common: no stream's epoch stands for it.
const MIXED: u64 = u64::MAX;

/// All calls in flight. The slots keep their memory.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    slots: Vec<Slot>,
    count: usize,
}

impl InFlight {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A free slot, and its clock, with which the caller [begins](Self::begin) the call.
    #[inline]
    fn claim(&mut self) -> (usize, Clock) {
        let free = self.slots.iter().position(|slot| matches!(slot.effect, Effect::Free));
        let index = free.unwrap_or_else(|| {
            let clock = Clock::default();
            self.slots.push(Slot { effect: Effect::Free, event: NO_EVENT, clock });
            self.slots.len() - 1
        });
        (index, std::mem::take(&mut self.slots[index].clock))
    }

    #[inline]
    fn begin(&mut self, index: usize, effect: Effect, event: u32, clock: Clock) -> CallId {
        self.count += 1;
        self.slots[index] = Slot { effect, event, clock };
        CallId(index)
    }

    #[inline]
    fn end(&mut self, call: CallId) -> Effect {
        self.count -= 1;
        std::mem::replace(&mut self.slots[call.0].effect, Effect::Free)
    }

    /// What the event's record, which has `clock`, and those in flight have in common.
    fn common(&self, event: u32, clock: &mut Clock) {
        for slot in self.slots.iter().filter(|slot| slot.event == event) {
            if let Effect::Record { .. } = slot.effect {
                clock.keep_common(&slot.clock);
            }
        }
    }

    /// The event is destroyed, and its index may be used again.
    pub(super) fn forget_event(&mut self, event: u32) {
        let of_it = self.slots.iter_mut().filter(|slot| slot.event == event);
        of_it.for_each(|slot| slot.event = NO_EVENT);
    }
}

impl Order {
    /// The thread is about to record an event.
    pub(in crate::driver::race) fn begin_record(
        &mut self,
        host: HostThread,
        stream: RawStream,
        raw: RawEvent,
    ) -> CallId {
        let Queued { stream, epoch } = self.queue(host, stream);
        let event = self.event(raw);
        let (slot, mut before) = self.in_flight.claim();
        self.release(stream, &mut before);
        let mut is_alone = true;
        for slot in self.in_flight.slots.iter_mut().filter(|slot| slot.event == event) {
            match &mut slot.effect {
                Effect::Free => {}
                Effect::Wait { .. } | Effect::Query { .. } => slot.clock.keep_common(&before),
                Effect::Record { epoch, .. } => {
                    // Whichever the driver takes last, the event has at least what both have.
                    slot.clock.keep_common(&before);
                    before.copy_from(&slot.clock);
                    (*epoch, is_alone) = (MIXED, false);
                }
            }
        }
        let epoch = if is_alone { epoch } else { MIXED };
        self.in_flight.begin(slot, Effect::Record { stream, epoch }, event, before)
    }

    /// The thread is about to make a stream wait for an event.
    pub(in crate::driver::race) fn begin_wait(
        &mut self,
        host: HostThread,
        stream: RawStream,
        raw: RawEvent,
    ) -> CallId {
        let Queued { stream, .. } = self.queue(host, stream);
        let event = self.event(raw);
        self.begin_on_event(Effect::Wait { stream }, event)
    }

    /// The thread is about to query all that is queued on `stream`, or to wait for it.
    pub(in crate::driver::race) fn begin_stream_query(
        &mut self,
        thread: u32,
        stream: u32,
    ) -> CallId {
        let (slot, mut before) = self.in_flight.claim();
        self.release(stream, &mut before);
        self.in_flight.begin(slot, Effect::Query { thread }, NO_EVENT, before)
    }

    /// The thread is about to query an event's latest record, or to wait for it.
    pub(in crate::driver::race) fn begin_event_query(
        &mut self,
        thread: u32,
        raw: RawEvent,
    ) -> CallId {
        let event = self.event(raw);
        self.begin_on_event(Effect::Query { thread }, event)
    }

    /// A call whose clock is that of the event's latest record.
    fn begin_on_event(&mut self, effect: Effect, event: u32) -> CallId {
        let (slot, mut seen) = self.in_flight.claim();
        match &self.events[event as usize] {
            Event { epoch: 0, .. } => seen.clear(),
            recorded => seen.copy_from(&recorded.clock),
        }
        self.in_flight.common(event, &mut seen);
        self.in_flight.begin(slot, effect, event, seen)
    }

    /// The call has succeeded; a query was answered "complete".
    pub(in crate::driver::race) fn finish(&mut self, call: CallId) {
        let effect = self.in_flight.end(call);
        let Slot { event, clock, .. } = &mut self.in_flight.slots[call.0];
        match effect {
            Effect::Free => {}
            Effect::Record { stream, epoch } => {
                if let Some(event) = self.events.get_mut(*event as usize) {
                    std::mem::swap(&mut event.clock, clock);
                    (event.stream, event.epoch) = (stream, epoch);
                }
            }
            Effect::Wait { stream } => {
                self.streams[stream as usize].clock.merge(clock);
            }
            Effect::Query { thread } => {
                let querying = &mut self.threads[thread as usize];
                if querying.clock.merge(clock) {
                    self.versions += 1;
                    querying.version = self.versions;
                }
                Self::note_complete(&mut self.streams, clock);
            }
        }
    }

    /// The call has failed, or a query was answered "not yet": it has no effect.
    pub(in crate::driver::race) fn cancel(&mut self, call: CallId) {
        self.in_flight.end(call);
    }

    /// Notes at each stream that its work up to `found` is complete, and what that work came after.
    pub(super) fn note_complete(streams: &mut [Stream], found: &Clock) {
        for (index, stream) in streams.iter_mut().enumerate() {
            if found.get(index as u32) > 0 {
                // `found` may also have what this stream has never come after.
                stream.completed.merge_common(found, &stream.clock);
            }
        }
    }
}
