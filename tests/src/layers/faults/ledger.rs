//! The objects that a program has made and not given back, by handle and address.

use std::collections::BTreeMap;
use std::fmt;

use streamflow::device;
use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::{MemoryRange, RawEvent, RawGraph};

/// How many objects are alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Live {
    /// How many streams are alive.
    pub streams: usize,
    /// How many events are alive.
    pub events: usize,
    /// How many executable graphs are alive.
    pub graphs: usize,
    /// How many blocks of device memory are alive.
    pub device: usize,
    /// How many blocks of page-locked memory are alive.
    pub pinned: usize,
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { streams, events, graphs, device, pinned } = self;
        write!(
            f,
            "{streams} streams, {events} events, {graphs} graphs, {device} device blocks, {pinned} page-locked blocks"
        )
    }
}

/// The live objects, and a description of each object that was given back while it was not alive.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    streams: BTreeMap<(usize, u64), RawStream>,
    events: BTreeMap<(usize, u64), RawEvent>,
    graphs: BTreeMap<(usize, u64), RawGraph>,
    device: BTreeMap<u64, (DeviceId, MemoryRange)>,
    pinned: BTreeMap<u64, (DeviceId, MemoryRange)>,
    pub(super) troubles: Vec<String>,
}

impl Ledger {
    pub(super) fn live(&self) -> Live {
        Live {
            streams: self.streams.len(),
            events: self.events.len(),
            graphs: self.graphs.len(),
            device: self.device.len(),
            pinned: self.pinned.len(),
        }
    }

    pub(super) fn add_stream(&mut self, stream: RawStream) {
        self.streams.insert((stream.device().index(), stream.handle()), stream);
    }

    pub(super) fn add_event(&mut self, event: RawEvent) {
        self.events.insert((event.device().index(), event.handle()), event);
    }

    pub(super) fn add_graph(&mut self, graph: RawGraph) {
        self.graphs.insert((graph.device().index(), graph.handle()), graph);
    }

    pub(super) fn add_device(&mut self, device: DeviceId, range: MemoryRange) {
        if range.bytes > 0 {
            self.device.insert(range.address, (device, range));
        }
    }

    pub(super) fn add_pinned(&mut self, device: DeviceId, range: MemoryRange) {
        if range.bytes > 0 {
            self.pinned.insert(range.address, (device, range));
        }
    }

    pub(super) fn remove_stream(&mut self, stream: RawStream) {
        let removed = self.streams.remove(&(stream.device().index(), stream.handle())).is_some();
        self.check(removed, "a stream");
    }

    pub(super) fn remove_event(&mut self, event: RawEvent) {
        let removed = self.events.remove(&(event.device().index(), event.handle())).is_some();
        self.check(removed, "an event");
    }

    pub(super) fn remove_graph(&mut self, graph: RawGraph) {
        let removed = self.graphs.remove(&(graph.device().index(), graph.handle())).is_some();
        self.check(removed, "a graph");
    }

    pub(super) fn remove_device(&mut self, range: MemoryRange) {
        let removed = range.bytes == 0 || self.device.remove(&range.address).is_some();
        self.check(removed, "device memory");
    }

    pub(super) fn remove_pinned(&mut self, range: MemoryRange) {
        let removed = range.bytes == 0 || self.pinned.remove(&range.address).is_some();
        self.check(removed, "page-locked memory");
    }

    fn check(&mut self, removed: bool, what: &str) {
        if !removed {
            self.troubles.push(format!("{what} that is not alive was given back"));
        }
    }

    /// Gives all live objects back to the driver that made them. Nothing uses them any more.
    pub(super) fn give_back(&mut self, driver: &dyn Driver) {
        let Self { streams, events, graphs, device: blocks, pinned, .. } = std::mem::take(self);
        for id in (0..driver.device_count() as u32).map(device) {
            // Only a device that has failed returns an error here, and nothing more can be done about that.
            let _bound = driver.bind(id);
            let free_on = driver.default_stream(id);
            let own = streams.values().filter(|stream| stream.device() == id);
            for stream in own.chain([&free_on]) {
                // SAFETY: the stream is alive.
                let _done = unsafe { driver.synchronize_stream(*stream) };
            }
            for graph in graphs.values().filter(|graph| graph.device() == id) {
                // SAFETY: the graph is alive, and the streams of its launches are idle.
                let _destroyed = unsafe { driver.destroy_graph(*graph) };
            }
            for (_, range) in blocks.values().filter(|(on, _)| *on == id) {
                // SAFETY: the memory is alive, its users are gone, and their streams are idle.
                let _freed = unsafe { driver.free(free_on, *range) };
            }
            for (_, range) in pinned.values().filter(|(on, _)| *on == id) {
                // SAFETY: the memory is alive, its users are gone, and their streams are idle.
                let _freed = unsafe { driver.free_pinned(id, *range) };
            }
            for event in events.values().filter(|event| event.device() == id) {
                // SAFETY: the event is alive, and its users are gone.
                let _destroyed = unsafe { driver.destroy_event(*event) };
            }
            for stream in streams.values().filter(|stream| stream.device() == id) {
                // SAFETY: the stream is alive, and its users are gone.
                let _destroyed = unsafe { driver.destroy_stream(*stream) };
            }
        }
    }
}
