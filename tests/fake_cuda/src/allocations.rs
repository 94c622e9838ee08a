//! The places of allocations, and the streams that may use the memory: the happens-before relation of allocations.
//!
//! An allocation is in the order of its stream. Another stream may use the memory once it has waited for an event that was
//! recorded after the allocation, or for one that a third stream recorded after such a wait; or once the host has waited for
//! such a record. The order is kept as a clock: how many allocations of each stream come before.

use std::collections::{BTreeMap, BTreeSet};

/// How many allocations of each stream come before.
type Clock = BTreeMap<u64, u64>;

/// Allocations that come before `from` come before `to`.
fn join(to: &mut Clock, from: &Clock) {
    for (stream, count) in from {
        let known = to.entry(*stream).or_default();
        *known = (*known).max(*count);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Allocations {
    /// Streams with calls other than allocations.
    called: BTreeSet<u64>,
    /// Streams with work: kernels, copies and fills.
    worked: BTreeSet<u64>,
    /// The streams that memory was allocated or freed on.
    of_memory: BTreeSet<u64>,
    /// The allocations before the next work of each stream.
    streams: BTreeMap<u64, Clock>,
    /// The allocations before the latest record of each event.
    events: BTreeMap<u64, Clock>,
    /// The allocations that the host has waited for.
    host: Clock,
    /// By the address: the size, the stream of the allocation, and its number there.
    live: BTreeMap<u64, (u64, u64, u64)>,
}

impl Allocations {
    /// Notes a call for a stream other than an allocation.
    pub(crate) fn call(&mut self, stream: u64) {
        self.called.insert(stream);
    }

    /// Notes work. Returns whether the work is the first on a stream with allocations or frees of memory.
    pub(crate) fn work(&mut self, stream: u64) -> bool {
        self.call(stream);
        self.worked.insert(stream) && self.of_memory.contains(&stream)
    }

    /// Notes that memory is allocated or freed. Returns whether it is the first time on a stream with work.
    pub(crate) fn changes(&mut self, stream: u64) -> bool {
        self.of_memory.insert(stream) && self.worked.contains(&stream)
    }

    /// Notes an allocation.
    pub(crate) fn allocate(&mut self, stream: u64, address: u64, bytes: u64) {
        let count = self.streams.entry(stream).or_default().entry(stream).or_default();
        *count += 1;
        self.live.insert(address, (bytes, stream, *count));
    }

    pub(crate) fn record(&mut self, event: u64, stream: u64) {
        let clock = self.streams.get(&stream).cloned().unwrap_or_default();
        self.events.insert(event, clock);
    }

    /// Notes a record of all work of the device.
    pub(crate) fn record_all(&mut self, event: u64) {
        let mut clock = Clock::new();
        self.streams.values().for_each(|stream| join(&mut clock, stream));
        self.events.insert(event, clock);
    }

    /// Notes that a stream waits for an event. An event without a record orders nothing.
    pub(crate) fn wait(&mut self, stream: u64, event: u64) {
        if let Some(clock) = self.events.get(&event) {
            join(self.streams.entry(stream).or_default(), clock);
        }
    }

    /// Notes that the host has waited for a stream. Returns whether it has waited for more than allocations.
    pub(crate) fn host_waits(&mut self, stream: u64) -> bool {
        if let Some(clock) = self.streams.get(&stream) {
            join(&mut self.host, clock);
        }
        self.called.contains(&stream)
    }

    pub(crate) fn host_waits_for_event(&mut self, event: u64) {
        if let Some(clock) = self.events.get(&event) {
            join(&mut self.host, clock);
        }
    }

    pub(crate) fn host_waits_for_all(&mut self) {
        self.streams.values().for_each(|clock| join(&mut self.host, clock));
    }

    /// Whether a stream may use memory. Each stream may use memory that was not allocated on a stream.
    pub(crate) fn may_use(&self, stream: u64, address: u64) -> bool {
        let before = self.live.range(..=address).next_back();
        let Some((start, (bytes, of, number))) = before else { return true };
        let comes_after = |clock: &Clock| clock.get(of).is_some_and(|known| known >= number);
        address - start >= *bytes
            || comes_after(&self.host)
            || self.streams.get(&stream).is_some_and(comes_after)
    }

    pub(crate) fn free(&mut self, address: u64) {
        self.live.remove(&address);
    }
}
