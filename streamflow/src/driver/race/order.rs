//! What happens before what: the clocks of streams, events and host threads.

mod hosts;

use super::clock::Clock;
use super::handles::Handles;
use crate::driver::{DeviceId, RawEvent, RawStream, StreamFlags};

/// How a stream takes part in the barrier of the legacy default stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Default,
    Blocking,
    NonBlocking,
}

impl From<StreamFlags> for Kind {
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
    kind: Kind,
    /// What work that is queued now comes after.
    clock: Clock,
    /// The stream's own entry of `clock`.
    epoch: u64,
    /// The version of a thread's clock that is part of `clock` already. [`NEVER`] if what is queued takes
    /// part in a barrier.
    host: u64,
    /// What some thread has found complete by asking for this stream's work, or for what comes after it.
    completed: Clock,
    /// For people.
    name: String,
}

/// No state of a thread's clock.
const NEVER: u64 = 0;

impl Stream {
    /// Begins the next epoch of this stream, whose number it is.
    #[inline(always)]
    fn advance(&mut self, number: u32) {
        self.epoch += 1;
        self.clock.raise(number, self.epoch);
    }
}

#[derive(Debug, Default)]
struct Event {
    /// What the record comes after.
    clock: Clock,
    /// Where it was recorded, and when; epoch 0 for never.
    stream: u32,
    epoch: u64,
    /// The same of the record before, which the event keeps when a record fails.
    before: (Clock, u32, u64),
}

impl Event {
    /// Takes the record before for the latest, and the other way round.
    fn swap(&mut self) {
        let Self { clock, stream, epoch, before } = self;
        std::mem::swap(clock, &mut before.0);
        std::mem::swap(stream, &mut before.1);
        std::mem::swap(epoch, &mut before.2);
    }
}

#[derive(Debug, Default)]
struct Thread {
    /// What the thread knows to be complete.
    clock: Clock,
    /// A number for each state of `clock`, and of no other thread's.
    version: u64,
    /// What a call asks for, from before the call until its answer.
    asked: Clock,
}

/// A thread that queues something, for as long as it learns nothing new.
#[derive(Debug, Clone, Copy)]
pub(super) struct Host {
    thread: u32,
    version: u64,
}

/// Something is queued there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub(super) stream: u32,
    pub(super) epoch: u64,
}

/// All clocks. Streams and threads are named by index; events by handle, since they come and go.
#[derive(Debug)]
pub(super) struct Order {
    streams: Vec<Stream>,
    stream_of: Handles<RawStream>,
    events: Vec<Event>,
    free_events: Vec<u32>,
    event_of: Handles<RawEvent>,
    threads: Vec<Thread>,
    versions: u64,
    scratch: Clock,
}

impl Order {
    pub(super) fn new() -> Self {
        Self {
            streams: Vec::new(),
            stream_of: Handles::new(),
            events: Vec::new(),
            free_events: Vec::new(),
            event_of: Handles::new(),
            threads: Vec::new(),
            versions: 0,
            scratch: Clock::default(),
        }
    }

    // Streams.

    /// A stream that was just made. Its index is never used again, since its work may outlive it.
    pub(super) fn add_stream(&mut self, raw: RawStream, kind: Kind) -> u32 {
        let index = self.streams.len() as u32;
        let mut clock = Clock::default();
        clock.raise(index, 1);
        let name = match kind {
            Kind::Default => format!("the default stream of {}", raw.device()),
            _ => format!("stream {index}"),
        };
        self.streams.push(Stream {
            device: raw.device(),
            kind,
            clock,
            epoch: 1,
            host: NEVER,
            completed: Clock::default(),
            name,
        });
        self.stream_of.insert(raw, index);
        index
    }

    /// The number of a stream.
    #[inline(always)]
    pub(super) fn stream(&mut self, raw: RawStream) -> u32 {
        match self.stream_of.get_fast(raw) {
            Some(stream) => stream,
            None => self.find_stream(raw),
        }
    }

    /// A stream that was made before the calls came through here is taken for non-blocking: that assumes
    /// the least about what orders it.
    #[cold]
    #[inline(never)]
    fn find_stream(&mut self, raw: RawStream) -> u32 {
        match self.stream_of.get(raw) {
            Some(stream) => stream,
            None => self.add_stream(raw, Kind::NonBlocking),
        }
    }

    pub(super) fn forget_stream(&mut self, raw: RawStream) {
        self.stream_of.remove(raw);
    }

    /// What work that is queued on `stream` now comes after.
    #[inline]
    pub(super) fn clock(&self, stream: u32) -> &Clock {
        &self.streams[stream as usize].clock
    }

    pub(super) fn stream_name(&self, stream: u32) -> &str {
        &self.streams[stream as usize].name
    }

    pub(super) fn name_stream(&mut self, stream: u32, name: &str) {
        let stream = &mut self.streams[stream as usize];
        if stream.kind != Kind::Default {
            stream.name.clear();
            stream.name.push('`');
            stream.name.push_str(name);
            stream.name.push('`');
        }
    }

    /// Something is queued on a stream: it comes after what the thread knows to be complete, and takes
    /// part in the default stream's barrier.
    #[inline(always)]
    pub(super) fn queue(&mut self, host: Host, raw: RawStream) -> Queued {
        let stream = self.stream(raw);
        let queued = &self.streams[stream as usize];
        let epoch = queued.epoch;
        if queued.host != host.version {
            self.join(host, stream);
        }
        Queued { stream, epoch }
    }

    #[cold]
    #[inline(never)]
    fn join(&mut self, host: Host, stream: u32) {
        let queued = &mut self.streams[stream as usize];
        queued.clock.merge(&self.threads[host.thread as usize].clock);
        if queued.kind == Kind::NonBlocking {
            queued.host = host.version;
        } else {
            self.barrier(stream);
        }
    }

    /// Work on the legacy default stream comes after all older work of the device's blocking streams,
    /// and the other way round (CUDA driver API, *Stream synchronization behavior*).
    fn barrier(&mut self, stream: u32) {
        let Stream { device, kind, .. } = self.streams[stream as usize];
        let opposite = if kind == Kind::Default { Kind::Blocking } else { Kind::Default };
        let mut before = std::mem::take(&mut self.scratch);
        for other in 0..self.streams.len() as u32 {
            let theirs = &self.streams[other as usize];
            if theirs.kind == opposite && theirs.device == device {
                self.release(other, &mut before);
                self.streams[stream as usize].clock.merge(&before);
            }
        }
        self.scratch = before;
    }

    /// Copies what comes before this point of `stream`, and begins its next epoch.
    fn release(&mut self, stream: u32, to: &mut Clock) {
        let released = &mut self.streams[stream as usize];
        to.copy_from(&released.clock);
        released.advance(stream);
    }

    // Events.

    pub(super) fn add_event(&mut self, raw: RawEvent) -> u32 {
        let index = self.free_events.pop().unwrap_or_else(|| {
            self.events.push(Event::default());
            self.events.len() as u32 - 1
        });
        self.events[index as usize].epoch = 0;
        self.event_of.insert(raw, index);
        index
    }

    #[inline(always)]
    fn event(&mut self, raw: RawEvent) -> u32 {
        match self.event_of.get_fast(raw) {
            Some(event) => event,
            None => self.find_event(raw),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_event(&mut self, raw: RawEvent) -> u32 {
        match self.event_of.get(raw) {
            Some(event) => event,
            None => self.add_event(raw),
        }
    }

    pub(super) fn forget_event(&mut self, raw: RawEvent) {
        self.free_events.extend(self.event_of.remove(raw));
    }

    /// The event is recorded.
    #[inline(always)]
    pub(super) fn record(&mut self, host: Host, stream: RawStream, raw: RawEvent) {
        let Queued { stream, epoch } = self.queue(host, stream);
        let index = self.event(raw);
        let event = &mut self.events[index as usize];
        let released = &mut self.streams[stream as usize];
        event.swap();
        event.clock.copy_from(&released.clock);
        (event.stream, event.epoch) = (stream, epoch);
        released.advance(stream);
    }

    /// The record failed: the event keeps the one that it had.
    pub(super) fn unrecord(&mut self, raw: RawEvent) {
        if let Some(index) = self.event_of.get(raw) {
            self.events[index as usize].swap();
        }
    }

    /// The stream waits for the event's latest record.
    #[inline(always)]
    pub(super) fn wait(&mut self, host: Host, stream: RawStream, raw: RawEvent) {
        let Queued { stream, .. } = self.queue(host, stream);
        let index = self.event(raw);
        let event = &self.events[index as usize];
        let waiting = &mut self.streams[stream as usize].clock;
        // Whoever knows an epoch of a stream got with it all that came before.
        if waiting.get(event.stream) < event.epoch {
            waiting.merge(&event.clock);
        }
    }
}
