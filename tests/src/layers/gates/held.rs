//! Keeps track of the gates that must open before work, events and streams are complete. All of it follows from the
//! driver calls.

use std::collections::{BTreeMap, HashMap, HashSet};

use streamflow::driver::RawStream;
use streamflow::platform::DeviceId;
use streamflow_driver::driver::RawEvent;

/// For each stream, the number of its last gate that must open first.
#[derive(Debug, Clone, Default)]
struct Behind(BTreeMap<RawStream, u32>);

impl Behind {
    fn join(&mut self, other: &Self) {
        for (&stream, &number) in &other.0 {
            let own = self.0.entry(stream).or_default();
            *own = number.max(*own);
        }
    }
}

/// The gates of a stream. They are numbered from 1.
#[derive(Debug)]
struct Gates {
    /// The index of the stream's flag among those of its device.
    flag: usize,
    placed: u32,
    opened: u32,
}

/// A gate: its number on its stream, and the index of the stream's flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gate {
    pub(super) device: DeviceId,
    pub(super) flag: usize,
    pub(super) number: u32,
}

/// The work for which a host call waits.
#[derive(Debug, Clone, Copy)]
pub(super) enum Point {
    Stream(RawStream),
    Event(RawEvent),
}

/// All gates, and which of them work and events are behind.
#[derive(Debug, Default)]
pub(super) struct Held {
    gates: HashMap<RawStream, Gates>,
    streams: HashMap<RawStream, Behind>,
    events: HashMap<RawEvent, Behind>,
    /// The legacy default stream of each device. Its work is ordered with that of all blocking streams.
    defaults: HashMap<DeviceId, RawStream>,
    blocking: HashSet<RawStream>,
    /// How many queries in a row have found a gate closed.
    queries: u32,
}

/// After this many queries in a row that find a gate closed, the gate opens. So a loop of queries ends, but a pool that
/// queries which of its blocks are free opens nothing.
const QUERIES: u32 = 256;

impl Held {
    pub(super) fn add_default(&mut self, stream: RawStream) {
        self.defaults.insert(stream.device(), stream);
    }

    /// Notes a new stream.
    pub(super) fn create_stream(&mut self, stream: RawStream, is_blocking: bool) {
        self.destroy_stream(stream);
        if is_blocking {
            self.blocking.insert(stream);
        }
    }

    /// Notes that a stream was destroyed, and that another stream may get its handle. The numbering of its gates goes on,
    /// since its work has yet to execute.
    pub(super) fn destroy_stream(&mut self, stream: RawStream) {
        self.streams.remove(&stream);
        self.blocking.remove(&stream);
    }

    /// Notes a new event that has no record yet.
    pub(super) fn create_event(&mut self, event: RawEvent) {
        self.events.insert(event, Behind::default());
    }

    /// Notes that an event was destroyed, and that another event may get its handle.
    pub(super) fn destroy_event(&mut self, event: RawEvent) {
        self.events.remove(&event);
    }

    /// Numbers a new gate for the next work of a stream.
    pub(super) fn place(&mut self, stream: RawStream) -> Gate {
        self.pass_barrier(stream);
        let device = stream.device();
        let next = 1 + self.gates.keys().filter(|other| other.device() == device).count();
        let gates = self.gates.entry(stream).or_insert(Gates { flag: next, placed: 0, opened: 0 });
        gates.placed += 1;
        let gate = Gate { device, flag: gates.flag, number: gates.placed };
        self.streams.entry(stream).or_default().0.insert(stream, gate.number);
        gate
    }

    /// Orders a stream's next work with the legacy default stream, if it is a blocking stream of the device, and the
    /// reverse.
    fn pass_barrier(&mut self, stream: RawStream) {
        let Some(&default) = self.defaults.get(&stream.device()) else { return };
        let mut before = Behind::default();
        if stream == default {
            for other in self.blocking.iter().filter(|other| other.device() == stream.device()) {
                if let Some(behind) = self.streams.get(other) {
                    before.join(behind);
                }
            }
        } else if let Some(behind) =
            self.blocking.get(&stream).and_then(|_| self.streams.get(&default))
        {
            before.join(behind);
        }
        self.streams.entry(stream).or_default().join(&before);
    }

    /// Notes that an event records the work of a stream so far.
    pub(super) fn record(&mut self, event: RawEvent, stream: RawStream) {
        self.pass_barrier(stream);
        let behind = self.streams.get(&stream).cloned().unwrap_or_default();
        self.events.insert(event, behind);
    }

    /// Notes that a stream waits for an event. An event that other code has recorded counts as behind every gate.
    pub(super) fn wait(&mut self, stream: RawStream, event: RawEvent) {
        let behind = self.behind(Point::Event(event));
        self.streams.entry(stream).or_default().join(&behind);
    }

    /// Notes that a stream waits for all work of its device.
    pub(super) fn wait_for_device(&mut self, stream: RawStream) {
        let all = self.all();
        self.streams.entry(stream).or_default().join(&all);
    }

    fn behind(&self, point: Point) -> Behind {
        match point {
            Point::Stream(stream) => self.streams.get(&stream).cloned().unwrap_or_default(),
            Point::Event(event) => self.events.get(&event).cloned().unwrap_or_else(|| self.all()),
        }
    }

    fn all(&self) -> Behind {
        Behind(self.gates.iter().map(|(&stream, gates)| (stream, gates.placed)).collect())
    }

    /// Whether the host may be waiting for a host function on this stream: a stream on which only host functions are
    /// queued wakes threads.
    pub(super) fn wakes(&self, stream: RawStream) -> bool {
        !self.streams.get(&stream).is_some_and(|behind| behind.0.contains_key(&stream))
    }

    /// Whether any gate is closed.
    pub(super) fn is_any_closed(&self) -> bool {
        self.gates.values().any(|gates| gates.opened < gates.placed)
    }

    /// Opens all gates that a point is behind. Returns the gates that were closed, for each stream only the last one.
    pub(super) fn open(&mut self, point: Point) -> Vec<Gate> {
        let behind = self.behind(point);
        self.open_these(&behind)
    }

    /// Opens all gates.
    pub(super) fn open_all(&mut self) -> Vec<Gate> {
        let all = self.all();
        self.open_these(&all)
    }

    fn open_these(&mut self, behind: &Behind) -> Vec<Gate> {
        self.queries = 0;
        let mut opened = Vec::new();
        for (&stream, &number) in &behind.0 {
            let Some(gates) = self.gates.get_mut(&stream).filter(|gates| gates.opened < number)
            else {
                continue;
            };
            gates.opened = number;
            opened.push(Gate { device: stream.device(), flag: gates.flag, number });
        }
        opened
    }

    /// Whether a query of this point finds a closed gate.
    pub(super) fn finds_closed(&mut self, point: Point) -> bool {
        let behind = self.behind(point);
        let is_closed = behind.0.iter().any(|(stream, &number)| {
            self.gates.get(stream).is_some_and(|gates| gates.opened < number)
        });
        self.queries = if is_closed { self.queries + 1 } else { 0 };
        is_closed && self.queries < QUERIES
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use streamflow::driver::Driver;
    use streamflow::driver::host::HostDriver;
    use streamflow_driver::driver::{DriverResult, StreamOptions};

    use super::*;

    /// Makes handles by a driver, since nothing else can make them.
    fn handles<const N: usize>() -> DriverResult<([RawStream; N], RawEvent, RawStream)> {
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::builder().build());
        let device = streamflow::device(0);
        driver.bind(device)?;
        let mut streams = Vec::new();
        for _ in 0..N {
            streams.push(driver.create_stream(device, StreamOptions::default())?);
        }
        let streams = std::array::from_fn(|index| streams[index]);
        Ok((streams, driver.create_event(device)?, driver.default_stream(device)))
    }

    fn numbers(gates: Vec<Gate>) -> Vec<(usize, u32)> {
        let mut numbers: Vec<_> = gates.into_iter().map(|gate| (gate.flag, gate.number)).collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn a_wait_puts_a_stream_behind_the_gates_of_a_record() -> DriverResult<()> {
        let ([a, b], event, _) = handles()?;
        let mut held = Held::default();
        let [first, _] = [held.place(a), held.place(b)];
        held.record(event, a);
        let later = held.place(a);
        assert_eq!((first.number, later.number, first.flag), (1, 2, later.flag));
        assert_eq!(numbers(held.open(Point::Stream(b))), [(2, 1)]);
        held.wait(b, event);
        // The gate that was placed after the record stays closed.
        assert_eq!(numbers(held.open(Point::Stream(b))), [(1, 1)]);
        assert!(held.is_any_closed());
        assert_eq!(numbers(held.open_all()), [(1, 2)]);
        assert!(!held.is_any_closed());
        Ok(())
    }

    #[test]
    fn an_event_of_other_code_may_be_behind_all_gates() -> DriverResult<()> {
        let ([a, b], event, _) = handles()?;
        let mut held = Held::default();
        held.place(a);
        held.wait(b, event);
        assert_eq!(numbers(held.open(Point::Stream(b))), [(1, 1)]);
        held.place(a);
        // An event that was never recorded counts as complete.
        held.create_event(event);
        assert!(held.open(Point::Event(event)).is_empty());
        Ok(())
    }

    #[test]
    fn the_default_stream_is_behind_blocking_streams_and_the_other_way_round() -> DriverResult<()> {
        let ([blocking, other], _, default) = handles()?;
        let mut held = Held::default();
        held.add_default(default);
        held.create_stream(blocking, true);
        held.create_stream(other, false);
        held.place(blocking);
        held.place(other);
        held.place(default);
        assert_eq!(numbers(held.open(Point::Stream(default))), [(1, 1), (3, 1)]);
        held.place(default);
        held.place(blocking);
        held.place(other);
        assert_eq!(held.open(Point::Stream(other)).len(), 1);
        assert_eq!(held.open(Point::Stream(blocking)).len(), 2);
        Ok(())
    }

    #[test]
    fn a_loop_of_queries_ends() -> DriverResult<()> {
        let ([a], event, _) = handles()?;
        let mut held = Held::default();
        held.place(a);
        held.record(event, a);
        let closed = (0..1000).take_while(|_| held.finds_closed(Point::Event(event))).count();
        assert_eq!(closed as u32, QUERIES - 1);
        Ok(())
    }
}
