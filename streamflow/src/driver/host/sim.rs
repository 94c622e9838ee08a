//! The simulator's state: handles, submissions, memory.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chooser::{Chooser, ChosenOrder};
use super::log::LogEntry;
use super::memory::Arena;
use super::options::{HostBuilder, Policy};
use super::point::{Point, StreamKey};
use super::queue::{Device, Event, Function, Op, Queued, Running, Stream, StreamKind, reached};
use super::random::{Random, mix};
use super::refusal::invalid_handle;
use crate::driver::{
    DeviceId, DriverError, DriverResult, GreenContext, RawEvent, RawFunction, RawStream,
};

#[derive(Debug)]
pub(super) struct Sim {
    /// The simulator's number, unique within the process.
    pub(super) number: u64,
    pub(super) policy: Policy,
    pub(super) random: Random,
    /// Under the random policy a call executes nothing with a probability of `idle_odds / (idle_odds + 1)`.
    pub(super) idle_odds: usize,
    seed: u64,
    memory_limit: u64,
    pub(super) devices: Vec<Device>,
    pub(super) streams: Vec<Stream>,
    stream_names: u32,
    events: Vec<Event>,
    free_events: Vec<u32>,
    event_names: u32,
    pub(super) functions: Vec<Function>,
    pub(super) green: Vec<GreenContext>,
    /// The host's simulated time.
    pub(super) host_time: u64,
    /// The number of the latest submission, over all streams.
    submitted: u64,
    /// How many operations are queued.
    pub(super) pending: usize,
    /// The slowest stream of the slowest-last policy, which executes only what a call depends on.
    pub(super) slowest: Option<usize>,
    pub(super) running: Vec<Running>,
    /// How many threads sleep in a call.
    pub(super) sleepers: usize,
    pub(super) log: Option<Vec<LogEntry>>,
    /// A buffer for the candidates of a choice.
    pub(super) scratch: Vec<usize>,
    /// The chooser that decides instead of the policy, with its state.
    pub(super) chosen: Option<Box<ChosenOrder>>,
}

impl Sim {
    pub(super) fn new(options: &HostBuilder, chooser: Option<Box<dyn Chooser>>) -> Self {
        static SIMULATORS: AtomicU64 = AtomicU64::new(0);
        let mut sim = Self {
            number: SIMULATORS.fetch_add(1, Ordering::Relaxed),
            policy: options.policy.unwrap_or(Policy::of_seed(options.seed)),
            random: Random::new(options.seed),
            idle_odds: 1 + (mix(options.seed ^ 0x5eed) % 3) as usize,
            seed: options.seed,
            memory_limit: options.memory,
            devices: Vec::new(),
            streams: Vec::new(),
            stream_names: 0,
            events: Vec::new(),
            free_events: Vec::new(),
            event_names: 0,
            functions: Vec::new(),
            green: Vec::new(),
            host_time: 0,
            submitted: 0,
            pending: 0,
            slowest: None,
            running: Vec::new(),
            sleepers: 0,
            log: options.trace.then(Vec::new),
            scratch: Vec::new(),
            chosen: chooser.map(|chooser| Box::new(ChosenOrder::new(chooser))),
        };
        for device in 0..options.devices as u32 {
            sim.devices.push(Device {
                memory: Arena::default(),
                pinned: Arena::default(),
                failed: None,
                reported: false,
                engines: Default::default(),
            });
            sim.add_stream(DeviceId(device), StreamKind::Default);
        }
        sim
    }

    // Handles.

    pub(super) fn add_stream(&mut self, device: DeviceId, kind: StreamKind) -> RawStream {
        let name = self.stream_names;
        self.stream_names += 1;
        let fresh = Stream {
            generation: 0,
            device,
            kind,
            name,
            queue: VecDeque::with_capacity(64),
            params: VecDeque::with_capacity(256),
            submitted: 0,
            done: 0,
            busy: None,
            destroyed: false,
            vacant: false,
            used: false,
            time: 0,
            recorded: VecDeque::new(),
        };
        let index = self.streams.iter().position(|stream| stream.vacant);
        let index = match index {
            Some(index) => {
                let slot = &mut self.streams[index];
                *slot = Stream { generation: slot.generation, ..fresh };
                index
            }
            None => {
                self.streams.push(fresh);
                self.streams.len() - 1
            }
        };
        // Which slots are vacant may depend on the executed operations.
        self.note_answer(index as u64);
        RawStream::new(device, handle(index, self.streams[index].generation))
    }

    /// The slot of a live stream.
    pub(super) fn stream(&self, raw: RawStream, call: &'static str) -> DriverResult<usize> {
        let (index, generation) = split(raw.handle());
        match self.streams.get(index) {
            Some(stream)
                if stream.generation == generation
                    && stream.device == raw.device()
                    && !stream.vacant
                    && !stream.destroyed =>
            {
                Ok(index)
            }
            _ => Err(invalid_handle(call, raw.device(), "there is no such stream")),
        }
    }

    pub(super) fn key(&self, index: usize) -> StreamKey {
        StreamKey { index: index as u32, generation: self.streams[index].generation }
    }

    pub(super) fn destroy_stream(&mut self, index: usize) {
        self.streams[index].destroyed = true;
        self.vacate(index);
    }

    /// Frees the slot of a destroyed stream whose work is done.
    pub(super) fn vacate(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        if stream.destroyed && !stream.vacant && stream.oldest().is_none() {
            stream.vacant = true;
            stream.generation = stream.generation.wrapping_add(1);
            self.choose_slowest();
        }
    }

    pub(super) fn add_event(&mut self, device: DeviceId) -> RawEvent {
        let name = self.event_names;
        self.event_names += 1;
        let fresh = Event { generation: 0, device, name, records: 0, latest: None, vacant: false };
        let index = match self.free_events.pop() {
            Some(index) => {
                let slot = &mut self.events[index as usize];
                *slot = Event { generation: slot.generation, ..fresh };
                index as usize
            }
            None => {
                self.events.push(fresh);
                self.events.len() - 1
            }
        };
        RawEvent::new(device, handle(index, self.events[index].generation))
    }

    pub(super) fn event(&mut self, raw: RawEvent, call: &'static str) -> DriverResult<&mut Event> {
        let (index, generation) = split(raw.handle());
        match self.events.get_mut(index) {
            Some(event)
                if event.generation == generation
                    && event.device == raw.device()
                    && !event.vacant =>
            {
                Ok(event)
            }
            _ => Err(invalid_handle(call, raw.device(), "there is no such event")),
        }
    }

    /// Destroys an event. Waits for it still hold: they have the point in the stream.
    pub(super) fn destroy_event(&mut self, raw: RawEvent, call: &'static str) -> DriverResult<()> {
        let event = self.event(raw, call)?;
        event.vacant = true;
        event.generation = event.generation.wrapping_add(1);
        self.free_events.push(split(raw.handle()).0 as u32);
        Ok(())
    }

    pub(super) fn function(&self, raw: RawFunction, call: &'static str) -> DriverResult<u32> {
        match self.functions.get(raw.handle() as usize) {
            Some(function) if function.device == raw.device() => Ok(raw.handle() as u32),
            _ => Err(invalid_handle(call, raw.device(), "there is no such kernel")),
        }
    }

    // Queues.

    pub(super) fn submit(&mut self, index: usize, op: Op) -> Point {
        self.submitted += 1;
        let number = self.submitted;
        let point = Point { stream: self.key(index), number };
        let stream = &mut self.streams[index];
        stream.submitted = number;
        if self.devices[stream.device.index()].failed.is_some() {
            // The device failed while the call waited for room: it executes nothing any more.
            stream.params.clear();
            stream.done = number;
            return point;
        }
        stream.queue.push_back(Queued { number, op, at: self.host_time });
        self.pending += 1;
        if !stream.used {
            stream.used = true;
            self.choose_slowest();
        }
        point
    }

    /// Makes a copy that is still queued copy 0 bytes.
    pub(super) fn cancel_copy(&mut self, point: Point) {
        let stream = &mut self.streams[point.stream.index as usize];
        if stream.generation != point.stream.generation {
            return;
        }
        let queued = stream.queue.iter_mut().find(|queued| queued.number == point.number);
        if let Some(Queued { op: Op::Copy { bytes, .. }, .. }) = queued {
            *bytes = 0;
        }
    }

    pub(super) fn reached(&self, point: Point) -> bool {
        reached(&self.streams, point)
    }

    /// The point of the latest submission to a stream.
    pub(super) fn latest(&self, index: usize) -> Point {
        Point { stream: self.key(index), number: self.streams[index].submitted }
    }

    /// Draws the slowest stream: the one with the lowest of fixed random ranks among those in use.
    fn choose_slowest(&mut self) {
        if self.policy == Policy::SlowestLast {
            let seed = self.seed;
            self.slowest = (0..self.streams.len())
                .filter(|index| self.streams[*index].used && !self.streams[*index].vacant)
                .min_by_key(|index| mix(mix(seed) ^ u64::from(self.streams[*index].name)));
        }
    }

    // Memory.

    pub(super) fn allocate(&mut self, index: usize, bytes: u64) -> DriverResult<u64> {
        let key = self.key(index);
        let device = self.streams[index].device;
        let (streams, memory) = (&self.streams, &mut self.devices[device.index()].memory);
        let address = memory.allocate(
            bytes,
            self.memory_limit,
            |freed| freed.stream == key,
            |freed| reached(streams, *freed),
        );
        if self.chosen.is_some() {
            // Which block is reused may depend on the executed operations.
            let place = address.and_then(|address| memory.locate(address));
            self.note_answer(place.map_or(u64::MAX, |(block, _)| block as u64));
        }
        address.ok_or(DriverError::OutOfMemory { device, requested: bytes })
    }
}

fn handle(index: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | index as u64
}

fn split(handle: u64) -> (usize, u32) {
    (handle as u32 as usize, (handle >> 32) as u32)
}
