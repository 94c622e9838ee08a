//! The simulator's state, and the submission of operations.

use std::sync::atomic::{AtomicU64, Ordering};

use super::arena::Arena;
use super::body;
use super::chooser::{Chooser, ChosenOrder, hash};
use super::executable::Graph;
use super::free_list::FreeList;
use super::log::LogEntry;
use super::options::{HostBuilder, Policy, possible};
use super::order::Order;
use super::point::Point;
use super::queue::{Device, Event, Function, Op, Queued, Running, Stream, StreamKind, reached};
use super::variant::Variant;
use crate::driver::asker::Asker;
use crate::driver::{DeviceId, DriverError, DriverResult, GreenContext, LibraryBody};
use crate::splitmix::{SplitMix, mix};

#[derive(Debug)]
pub(super) struct Sim {
    /// The simulator's number, unique within the process.
    pub(super) number: u64,
    pub(super) policy: Policy,
    pub(super) variant: Variant,
    pub(super) random: SplitMix,
    /// Under the random policy a call executes nothing with the probability `idle_odds / (idle_odds + 1)`.
    pub(super) idle_odds: usize,
    seed: u64,
    memory_limit: u64,
    pub(super) devices: Vec<Device>,
    pub(super) streams: Vec<Stream>,
    pub(super) stream_names: u32,
    pub(super) events: Vec<Event>,
    pub(super) free_events: Vec<u32>,
    pub(super) event_names: u32,
    pub(super) functions: Vec<Function>,
    pub(super) green: Vec<GreenContext>,
    pub(super) graphs: Vec<Option<Graph>>,
    /// The host's simulated time.
    pub(super) host_time: u64,
    /// The number of the latest submission. One counter numbers the submissions to all streams.
    submitted: u64,
    /// The number of queued operations on all streams.
    pub(super) pending: usize,
    /// Under the slowest-last policy: the stream that executes only operations which a call depends on.
    pub(super) slowest: Option<usize>,
    /// Under the random policy: the number of calls that executed nothing because their caller held a lock, and whose random
    /// work a later call makes up for.
    pub(super) owed: usize,
    /// The host functions and bodies that are running now.
    pub(super) running: Vec<Running>,
    /// The number of bodies in `running`.
    pub(super) bodies: usize,
    /// The bodies of work that was dropped before it ran, and of destroyed graphs. This list may be the last owner of a body, and
    /// a body is dropped without the simulator's lock.
    pub(super) dropped: Vec<LibraryBody>,
    /// The number of threads that sleep in a blocking call.
    pub(super) sleepers: usize,
    pub(super) log: Option<Vec<LogEntry>>,
    /// A buffer for the candidates of a choice, reused so that choices allocate nothing.
    pub(super) scratch: Vec<usize>,
    /// The chooser that decides the order instead of the policy, with the state for its keys; `None` if the policy decides.
    pub(super) chosen: Option<Box<ChosenOrder>>,
}

impl Sim {
    pub(super) fn new(options: &HostBuilder, chooser: Option<Box<dyn Chooser>>) -> Self {
        static SIMULATORS: AtomicU64 = AtomicU64::new(0);
        let variant = Variant::of_seed(options.seed);
        let mut sim = Self {
            number: SIMULATORS.fetch_add(1, Ordering::Relaxed),
            policy: options.policy.unwrap_or(Policy::of_seed(options.seed)),
            variant,
            random: SplitMix::new(options.seed),
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
            graphs: Vec::new(),
            host_time: 0,
            submitted: 0,
            pending: 0,
            slowest: None,
            owed: 0,
            running: Vec::new(),
            bodies: 0,
            dropped: Vec::new(),
            sleepers: 0,
            log: options.trace.then(Vec::new),
            scratch: Vec::new(),
            chosen: chooser.map(|chooser| Box::new(ChosenOrder::new(chooser))),
        };
        for device in 0..possible(options.devices) as u32 {
            sim.devices.push(Device {
                memory: Arena::new(FreeList::splitting(variant.splits_memory)),
                pinned: Arena::default(),
                adopted: Vec::new(),
                failed: None,
                reported: false,
                failures: Default::default(),
                engines: Default::default(),
            });
            sim.add_stream(DeviceId(device), StreamKind::Default);
        }
        sim
    }

    pub(super) fn submit(&mut self, index: usize, op: Op) -> Point {
        self.submitted += 1;
        let number = self.submitted;
        let point = Point { stream: self.key(index), number };
        let stream = &mut self.streams[index];
        stream.submitted = number;
        if self.devices[stream.device.index()].failed.is_some() {
            // The device failed while the call waited for room in the queue, and executes no more work. The operation is
            // dropped and counts as complete.
            if op.is_user_code() {
                stream.drop_queued();
            }
            stream.done = number;
            return point;
        }
        let (thread, node) = (body::thread(), Asker::current());
        stream.queue.push_back(Queued { number, op, thread, node, at: self.host_time });
        self.pending += 1;
        if !stream.used {
            stream.used = true;
            self.choose_slowest();
        }
        point
    }

    /// Changes the copy at `point`, if it is still queued, to a copy of 0 bytes.
    pub(super) fn cancel_copy(&mut self, point: Point) {
        let stream = &mut self.streams[point.stream.index as usize];
        if stream.generation != point.stream.generation {
            return;
        }
        let queued = stream.queue.iter_mut().find(|queued| queued.number == point.number);
        if let Some(Queued { op: Op::Copy { bytes, rows, .. }, .. }) = queued {
            (*bytes, *rows) = (0, None);
        }
    }

    /// Notes the latest record of the event in slot `event`: its point, and the points that come before it.
    pub(super) fn recorded(&mut self, event: usize, point: Point) {
        let Event { latest, order, .. } = &mut self.events[event];
        *latest = Some(point);
        if self.variant.splits_memory {
            order.record(&self.streams[point.stream.index as usize].order, point);
        }
    }

    /// Notes that later work of a stream comes after the latest record of the event in slot `event`.
    pub(super) fn ordered_after(&mut self, stream: usize, event: usize) {
        if self.variant.splits_memory {
            self.streams[stream].order.merge(&self.events[event].order);
        }
    }

    /// Notes that later work of a stream comes after all work that was submitted to the stream `other` so far.
    pub(super) fn ordered_after_stream(&mut self, stream: usize, other: usize) {
        if self.variant.splits_memory {
            let mut order = Order::default();
            order.record(&self.streams[other].order, self.latest(other));
            self.streams[stream].order.merge(&order);
        }
    }

    pub(super) fn reached(&self, point: Point) -> bool {
        reached(&self.streams, point)
    }

    /// The point of the latest submission to a stream.
    pub(super) fn latest(&self, index: usize) -> Point {
        Point { stream: self.key(index), number: self.streams[index].submitted }
    }

    /// Chooses the slowest stream. Each stream has a fixed random rank, and the stream in use with the lowest rank is the
    /// slowest.
    pub(super) fn choose_slowest(&mut self) {
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
        let Stream { device, ref order, .. } = self.streams[index];
        let (streams, memory) = (&self.streams, &mut self.devices[device.index()].memory);
        let address = memory.allocate(
            bytes,
            self.memory_limit,
            |freed| freed.stream == key || order.covers(*freed),
            |freed| reached(streams, *freed),
        );
        if self.chosen.is_some() {
            // The address is part of the explored state, since it may depend on the executed operations which block is
            // reused.
            let place = address.and_then(|address| memory.locate(address));
            let place = place.map_or(u64::MAX, |(block, offset)| hash(&[block as u64, offset]));
            self.observe_answer(place);
        }
        address.ok_or(DriverError::OutOfMemory { device, requested: bytes })
    }
}
