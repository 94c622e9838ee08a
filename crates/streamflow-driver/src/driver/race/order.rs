//! The happens-before order, as vector clocks of streams, events and host threads.

mod events;
mod hosts;
mod in_flight;

use super::clock::Clock;
use super::handles::Handles;
use super::stamps::{DESTROYED, Destroyed, Other};
use crate::driver::{DeviceId, RawEvent, RawStream, StreamFlags};
use events::Event;
pub(super) use in_flight::CallId;
use in_flight::InFlight;

/// The part that a stream takes in the implicit barrier of the legacy default stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BarrierRole {
    Default,
    Blocking,
    NonBlocking,
}

impl From<StreamFlags> for BarrierRole {
    fn from(flags: StreamFlags) -> Self {
        match flags {
            StreamFlags::Blocking => Self::Blocking,
            StreamFlags::NonBlocking => Self::NonBlocking,
        }
    }
}

#[derive(Debug)]
struct Stream {
    device: DeviceId,
    role: BarrierRole,
    /// The clock of the work that comes before any work which is queued on the stream now.
    clock: Clock,
    /// The stream's own entry in `clock`.
    epoch: u64,
    /// The version of the thread's clock that was last merged into `clock`. [`NO_VERSION`] if the stream takes part in the
    /// default stream's barrier, so that each call takes the slow path.
    merged_version: u64,
    /// The clock of the work of this stream, and of all work before that, which any thread has found complete.
    completed: Clock,
    /// The name of the stream in reports.
    name: String,
    /// The stamp of the handle that the stream got when it was made.
    stamp: u32,
}

/// The kind of object that a stale handle names. The object was destroyed, and the driver may have given the handle to a
/// later object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stale {
    Stream,
    Event,
}

/// A version that the clock of no thread has.
const NO_VERSION: u64 = 0;

impl Stream {
    /// Begins the next epoch of this stream. `index` is the stream's index.
    #[inline(always)]
    fn advance(&mut self, index: u32) {
        self.epoch += 1;
        self.clock.raise(index, self.epoch);
    }
}

#[derive(Debug, Default)]
struct Thread {
    /// The clock of the work that the thread has found complete.
    clock: Clock,
    /// A number that changes with each change of `clock`, and is unique over all threads.
    version: u64,
}

/// A host thread by its index, with the current version of its clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostThread {
    thread: u32,
    version: u64,
}

/// A stream, by its index, and the epoch of the stream in which work was queued.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub(super) stream: u32,
    pub(super) epoch: u64,
}

/// The clocks of all streams, events and threads. A stream or a thread is identified by its index, and an event by its handle,
/// since programs make and destroy many events.
#[derive(Debug)]
pub(super) struct Order {
    streams: Vec<Stream>,
    index_by_stream: Handles<RawStream>,
    events: Vec<Event>,
    free_events: Vec<u32>,
    index_by_event: Handles<RawEvent>,
    threads: Vec<Thread>,
    versions: u64,
    in_flight: InFlight,
    /// The stale handles that were found since the last report of them.
    pub(super) stale: Vec<Stale>,
    destroyed: Destroyed,
    scratch: Clock,
}

impl Order {
    pub(super) fn new() -> Self {
        Self {
            streams: Vec::new(),
            index_by_stream: Handles::new(),
            events: Vec::new(),
            free_events: Vec::new(),
            index_by_event: Handles::new(),
            threads: Vec::new(),
            versions: 0,
            in_flight: InFlight::default(),
            stale: Vec::new(),
            destroyed: Destroyed::new(),
            scratch: Clock::default(),
        }
    }

    // Streams.

    /// Adds a stream that was just made, and returns its index. The index of a destroyed stream is not reused, since its
    /// work may still be executing.
    pub(super) fn add_stream(&mut self, raw: RawStream, role: BarrierRole) -> u32 {
        let index = self.streams.len() as u32;
        let mut clock = Clock::default();
        clock.raise(index, 1);
        let name = match role {
            BarrierRole::Default => format!("the default stream of {}", raw.device()),
            _ => format!("stream {index}"),
        };
        self.streams.push(Stream {
            device: raw.device(),
            role,
            clock,
            epoch: 1,
            merged_version: NO_VERSION,
            completed: Clock::default(),
            name,
            stamp: raw.stamp(),
        });
        self.index_by_stream.insert(raw, index);
        index
    }

    /// Returns the index of a stream, and notes whether its handle is stale.
    #[inline(always)]
    pub(super) fn stream(&mut self, raw: RawStream) -> u32 {
        let index = match self.index_by_stream.get_fast(raw) {
            Some(stream) => stream,
            None => self.find_stream(raw),
        };
        if self.streams[index as usize].stamp != raw.stamp() {
            return self.other_stream(index, raw);
        }
        index
    }

    /// Returns the index for a handle whose stamp differs from that of the known stream with the same number.
    #[cold]
    #[inline(never)]
    fn other_stream(&mut self, index: u32, raw: RawStream) -> u32 {
        match self.destroyed.judge(raw.stamp(), self.streams[index as usize].stamp) {
            Other::Unstamped => index,
            Other::Stale => {
                self.stale.push(Stale::Stream);
                index
            }
            Other::MadeElsewhere => self.add_stream(raw, BarrierRole::Blocking),
        }
    }

    /// The slow path of [`stream`](Self::stream). A stream that was not made through this checker is added as a blocking
    /// stream. If the stream really is non-blocking, races between it and the default stream are not found.
    #[cold]
    #[inline(never)]
    fn find_stream(&mut self, raw: RawStream) -> u32 {
        match self.index_by_stream.get(raw) {
            Some(stream) => stream,
            None if self.destroyed.has(raw.stamp()) => {
                self.add_stream(raw.stamped(DESTROYED), BarrierRole::Blocking)
            }
            None => self.add_stream(raw, BarrierRole::Blocking),
        }
    }

    /// Notes that a stream is about to be destroyed.
    pub(super) fn remove_stream(&mut self, raw: RawStream) {
        self.destroyed.add(raw.stamp());
        self.index_by_stream.remove(raw);
    }

    /// Returns the clock of the work that comes before work which is queued on `stream` now.
    #[inline]
    pub(super) fn clock(&self, stream: u32) -> &Clock {
        &self.streams[stream as usize].clock
    }

    pub(super) fn stream_name(&self, stream: u32) -> &str {
        &self.streams[stream as usize].name
    }

    pub(super) fn name_stream(&mut self, stream: u32, name: &str) {
        let stream = &mut self.streams[stream as usize];
        if stream.role != BarrierRole::Default {
            stream.name.clear();
            stream.name.push('`');
            stream.name.push_str(name);
            stream.name.push('`');
        }
    }

    /// Notes that a thread queues work on a stream. The work comes after all work that the thread has found complete. On a
    /// blocking or default stream, the default stream's barrier also orders it.
    #[inline(always)]
    pub(super) fn queue(&mut self, host: HostThread, raw: RawStream) -> Queued {
        let stream = self.stream(raw);
        let queued = &self.streams[stream as usize];
        let epoch = queued.epoch;
        if queued.merged_version != host.version {
            self.merge_thread_clock(host, stream);
        }
        Queued { stream, epoch }
    }

    /// The slow path of [`queue`](Self::queue): merges the thread's clock into the stream's clock.
    #[cold]
    #[inline(never)]
    fn merge_thread_clock(&mut self, host: HostThread, stream: u32) {
        let queued = &mut self.streams[stream as usize];
        queued.clock.merge(&self.threads[host.thread as usize].clock);
        if queued.role == BarrierRole::NonBlocking {
            queued.merged_version = host.version;
        } else {
            self.barrier(stream);
        }
    }

    /// Applies the rule of the legacy default stream: its work comes after all older work of the device's blocking streams,
    /// and their work comes after all older work of the default stream (CUDA driver API, *Stream synchronization behavior*).
    fn barrier(&mut self, stream: u32) {
        let Stream { device, role, .. } = self.streams[stream as usize];
        let opposite =
            if role == BarrierRole::Default { BarrierRole::Blocking } else { BarrierRole::Default };
        let mut before = std::mem::take(&mut self.scratch);
        for other in 0..self.streams.len() as u32 {
            let theirs = &self.streams[other as usize];
            if theirs.role == opposite && theirs.device == device {
                self.release(other, &mut before);
                self.streams[stream as usize].clock.merge(&before);
            }
        }
        self.scratch = before;
    }

    /// Returns the clock of work that comes after all work so far on all streams of a device.
    pub(super) fn everything_on(&mut self, device: DeviceId) -> Clock {
        let mut everything = Clock::default();
        let mut before = std::mem::take(&mut self.scratch);
        for stream in 0..self.streams.len() as u32 {
            if self.streams[stream as usize].device == device {
                self.release(stream, &mut before);
                everything.merge(&before);
            }
        }
        self.scratch = before;
        everything
    }

    /// Notes that work which is queued on a stream from now on comes after the clock `before`.
    pub(super) fn wait_for(&mut self, host: HostThread, raw: RawStream, before: &Clock) {
        let stream = self.queue(host, raw).stream;
        self.streams[stream as usize].clock.merge(before);
    }

    /// Begins a stream's next epoch. The caller has copied the stream's clock before.
    pub(super) fn begin_epoch(&mut self, stream: u32) {
        self.streams[stream as usize].advance(stream);
    }

    /// Copies the clock of a stream into `to`, and begins the stream's next epoch.
    fn release(&mut self, stream: u32, to: &mut Clock) {
        let released = &mut self.streams[stream as usize];
        to.copy_from(&released.clock);
        released.advance(stream);
    }
}
