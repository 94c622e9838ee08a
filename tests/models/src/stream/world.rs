//! Four streams on a driver that knows the real order: for each piece of work, the work that really precedes it.

use std::sync::Mutex as Plain;

use super::ordered::Ordered;
use super::record::Record;
use super::records::Records;
use super::ring::RING;
use super::seen::{Seen, found_complete};
use super::switch::Switch;
use super::{PlatformNumber, Point};
use crate::explore::{Observed, plain};
use crate::sync::Mutex;

const STREAMS: usize = 4;

/// A set of work, as one count per stream: the first so many pieces of that stream's work. Used for the work that
/// precedes something.
pub(crate) type Before = [u64; STREAMS];

/// The error of a driver call that the model makes fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

/// Four streams, their driver and the host.
pub(crate) struct World {
    streams: [Stream; STREAMS],
    /// For each stream, the work that precedes the next work queued on it. Each stream has its own lock, so the calls for
    /// one stream take effect one after the other. No lock is shared by several streams: that would order more than a
    /// driver promises.
    queues: [Mutex<Before>; STREAMS],
    /// For each event, the work that precedes its latest record.
    events: [[Observed<Before>; RING]; STREAMS],
    /// The work that the device has executed.
    done: Plain<Before>,
    /// Every point that the library has returned, with the number of the work that the point must cover.
    points: Plain<Vec<(Point, u64)>>,
    /// For each stream, whether its owner has destroyed it.
    destroyed: Observed<[bool; STREAMS]>,
    /// How many of the next records and waits the driver refuses.
    refusals: Plain<u32>,
    /// The state of replay, if the driver replays.
    replay: Option<Replay>,
}

/// The state of a driver that replays. It is a layer above the driver that knows the real order.
#[derive(Default)]
struct Replay {
    switch: Switch,
    /// For each stream, how many pieces of work the layer holds back.
    held: Mutex<Before>,
}

struct Stream {
    records: Records,
    seen: Seen,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            streams: [(); STREAMS].map(|()| Stream { records: Records::new(), seen: Seen::new() }),
            queues: [(); STREAMS].map(|()| Mutex::new([0; STREAMS])),
            events: Default::default(),
            done: Plain::default(),
            points: Plain::default(),
            destroyed: Observed::default(),
            refusals: Plain::default(),
            replay: None,
        }
    }

    /// Creates a world with a driver that replays.
    pub(crate) fn replaying() -> Self {
        Self { replay: Some(Replay::default()), ..Self::new() }
    }

    /// Makes the driver refuse its next record or wait.
    pub(crate) fn refuse(&self) {
        *plain(&self.refusals) += 1;
    }

    fn is_refused(&self) -> bool {
        let mut refusals = plain(&self.refusals);
        let is_refused = *refusals > 0;
        *refusals -= u32::from(is_refused);
        is_refused
    }

    // ---- the driver's calls ----

    /// Queues work. Returns all work that must be complete when the new work is: the entry of `stream` is the number of
    /// the new work.
    pub(crate) fn queue(&self, stream: usize) -> Before {
        let mut queue = self.queues[stream].lock().unwrap();
        queue[stream] += 1;
        *queue
    }

    /// Makes a call as a driver that replays does: while a run replays, first queues the work that the layer holds back.
    fn behind_held<R>(&self, call: impl FnOnce() -> R) -> R {
        match &self.replay {
            Some(replay) if replay.switch.is_on() => {
                let mut held = replay.held.lock().unwrap();
                self.send(&mut held);
                call()
            }
            _ => call(),
        }
    }

    fn send(&self, held: &mut Before) {
        for (stream, held) in held.iter_mut().enumerate() {
            (0..std::mem::take(held)).for_each(|_| {
                self.queue(stream);
            });
        }
    }

    /// Makes one pass of a run that replays: the layer holds back one piece of work, whose number on its stream is
    /// `work`.
    pub(crate) fn pass(&self, stream: usize, work: u64) {
        let Replay { switch, held } = self.replay.as_ref().unwrap();
        {
            let mut held = held.lock().unwrap();
            switch.turn_on();
            held[stream] += 1;
        }
        self.take(stream, work);
        self.send(&mut held.lock().unwrap());
    }

    fn record_event(&self, stream: usize, slot: usize) -> Result<(), Refused> {
        self.behind_held(|| self.make_record(stream, slot))
    }

    fn make_record(&self, stream: usize, slot: usize) -> Result<(), Refused> {
        let queue = self.queues[stream].lock().unwrap();
        assert!(!self.destroyed.get()[stream], "a destroyed stream is recorded");
        if self.is_refused() {
            return Err(Refused);
        }
        *self.events[stream][slot].get() = *queue;
        Ok(())
    }

    fn wait_event(&self, stream: usize, of: usize, slot: usize) -> Result<(), Refused> {
        assert!(
            !crate::lock::holds_one_of("::memory::"),
            "a lock of memory is held in a driver call"
        );
        let mut queue = self.queues[stream].lock().unwrap();
        if self.is_refused() {
            return Err(Refused);
        }
        let event = *self.events[of][slot].get();
        *queue = std::array::from_fn(|index| queue[index].max(event[index]));
        Ok(())
    }

    /// Makes the device execute the work that precedes the event, and no other work.
    fn query_event(&self, of: usize, slot: usize) {
        let event = *self.events[of][slot].get();
        let mut done = plain(&self.done);
        *done = std::array::from_fn(|index| done[index].max(event[index]));
    }

    pub(crate) fn destroy(&self, stream: usize) {
        self.destroyed.get()[stream] = true;
    }

    // ---- calls as the library's `Timeline` makes them ----

    /// Queues work, and returns a point that covers it.
    pub(crate) fn work(&self, stream: usize) -> Point {
        let before = self.queue(stream);
        self.take(stream, before[stream])
    }

    /// Returns a point that covers work which was queued before.
    pub(crate) fn take(&self, stream: usize, work: u64) -> Point {
        let point = On(self, stream).open_point();
        plain(&self.points).push((point, work));
        point
    }

    pub(crate) fn record(&self, stream: usize) -> Result<Option<u64>, Refused> {
        let Stream { records, seen } = &self.streams[stream];
        records.record(seen, |slot| self.record_event(stream, slot))
    }

    /// Blocks the host until all work of a stream is complete.
    pub(crate) fn synchronize(&self, stream: usize) {
        let Stream { records, .. } = &self.streams[stream];
        let number = records.number_without_event();
        self.behind_held(|| {
            let queue = *self.queues[stream].lock().unwrap();
            let mut done = plain(&self.done);
            *done = std::array::from_fn(|index| done[index].max(queue[index]));
        });
        records.complete.note(number);
    }

    pub(crate) fn close(&self, stream: usize) -> Result<(), Refused> {
        let Stream { records, seen } = &self.streams[stream];
        records.close(seen, |slot| self.record_event(stream, slot))
    }

    pub(crate) fn close_beside(&self, stream: usize) -> Result<(), Refused> {
        let Stream { records, seen } = &self.streams[stream];
        records.close_beside(seen, |slot| self.record_event(stream, slot))
    }

    pub(crate) fn detach(&self, stream: usize) -> Result<(), Refused> {
        let Stream { records, seen } = &self.streams[stream];
        let last = records.detach(seen, |slot| self.record_event(stream, slot))?;
        records.set_detached(last.is_some());
        Ok(())
    }

    pub(crate) fn wait(&self, stream: usize, point: Point) -> Result<(), Refused> {
        let (on, of) = (On(self, stream), point.stream as usize);
        if on.implies(point) {
            return Ok(());
        }
        if self.streams[of].records.complete.has(point.record) {
            self.streams[stream].seen.mark_complete(point.stream, point.record);
            return Ok(());
        }
        if self.streams[stream].seen.has_waited(point.stream, point.record) {
            return Ok(());
        }
        let mut record = self.covering(point)?;
        let slot = record.slot;
        let call = || self.wait_event(stream, of, slot);
        self.streams[stream].seen.wait(on.id(), point.stream, &mut record, call)
    }

    fn covering(&self, point: Point) -> Result<Record, Refused> {
        let of = point.stream as usize;
        let Stream { records, seen } = &self.streams[of];
        let call = |slot| self.record_event(of, slot);
        let mut found = Record::default();
        let is_found = records.covering(point.record, &mut found, seen, || Ok(()), call)?;
        if is_found { Ok(found) } else { Err(Refused) }
    }

    /// Queries a point from the host. The driver answers that the point is complete.
    pub(crate) fn find_complete(&self, point: Point) -> Result<(), Refused> {
        let of = point.stream as usize;
        if !self.streams[of].records.complete.has(point.record) {
            let record = self.covering(point)?;
            self.query_event(of, record.slot);
            let records = |stream: u32| &self.streams[stream as usize].records;
            let own = &self.streams[of].records.complete;
            let covered_by = |stream, number| records(stream).covered_by(number);
            let complete = |stream| &records(stream).complete;
            found_complete(own, record.number, record.covered, complete, covered_by);
        }
        Ok(())
    }

    /// Whether the library has noted that the stream comes after the point. If so, checks that this is the real order.
    pub(crate) fn implies(&self, stream: usize, point: Point) -> bool {
        let on = On(self, stream);
        let seen = &self.streams[stream].seen;
        let implies = on.implies(point) || seen.has_latest(point.stream, point.record);
        if implies {
            let queue = *self.queues[stream].lock().unwrap();
            self.assert_covers(&queue, point.stream, point.record, "a wait is skipped too early");
        }
        implies
    }

    /// Compares all orders that the library has noted with the real order. All other threads of the model must have
    /// ended.
    pub(crate) fn check(&self) {
        let points = plain(&self.points).clone();
        for stream in 0..STREAMS {
            for (point, _) in &points {
                self.implies(stream, *point);
            }
            self.check_ring(stream);
        }
        let done = *plain(&self.done);
        for (point, work) in points {
            let of = point.stream as usize;
            if self.streams[of].records.complete.has(point.record) {
                assert!(done[of] >= work, "work counts as complete that is not");
            }
        }
    }

    fn check_ring(&self, stream: usize) {
        let Stream { records, seen } = &self.streams[stream];
        for number in 1..=records.recorded() {
            let none = |_| Err(Refused);
            let mut record = Record::default();
            if records.covering(number, &mut record, seen, || Err(Refused), none) != Ok(true) {
                continue;
            }
            let event = *self.events[stream][record.slot].get();
            let what = "a record counts for work that its event does not cover";
            self.assert_covers(&event, stream as u32, record.number, what);
            for entry in record.covered {
                let what = "a record counts for a wait that its event does not cover";
                self.assert_covers(&event, entry.stream(), entry.record(), what);
            }
        }
    }

    /// Asserts that the work of all points up to a record of `stream` is in `before`.
    fn assert_covers(&self, before: &Before, stream: u32, record: u64, what: &str) {
        for (point, work) in plain(&self.points).iter() {
            if point.stream == stream && point.record <= record {
                assert!(before[stream as usize] >= *work, "{what}");
            }
        }
    }
}

/// A stream of a world, by its index.
pub(crate) struct On<'a>(pub(crate) &'a World, pub(crate) usize);

impl Ordered for On<'_> {
    fn id(&self) -> u32 {
        self.1 as u32
    }

    fn comes_after(&self, stream: u32, record: u64) -> bool {
        stream == self.id() || self.0.streams[self.1].seen.has(stream, record)
    }

    fn open_point(&self) -> Point {
        let record = self.0.streams[self.1].records.open();
        Point { platform: PlatformNumber::MIN, stream: self.id(), record }
    }
}
