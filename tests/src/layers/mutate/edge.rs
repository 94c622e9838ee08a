//! Edges by name: where in a graph the runtime orders something.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use streamflow::driver::{RawEvent, RawStream};

/// What an edge is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// A stream waits for an event.
    Wait,
    /// An event is recorded.
    Record,
    /// Memory goes back to the driver, on a stream that has waited for its users. Dropping it means
    /// that it goes back at once.
    Free,
    /// The host blocks until an event or a stream is complete. Dropping it means that it goes on at once.
    HostWait,
    /// The host asks whether an event or a stream is complete, and it is not. Dropping it means that it is told so
    /// nevertheless.
    HostQuery,
}

/// One static edge: the same in each tick.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// What it is.
    pub kind: EdgeKind,
    /// The node and its hook, or what followed that hook.
    pub place: Arc<str>,
    /// The stream that waits, records or frees, or that the host waits for.
    pub stream: Arc<str>,
    /// The stream that is waited for.
    pub on: Option<Arc<str>>,
    /// Which of several such in one visit of the place, from 0.
    pub nth: u32,
}

impl Edge {
    /// Whether it is a wait of the host for all that a graph has queued, before a run of it returns.
    pub fn is_at_the_end(&self) -> bool {
        let follows = self.place.starts_with("after ") && self.place.ends_with(".stop");
        self.kind == EdgeKind::HostWait && follows
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, place, stream, on, nth } = self;
        let kind = match kind {
            EdgeKind::Wait => "wait",
            EdgeKind::Record => "record",
            EdgeKind::Free => "deferred free",
            EdgeKind::HostWait => "wait of the host",
            EdgeKind::HostQuery => "question of the host",
        };
        write!(f, "{place}: {kind} {nth} on `{stream}`")?;
        on.as_ref().map_or(Ok(()), |on| write!(f, " for `{on}`"))
    }
}

/// One visit of a place: from the beginning of a hook to its end, or from there to the next.
#[derive(Debug)]
pub(super) struct Visit {
    place: Arc<str>,
    after: Arc<str>,
    /// The latest of each kind between the same streams in this visit.
    latest: Vec<Edge>,
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

    /// An edge that stands for all of its kind in this visit: how often the host asks depends on the answers.
    pub(super) fn only(&self, kind: EdgeKind, stream: Arc<str>) -> Edge {
        Edge { kind, place: self.place.clone(), stream, on: None, nth: 0 }
    }

    /// The edge that is made now.
    pub(super) fn edge(&mut self, kind: EdgeKind, stream: Arc<str>, on: Option<Arc<str>>) -> Edge {
        let same = |it: &&mut Edge| it.kind == kind && it.stream == stream && it.on == on;
        if let Some(latest) = self.latest.iter_mut().find(same) {
            latest.nth += 1;
            return latest.clone();
        }
        let edge = Edge { kind, place: self.place.clone(), stream, on, nth: 0 };
        self.latest.push(edge.clone());
        edge
    }
}

/// What streams are called, and where events were recorded last.
#[derive(Debug, Default)]
pub(super) struct Names {
    streams: HashMap<RawStream, Arc<str>>,
    recorded_on: HashMap<RawEvent, Arc<str>>,
}

impl Names {
    pub(super) fn name_stream(&mut self, stream: RawStream, name: &str) {
        self.streams.insert(stream, name.into());
    }

    /// The streams that have a name, in an order that is always the same.
    pub(super) fn streams(&self) -> Vec<RawStream> {
        let mut streams: Vec<_> = self.streams.keys().copied().collect();
        streams.sort_unstable();
        streams
    }

    /// Of the runtime's own streams, those that give memory back have no name.
    pub(super) fn stream(&self, stream: RawStream) -> Arc<str> {
        let own = || format!("the reclaim stream of {}", stream.device()).into();
        self.streams.get(&stream).cloned().unwrap_or_else(own)
    }

    pub(super) fn recorded(&mut self, event: RawEvent, stream: RawStream) -> Arc<str> {
        let name = self.stream(stream);
        self.recorded_on.insert(event, name.clone());
        name
    }

    pub(super) fn event(&self, event: RawEvent) -> Arc<str> {
        self.recorded_on.get(&event).cloned().unwrap_or_else(|| "nothing".into())
    }
}
