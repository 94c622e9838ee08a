//! What a [`Replaying`](super::Replaying) driver knows of streams, events, kernels and launches.

use std::sync::Arc;

use super::Omission;
use super::fingerprint::Seen;
use super::handles::ByHandle;
use super::lane::Lane;
use super::mode::Pass;
use super::trace::Trace;
use crate::driver::{
    DeviceId, Driver, DriverError, RawEvent, RawFunction, RawStream, StreamFlags, StreamOptions,
};

/// The state of a driver that replays.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) streams: ByHandle<Stream>,
    pub(super) events: ByHandle<Event>,
    kernels: ByHandle<Kernel>,
    pub(super) lanes: Vec<Lane>,
    /// Traces that came once.
    pub(super) seen: Seen,
    /// How many graphs were launched.
    pub(super) launches: u64,
    /// How many segments were begun: the number of the current one.
    pub(super) segment: u64,
    pub(super) pass: Option<Pass>,
    /// The calls of the segment: held back, or sent and kept.
    pub(super) current: Trace,
    /// The waits of the held-back calls for records from outside of the segment.
    pub(super) outside: Vec<Outside>,
    /// The device of all lanes.
    pub(super) device: Option<DeviceId>,
    /// For the order between sent calls and lanes.
    pub(super) border: Option<RawEvent>,
    /// The first error of a held-back call.
    pub(super) failed: Option<DriverError>,
    pub(super) omission: Option<Omission>,
    /// Whether a segment is a graph when it comes for the first time.
    pub(super) is_eager: bool,
}

#[derive(Debug)]
pub(super) struct Stream {
    /// Whether its calls can be held back: it was made here without options, and nobody else has its handle.
    pub(super) is_plain: bool,
    /// The latest launch that has work of it.
    pub(super) tail: u64,
    /// What is sent to it comes after all launches up to this one.
    pub(super) joined: u64,
    /// Whether something was sent to it that the lanes don't come after.
    pub(super) dirty: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Event {
    /// The launch that its latest record belongs to; 0 if the record was sent.
    pub(super) launch: u64,
    /// The lane of that launch.
    pub(super) lane: u32,
    /// The segment in which it was recorded last, and the record's place there.
    pub(super) segment: u64,
    pub(super) place: u32,
    /// Whether its records can be held back: it was made here without timing.
    pub(super) is_plain: bool,
}

#[derive(Debug)]
struct Kernel {
    name: Arc<str>,
    /// Whether its code may have state, as the variables of a module.
    has_state: bool,
}

/// A wait for a record from outside of the segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outside {
    /// How many calls of the segment are before it.
    pub(super) place: u32,
    pub(super) node: u32,
    pub(super) stream: RawStream,
    pub(super) event: RawEvent,
}

impl State {
    /// Whether a rule holds: whether no test leaves it out.
    pub(super) fn keeps(&self, rule: Omission) -> bool {
        self.omission != Some(rule)
    }

    /// What is known of a stream. Nothing is known yet of a stream that other code made, and of a default stream.
    pub(super) fn stream(&mut self, stream: RawStream) -> &mut Stream {
        self.streams.entry(stream_key(stream)).or_insert(Stream {
            is_plain: false,
            tail: 0,
            joined: 0,
            dirty: true,
        })
    }

    pub(super) fn add_stream(&mut self, stream: RawStream, options: StreamOptions) {
        let is_plain = options == StreamOptions::default()
            && options.flags == StreamFlags::NonBlocking
            && self.device.is_none_or(|device| device == stream.device());
        let known = Stream { is_plain, tail: 0, joined: 0, dirty: true };
        self.streams.insert(stream_key(stream), known);
    }

    /// Forgets a stream.
    pub(super) fn remove_stream(&mut self, stream: RawStream) {
        self.streams.remove(&stream_key(stream));
        self.retire(stream);
    }

    /// Retires the lanes that have work of a stream.
    pub(super) fn retire(&mut self, stream: RawStream) {
        for lane in &mut self.lanes {
            lane.is_retired |= lane.streams.contains(&stream);
        }
    }

    pub(super) fn add_event(&mut self, event: RawEvent, is_plain: bool) {
        self.events.insert(event.handle(), Event { is_plain, ..Event::default() });
    }

    pub(super) fn add_kernel(&mut self, function: RawFunction, name: &str, has_state: bool) {
        let known = self
            .kernels
            .entry(function.handle())
            .or_insert_with(|| Kernel { name: name.into(), has_state });
        known.has_state |= has_state;
    }

    /// Whether all state of a kernel is in the memory that it accesses.
    pub(super) fn is_stateless(&self, function: RawFunction) -> bool {
        self.kernels.get(&function.handle()).is_some_and(|known| !known.has_state)
    }

    pub(super) fn kernel_name(&self, function: RawFunction) -> Arc<str> {
        let known = self.kernels.get(&function.handle());
        known.map_or_else(|| "?".into(), |known| known.name.clone())
    }

    /// The launch that the latest record of an event belongs to; 0 if the record was sent.
    pub(super) fn launch_of(&self, event: RawEvent) -> u64 {
        self.events.get(&event.handle()).map_or(0, |known| known.launch)
    }

    /// Notes that a record of an event was sent.
    pub(super) fn note_recorded(&mut self, event: RawEvent) {
        if let Some(known) = self.events.get_mut(&event.handle()) {
            known.launch = 0;
        }
    }

    /// Destroys the lanes and the rest that this layer made.
    pub(super) fn destroy(&mut self, below: &dyn Driver) {
        for lane in self.lanes.drain(..) {
            crate::driver::report_in_drop("destroying a graph", lane.destroy(below));
        }
        if let Some(border) = self.border.take() {
            // SAFETY: this layer made it, and no call uses it any more.
            let destroyed = unsafe { below.destroy_event(border) };
            crate::driver::report_in_drop("destroying an event", destroyed);
        }
    }
}

/// The key of a stream: default streams have the same handle on each device.
fn stream_key(stream: RawStream) -> u64 {
    stream.handle() ^ (stream.device().index() as u64) << 56
}
