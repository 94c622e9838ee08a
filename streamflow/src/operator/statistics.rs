//! The measurements of a run about one node, if its platform keeps statistics.
//!
//! All memory is allocated when the run starts; a tick only adds to counts (law 12).
//!
//! A reading of the clock costs more than everything else here. If a tick follows another one at once, the end of the
//! first is the beginning of the second: [`Succession`] tells when that is so. A node then needs one reading for each
//! tick, at its end, and that is also the moment at which its messages have arrived.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use super::histogram::{Histogram, Summary};
use crate::message::Origin;
use crate::time::{Clock, Timestamp};

thread_local! {
    /// Within a [`Succession`] of this thread, the end of the last tick, if the next one follows at once.
    static ENDED: Cell<Option<Option<Timestamp>>> = const { Cell::new(None) };
}

/// A guard: while it lives, the measured ticks of this thread follow each other, except after an
/// [interruption](Self::interrupt). Without a guard, each tick reads the clock at its beginning.
pub(crate) struct Succession(());

impl Succession {
    pub(crate) fn begin() -> Self {
        ENDED.set(Some(None));
        Self(())
    }

    /// Records that the scheduler does something else before the next tick.
    pub(crate) fn interrupt(&self) {
        ENDED.set(Some(None));
    }
}

impl Drop for Succession {
    fn drop(&mut self) {
        ENDED.set(None);
    }
}

/// Records that a node checks more than its queues before its next tick.
#[inline]
pub(super) fn interrupt() {
    ENDED.set(ENDED.get().map(|_| None));
}

/// The paths that end at a sink: the origins of its messages.
#[derive(Debug, Clone)]
pub struct NodePaths {
    /// The numbers of the sources, in ascending order. Each gets a histogram.
    pub(crate) sources: Vec<NonZeroU32>,
    /// The number of histograms for other nodes at which data begins: nodes that discard their messages and send
    /// others.
    pub(crate) spare: usize,
}

/// The statistics of one node in one run.
#[derive(Debug)]
pub(super) struct NodeStatistics {
    /// The begin of the running tick.
    began: Timestamp,
    host_time: Histogram,
    lateness: Histogram,
    /// `None` for a node that is no sink.
    latency: Option<Latency>,
}

/// The age of the messages at a sink, by origin.
#[derive(Debug)]
struct Latency {
    paths: Vec<Path>,
    /// The number of paths from sources: these are the first ones, in the order of their origins.
    known: usize,
    spare: Vec<Histogram>,
    /// The number of messages from nodes without a histogram.
    unmeasured: u64,
}

#[derive(Debug)]
struct Path {
    origin: Origin,
    latency: Histogram,
}

impl NodeStatistics {
    pub(super) fn new(paths: Option<&NodePaths>) -> Self {
        Self {
            began: Timestamp(0),
            host_time: Histogram::new(),
            lateness: Histogram::new(),
            latency: paths.map(Latency::new),
        }
    }

    /// Begins a tick.
    #[inline(never)]
    pub(super) fn begin_tick(&mut self, clock: &Clock) {
        self.began = ENDED.get().flatten().unwrap_or_else(|| clock.now());
    }

    /// Records a tick that ends. `data` is the moment and the origin at which the data of its messages began; `None` if
    /// the tick failed or had no messages.
    #[inline]
    pub(super) fn add_tick(&mut self, ended: Timestamp, data: Option<(Timestamp, Origin)>) {
        self.host_time.record(ended.since(self.began));
        ENDED.set(ENDED.get().map(|_| Some(ended)));
        if let (Some(latency), Some((acquired, origin))) = (&mut self.latency, data) {
            latency.note(origin, ended.since(acquired));
        }
    }

    pub(super) fn add_lateness(&mut self, late: Duration) {
        self.lateness.record(late);
    }

    pub(super) fn times(&self) -> NodeTimes {
        let (host_time, lateness) = (self.host_time.summary(), self.lateness.summary());
        let paths = self.latency.iter().flat_map(|latency| &latency.paths);
        let latency = paths.filter_map(|path| Some((path.origin, path.latency.summary()?)));
        let unmeasured = self.latency.as_ref().map_or(0, |latency| latency.unmeasured);
        NodeTimes { host_time, lateness, latency: latency.collect(), unmeasured }
    }
}

impl Latency {
    fn new(NodePaths { sources, spare }: &NodePaths) -> Self {
        let mut paths = Vec::with_capacity(sources.len() + spare);
        paths.extend(sources.iter().map(|&origin| Path { origin, latency: Histogram::new() }));
        let spare = (0..*spare).map(|_| Histogram::new()).collect();
        Self { known: paths.len(), paths, spare, unmeasured: 0 }
    }

    #[inline]
    fn note(&mut self, origin: Origin, age: Duration) {
        match self.paths.first_mut() {
            Some(path) if path.origin == origin => path.latency.record(age),
            _ => self.add_origin(origin, age),
        }
    }

    #[inline(never)]
    fn add_origin(&mut self, origin: Origin, age: Duration) {
        let (known, others) = self.paths.split_at_mut(self.known);
        let path = match known.binary_search_by_key(&origin, |path| path.origin) {
            Ok(index) => known.get_mut(index),
            Err(_) => others.iter_mut().find(|path| path.origin == origin),
        };
        if let Some(path) = path {
            path.latency.record(age);
        } else if let Some(mut latency) = self.spare.pop() {
            latency.record(age);
            // This push stays within the capacity.
            self.paths.push(Path { origin, latency });
        } else {
            self.unmeasured += 1;
        }
    }
}

/// The statistics of a node so far.
#[derive(Debug, Clone)]
pub(crate) struct NodeTimes {
    pub(crate) host_time: Option<Summary>,
    pub(crate) lateness: Option<Summary>,
    /// The latency, by the node at which the data began.
    pub(crate) latency: Vec<(Origin, Summary)>,
    /// The number of messages from nodes without a histogram.
    pub(crate) unmeasured: u64,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn origin(number: u32) -> Origin {
        Origin::new(number).unwrap()
    }

    #[test]
    fn each_origin_has_a_histogram_and_what_has_none_is_counted() {
        let paths = NodePaths { sources: [2, 5, 9].map(origin).to_vec(), spare: 1 };
        let mut node = NodeStatistics::new(Some(&paths));
        // Node 4 gets the spare histogram, and none is left for node 7.
        for (number, age) in [(9, 10), (4, 20), (2, 30), (7, 40), (4, 50), (9, 60)] {
            let data = Some((Timestamp(100), origin(number)));
            node.add_tick(Timestamp(100 + age), data);
        }
        node.add_tick(Timestamp(1), None);
        let times = node.times();
        let found = times
            .latency
            .iter()
            .map(|(origin, summary)| (origin.get(), summary.count, summary.max.as_nanos()));
        assert_eq!(found.collect::<Vec<_>>(), [(2, 1, 30), (9, 2, 60), (4, 2, 50)]);
        assert_eq!((times.unmeasured, times.host_time.unwrap().count), (1, 7));
        assert_eq!(times.lateness, None);
        node.add_lateness(Duration::from_nanos(3));
        assert_eq!(node.times().lateness.unwrap().max, Duration::from_nanos(3));
    }

    #[test]
    fn a_tick_begins_when_the_last_one_ended_if_it_follows_at_once() {
        let clock = Clock::simulated();
        let mut node = NodeStatistics::new(None);
        let tick = |ended| NodeStatistics::new(None).add_tick(Timestamp(ended), None);
        clock.advance(Duration::from_nanos(50));
        let mut begins = || {
            node.begin_tick(&clock);
            node.began.0
        };
        tick(10);
        assert_eq!(begins(), 50);
        let succession = Succession::begin();
        assert_eq!(begins(), 50);
        tick(20);
        assert_eq!(begins(), 20);
        succession.interrupt();
        assert_eq!(begins(), 50);
        tick(30);
        interrupt();
        assert_eq!(begins(), 50);
        tick(40);
        drop(succession);
        assert_eq!(begins(), 50);
    }

    #[test]
    fn a_node_that_is_no_sink_has_no_latency() {
        let mut node = NodeStatistics::new(None);
        node.add_tick(Timestamp(3), Some((Timestamp(0), origin(1))));
        let times = node.times();
        assert_eq!((times.latency.len(), times.unmeasured), (0, 0));
        assert_eq!(times.host_time.unwrap().max, Duration::from_nanos(3));
    }
}
