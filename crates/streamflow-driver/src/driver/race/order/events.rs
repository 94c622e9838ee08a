//! Events: their clocks, records and waits.

use super::{Clock, HostThread, Order, Queued, Stale};
use crate::driver::race::stamps::{DESTROYED, Other};
use crate::driver::{RawEvent, RawStream};

#[derive(Debug, Default)]
pub(super) struct Event {
    /// The clock of everything that comes before the event's latest record.
    pub(super) clock: Clock,
    /// The stream of the latest record. `epoch` is that stream's epoch at the record; 0 while the event has no record.
    pub(super) stream: u32,
    pub(super) epoch: u64,
    /// The stamp of the handle that the event got when it was made.
    stamp: u32,
}

impl Order {
    pub(in crate::driver::race) fn add_event(&mut self, raw: RawEvent) -> u32 {
        let index = self.free_events.pop().unwrap_or_else(|| {
            self.events.push(Event::default());
            self.events.len() as u32 - 1
        });
        let event = &mut self.events[index as usize];
        (event.epoch, event.stamp) = (0, raw.stamp());
        self.index_by_event.insert(raw, index);
        index
    }

    #[inline(always)]
    pub(super) fn event(&mut self, raw: RawEvent) -> u32 {
        let index = match self.index_by_event.get_fast(raw) {
            Some(event) => event,
            None => self.find_event(raw),
        };
        if self.events[index as usize].stamp != raw.stamp() {
            return self.other_event(index, raw);
        }
        index
    }

    /// Returns the index for a handle whose stamp differs from that of the known event with the same number.
    #[cold]
    #[inline(never)]
    fn other_event(&mut self, index: u32, raw: RawEvent) -> u32 {
        match self.destroyed.judge(raw.stamp(), self.events[index as usize].stamp) {
            Other::Unstamped => index,
            Other::Stale => {
                self.stale.push(Stale::Event);
                index
            }
            Other::MadeElsewhere => {
                self.release_event(raw);
                self.add_event(raw)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn find_event(&mut self, raw: RawEvent) -> u32 {
        match self.index_by_event.get(raw) {
            Some(event) => event,
            None if self.destroyed.has(raw.stamp()) => self.add_event(raw.stamped(DESTROYED)),
            None => self.add_event(raw),
        }
    }

    /// Searches for the event of a handle, only to note whether the handle is stale.
    pub(in crate::driver::race) fn look_up_event(&mut self, raw: RawEvent) {
        self.event(raw);
    }

    /// Notes that an event is about to be destroyed.
    pub(in crate::driver::race) fn remove_event(&mut self, raw: RawEvent) {
        self.destroyed.add(raw.stamp());
        self.release_event(raw);
    }

    fn release_event(&mut self, raw: RawEvent) {
        if let Some(event) = self.index_by_event.remove(raw) {
            self.in_flight.forget_event(event);
            self.free_events.push(event);
        }
    }

    /// Notes that an event was recorded on a stream: the event gets a copy of the stream's clock.
    #[inline(always)]
    pub(in crate::driver::race) fn record(
        &mut self,
        host: HostThread,
        stream: RawStream,
        raw: RawEvent,
    ) {
        if !self.in_flight.is_empty() {
            let call = self.begin_record(host, stream, raw);
            return self.finish(call);
        }
        let Queued { stream, epoch } = self.queue(host, stream);
        let index = self.event(raw);
        let event = &mut self.events[index as usize];
        let released = &mut self.streams[stream as usize];
        event.clock.copy_from(&released.clock);
        (event.stream, event.epoch) = (stream, epoch);
        released.advance(stream);
    }

    /// Notes that a stream waits for an event's latest record: the event's clock is merged into the stream's clock.
    #[inline(always)]
    pub(in crate::driver::race) fn wait(
        &mut self,
        host: HostThread,
        stream: RawStream,
        raw: RawEvent,
    ) {
        if !self.in_flight.is_empty() {
            let call = self.begin_wait(host, stream, raw);
            return self.finish(call);
        }
        let Queued { stream, .. } = self.queue(host, stream);
        let index = self.event(raw);
        let event = &self.events[index as usize];
        let waiting = &mut self.streams[stream as usize].clock;
        // A clock that has an epoch of a stream also contains all that came before that epoch, so there is nothing to merge.
        if waiting.get(event.stream) < event.epoch {
            waiting.merge(&event.clock);
        }
    }
}
