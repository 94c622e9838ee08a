//! Calls in flight: records, waits, queries and downloads into ordinary memory that were noted and have not returned yet. A
//! call in flight takes effect when it has succeeded.
//!
//! A wait is for the record that the event has when the wait begins. If another thread records the event meanwhile, nobody
//! knows which record the wait is for. The waiting stream is then ordered only by what all these records have in common,
//! since that holds in any case. Two records on one stream have all of the earlier one in common, whichever of the two calls
//! returns first. A query covers the work that was queued before the query began. A call that fails has no effect, except
//! that the read of a download counts even if the download fails, since the bytes may have been read.

use super::events::Event;
use super::{HostThread, Order, Queued, Stream};
use crate::driver::race::clock::Clock;
use crate::driver::{RawEvent, RawStream};

/// The slot of a call in flight, until the call is finished or cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::driver::race) struct CallId(usize);

/// The effect that a call has if it succeeds.
#[derive(Debug, Clone, Copy)]
enum Effect {
    /// There is no effect, because the slot holds no call.
    Free,
    /// The event gets the clock in the call's slot.
    Record { stream: u32, epoch: u64 },
    /// The stream comes after the clock in the call's slot.
    Wait { stream: u32 },
    /// The thread has found the work complete that the clock in the call's slot covers.
    Query { thread: u32 },
}

#[derive(Debug)]
struct Slot {
    effect: Effect,
    event: u32,
    clock: Clock,
}

/// The value of `Slot::event` for a call that is about no event.
const NO_EVENT: u32 = u32::MAX;

/// The epoch of a record whose clock is the common part of several records' clocks. No epoch of a stream stands for such a
/// clock.
const MIXED: u64 = u64::MAX;

/// The calls in flight, in slots. A free slot keeps the memory of its clock for a later call.
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

    /// Returns a free slot and its clock. The caller fills the clock and [begins](Self::begin) a call in the slot.
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

    /// Lowers `clock`, a copy of the clock of the event's latest record, to what that record has in common with each record
    /// of the event in flight. A record in flight on the stream of the latest record lowers nothing: if the driver takes the
    /// record in flight last, it covers all work before the latest record, too.
    fn common(&self, event: u32, recorded: &Event, clock: &mut Clock) {
        for slot in self.slots.iter().filter(|slot| slot.event == event) {
            if let Effect::Record { stream, epoch } = slot.effect
                && (stream != recorded.stream || epoch == MIXED || recorded.epoch == MIXED)
            {
                clock.keep_common(&slot.clock);
            }
        }
    }

    /// Forgets an event that is destroyed, because its index may be given to another event.
    pub(super) fn forget_event(&mut self, event: u32) {
        let of_it = self.slots.iter_mut().filter(|slot| slot.event == event);
        of_it.for_each(|slot| slot.event = NO_EVENT);
    }
}

impl Order {
    /// Begins a record of an event on a stream.
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
                // Two records on one stream have the earlier one in common. `finish` decides which of the two the event has.
                Effect::Record { stream: other, epoch } if *other == stream && *epoch != MIXED => {}
                Effect::Record { epoch, .. } => {
                    // Nobody knows which record the driver takes last. It covers at least the common part of the two.
                    slot.clock.keep_common(&before);
                    before.copy_from(&slot.clock);
                    (*epoch, is_alone) = (MIXED, false);
                }
            }
        }
        let epoch = if is_alone { epoch } else { MIXED };
        self.in_flight.begin(slot, Effect::Record { stream, epoch }, event, before)
    }

    /// Begins the wait of a stream for an event's latest record.
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

    /// Begins a query of all work that is queued on `stream`, or the host's wait for that work.
    pub(in crate::driver::race) fn begin_stream_query(
        &mut self,
        thread: u32,
        stream: u32,
    ) -> CallId {
        let (slot, mut before) = self.in_flight.claim();
        self.release(stream, &mut before);
        self.in_flight.begin(slot, Effect::Query { thread }, NO_EVENT, before)
    }

    /// Begins a query of an event's latest record, or the host's wait for that record.
    pub(in crate::driver::race) fn begin_event_query(
        &mut self,
        thread: u32,
        raw: RawEvent,
    ) -> CallId {
        let event = self.event(raw);
        self.begin_on_event(Effect::Query { thread }, event)
    }

    /// Begins a call that is about an event's latest record, with the clock of that record.
    fn begin_on_event(&mut self, effect: Effect, event: u32) -> CallId {
        let (slot, mut seen) = self.in_flight.claim();
        let recorded = &self.events[event as usize];
        match recorded.epoch {
            0 => seen.clear(),
            _ => seen.copy_from(&recorded.clock),
        }
        self.in_flight.common(event, recorded, &mut seen);
        self.in_flight.begin(slot, effect, event, seen)
    }

    /// Ends a call that has succeeded, and applies its effect. A query has succeeded if its answer is "complete".
    pub(in crate::driver::race) fn finish(&mut self, call: CallId) {
        let effect = self.in_flight.end(call);
        let Slot { event, clock, .. } = &mut self.in_flight.slots[call.0];
        match effect {
            Effect::Free => {}
            Effect::Record { stream, epoch } => {
                // A later record on the same stream may have returned before this one. The event then keeps the later
                // record. If the driver took this record last, it covers all work before the later record, too.
                let is_overtaken = |event: &Event| {
                    event.stream == stream && event.epoch != MIXED && epoch < event.epoch
                };
                if let Some(event) = self.events.get_mut(*event as usize)
                    && !is_overtaken(event)
                {
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
                Self::mark_complete(&mut self.streams, clock);
            }
        }
    }

    /// Ends a call that has failed, or a query that was answered "not yet". Neither has an effect.
    pub(in crate::driver::race) fn cancel(&mut self, call: CallId) {
        self.in_flight.end(call);
    }

    /// Notes at each stream that its work up to `found`, and all work before that, is complete.
    pub(super) fn mark_complete(streams: &mut [Stream], found: &Clock) {
        for (index, stream) in streams.iter_mut().enumerate() {
            if found.get(index as u32) > 0 {
                // `found` may also contain work that this stream has never come after.
                stream.completed.merge_common(found, &stream.clock);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::driver::DeviceId;
    use crate::driver::race::order::BarrierRole;

    /// The records that have returned when the wait begins, in the order of their return.
    #[derive(Clone, Copy, PartialEq)]
    enum Returned {
        First,
        Second,
        SecondThenFirst,
        FirstThenSecond,
    }

    /// Two threads record one event at the same time, each after work that it has queued; the records are on the same
    /// stream, or on two streams. A third stream then waits for the event. Returns whether that stream comes after the
    /// second thread's work, and whether it comes after the first thread's work.
    fn waits_for(same_stream: bool, returned: Returned) -> (bool, bool) {
        let mut order = Order::new();
        let raw = [1, 2, 3].map(|handle| RawStream::new(DeviceId(0), handle));
        let [a, b, c] = raw.map(|raw| order.add_stream(raw, BarrierRole::NonBlocking));
        order.add_thread();
        let (host, event) = (order.host(0), RawEvent::new(DeviceId(0), 4));
        let first_work = order.queue(host, raw[0]).epoch;
        let first = order.begin_record(host, raw[0], event);
        let second_on = usize::from(!same_stream);
        let second_work = order.queue(host, raw[second_on]).epoch;
        let second = order.begin_record(host, raw[second_on], event);
        let ends = match returned {
            Returned::First => &[first][..],
            Returned::Second => &[second],
            Returned::SecondThenFirst => &[second, first],
            Returned::FirstThenSecond => &[first, second],
        };
        ends.iter().for_each(|call| order.finish(*call));
        let wait = order.begin_wait(host, raw[2], event);
        order.finish(wait);
        let clock = order.clock(c);
        (clock.get(if same_stream { a } else { b }) >= second_work, clock.get(a) >= first_work)
    }

    #[test]
    fn records_on_one_stream_take_nothing_from_each_other() {
        use Returned::{First, FirstThenSecond, Second, SecondThenFirst};
        for returned in [Second, SecondThenFirst, FirstThenSecond] {
            assert_eq!(waits_for(true, returned), (true, true));
        }
        // The first record has returned, and the driver may not have taken the second one yet.
        assert_eq!(waits_for(true, First), (false, true));
    }

    #[test]
    fn of_records_on_two_streams_nobody_knows_which_one_is_the_latest() {
        use Returned::{First, FirstThenSecond, Second, SecondThenFirst};
        for returned in [First, Second, SecondThenFirst, FirstThenSecond] {
            assert_eq!(waits_for(false, returned), (false, false));
        }
    }
}
