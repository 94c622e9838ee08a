//! The measurements of one node in a run, if the platform keeps statistics.
//!
//! All memory is allocated when the run starts. A tick only increases counts (law 12).
//!
//! Reading the clock costs more than all other work here. If a tick follows another one at once, the end of the first is also the
//! beginning of the second; [`Succession`] tells when that holds. A node then reads the clock once in each tick, at its end,
//! which is also the moment at which its messages have arrived.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::time::Duration;

use super::histogram::{Histogram, Summary};
use crate::message::Origin;
use crate::time::{Clock, Timestamp};

thread_local! {
    /// `None` outside of a [`Succession`] on this thread. Within one, the end of the last tick if the next tick follows at once,
    /// else `Some(None)`.
    static ENDED: Cell<Option<Option<Timestamp>>> = const { Cell::new(None) };
}

/// A guard: while it exists, the measured ticks of this thread follow each other at once, except after an
/// [interruption](Self::interrupt). Without a guard, each tick reads the clock at its beginning.
pub(crate) struct Succession(());

impl Succession {
    pub(crate) fn begin() -> Self {
        ENDED.set(Some(None));
        Self(())
    }

    /// Records that the scheduler does other work before the next tick, so that the next tick reads the clock at its beginning.
    pub(crate) fn interrupt(&self) {
        ENDED.set(Some(None));
    }
}

impl Drop for Succession {
    fn drop(&mut self) {
        ENDED.set(None);
    }
}

/// Records that a node checks its conditions or runs other hooks before its next tick, so that this tick reads the clock at its
/// beginning.
#[inline]
pub(super) fn interrupt() {
    ENDED.set(ENDED.get().map(|_| None));
}

/// The paths that end at a sink, by the origins of the sink's messages.
#[derive(Debug, Clone)]
pub struct NodePaths {
    /// The numbers of the sources from which paths lead to the sink, in ascending order. Each source gets a histogram.
    pub(crate) sources: Vec<NonZeroU32>,
    /// The number of histograms for origins that are not sources: nodes that discard their messages and send others.
    pub(crate) spare: usize,
}

/// The statistics of one node in one run, if the platform keeps statistics.
#[derive(Debug)]
pub(super) struct NodeStatistics {
    /// The beginning of the running tick.
    began: Timestamp,
    host_time: Histogram,
    lateness: Histogram,
    /// The latencies of the paths that end at this node; `None` for a node that is no sink.
    latency: Option<Latency>,
}

/// The ages of the messages at a sink, by the origin of the messages.
#[derive(Debug)]
struct Latency {
    paths: Vec<Path>,
    /// The number of paths from sources. They come first in `paths`, in the order of their origins.
    known: usize,
    spare: Vec<Histogram>,
    /// The number of messages from origins for which no histogram was left.
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

    /// Begins a tick, at the end of the preceding tick or at the current time.
    #[inline(never)]
    pub(super) fn begin_tick(&mut self, clock: &Clock) {
        self.began = ENDED.get().flatten().unwrap_or_else(|| clock.now());
    }

    /// Records a tick that ends. `data` is the time at which the data of its messages was acquired, and their origin; `None` if
    /// the tick failed or received no messages.
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
            // This push does not allocate: the vector has capacity for all spare histograms.
            self.paths.push(Path { origin, latency });
        } else {
            self.unmeasured += 1;
        }
    }
}

/// The statistics of a node at one moment of a run, for a report.
#[derive(Debug, Clone)]
pub(crate) struct NodeTimes {
    pub(crate) host_time: Option<Summary>,
    pub(crate) lateness: Option<Summary>,
    /// The latency of each path, by the origin of its messages.
    pub(crate) latency: Vec<(Origin, Summary)>,
    /// The number of messages from origins for which no histogram was left.
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
        // The messages of origin 4 get the spare histogram, so none is left for those of origin 7.
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
