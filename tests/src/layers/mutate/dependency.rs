//! Names of dependencies, which say where in a graph the runtime orders work.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use streamflow::driver::RawStream;
use streamflow_driver::driver::RawEvent;

/// The kind of call that makes a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependencyKind {
    /// A stream waits for an event.
    Wait,
    /// An event is recorded.
    Record,
    /// Memory is freed on a stream that has waited for the memory's users. If this is dropped, the memory is freed
    /// immediately.
    Free,
    /// The host blocks until an event or a stream is complete. If this is dropped, the host does not block.
    HostWait,
    /// The host queries an event or a stream that is not complete. If this is dropped, the query returns "complete".
    HostQuery,
}

/// A dependency, which has the same name in each tick.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependency {
    /// The kind of call that makes the dependency.
    pub kind: DependencyKind,
    /// Where the call is made: the node and its hook, or `after` with the hook that has returned before.
    pub place: Arc<str>,
    /// The stream that waits, records or frees, or for which the host waits.
    pub stream: Arc<str>,
    /// The stream whose work is waited for.
    pub on: Option<Arc<str>>,
    /// How many equal dependencies the same visit of the place has made before.
    pub nth: u32,
}

impl Dependency {
    /// Whether this is the host's wait for all work of a graph, before a run returns.
    pub fn is_at_the_end(&self) -> bool {
        let follows = self.place.starts_with("after ") && self.place.ends_with(".stop");
        self.kind == DependencyKind::HostWait && follows
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, place, stream, on, nth } = self;
        let kind = match kind {
            DependencyKind::Wait => "wait",
            DependencyKind::Record => "record",
            DependencyKind::Free => "deferred free",
            DependencyKind::HostWait => "wait of the host",
            DependencyKind::HostQuery => "query of the host",
        };
        write!(f, "{place}: {kind} {nth} on `{stream}`")?;
        on.as_ref().map_or(Ok(()), |on| write!(f, " for `{on}`"))
    }
}

/// A visit of a place: one call of a hook, or the time from its end to the next hook.
#[derive(Debug)]
pub(super) struct Visit {
    place: Arc<str>,
    after: Arc<str>,
    /// For each kind and pair of streams, the latest dependency of this visit.
    latest: Vec<Dependency>,
}

impl Default for Visit {
    fn default() -> Self {
        let place: Arc<str> = "before all".into();
        Self { after: place.clone(), place, latest: Vec::new() }
    }
}

impl Visit {
    pub(super) fn enter(&mut self, node: &str, hook: &str) {
        self.place = format!("{node}.{hook}").into();
        self.after = format!("after {node}.{hook}").into();
        self.latest.clear();
    }

    pub(super) fn leave(&mut self) {
        self.place = self.after.clone();
        self.latest.clear();
    }

    /// Returns a single dependency for all queries of a stream in this visit, since the number of queries depends on
    /// their results.
    pub(super) fn query_dependency(&self, kind: DependencyKind, stream: Arc<str>) -> Dependency {
        Dependency { kind, place: self.place.clone(), stream, on: None, nth: 0 }
    }

    /// Names the next dependency of this visit.
    pub(super) fn dependency(
        &mut self,
        kind: DependencyKind,
        stream: Arc<str>,
        on: Option<Arc<str>>,
    ) -> Dependency {
        let same = |dependency: &&mut Dependency| {
            dependency.kind == kind && dependency.stream == stream && dependency.on == on
        };
        if let Some(latest) = self.latest.iter_mut().find(same) {
            latest.nth += 1;
            return latest.clone();
        }
        let dependency = Dependency { kind, place: self.place.clone(), stream, on, nth: 0 };
        self.latest.push(dependency.clone());
        dependency
    }
}

/// The labels of streams, and the stream that each event was recorded on last.
#[derive(Debug, Default)]
pub(super) struct Names {
    streams: HashMap<RawStream, Arc<str>>,
    recorded_on: HashMap<RawEvent, Arc<str>>,
}

impl Names {
    pub(super) fn name_stream(&mut self, stream: RawStream, name: &str) {
        self.streams.insert(stream, name.into());
    }

    /// Returns the streams that have a name, in a fixed order.
    pub(super) fn streams(&self) -> Vec<RawStream> {
        let mut streams: Vec<_> = self.streams.keys().copied().collect();
        streams.sort_unstable();
        streams
    }

    /// Returns the name of a stream. Only the runtime's streams for reclaiming memory have no label.
    pub(super) fn stream(&self, stream: RawStream) -> Arc<str> {
        let reclaim = || format!("the reclaim stream of {}", stream.device()).into();
        self.streams.get(&stream).cloned().unwrap_or_else(reclaim)
    }

    pub(super) fn recorded(&mut self, event: RawEvent, stream: RawStream) {
        let name = self.stream(stream);
        self.recorded_on.insert(event, name);
    }

    pub(super) fn event(&self, event: RawEvent) -> Arc<str> {
        self.recorded_on.get(&event).cloned().unwrap_or_else(|| "nothing".into())
    }
}
