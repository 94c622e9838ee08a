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
}

/// One static edge: the same in each tick.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// What it is.
    pub kind: EdgeKind,
    /// The node and its hook, or what followed that hook.
    pub place: Arc<str>,
    /// The stream that waits, records or frees.
    pub stream: Arc<str>,
    /// The stream that is waited for.
    pub on: Option<Arc<str>>,
    /// Which of several such in one visit of the place, from 0.
    pub nth: u32,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, place, stream, on, nth } = self;
        let kind = match kind {
            EdgeKind::Wait => "wait",
            EdgeKind::Record => "record",
            EdgeKind::Free => "deferred free",
        };
        write!(f, "{place}: {kind} {nth} on `{stream}`")?;
        on.as_ref().map_or(Ok(()), |on| write!(f, " for `{on}`"))
    }
}

/// What an edge is between, and how many such there are.
type Counted = (EdgeKind, Arc<str>, Option<Arc<str>>, u32);

/// One visit of a place: from the beginning of a hook to its end, or from there to the next.
#[derive(Debug)]
pub(super) struct Visit {
    place: Arc<str>,
    after: Arc<str>,
    /// What was counted in this visit.
    counted: Vec<Counted>,
}

impl Default for Visit {
    fn default() -> Self {
        let place: Arc<str> = "before all".into();
        Self { after: place.clone(), place, counted: Vec::new() }
    }
}

impl Visit {
    pub(super) fn enter(&mut self, node: &str, hook: &str) {
        self.place = format!("{node}.{hook}").into();
        self.after = format!("after {node}.{hook}").into();
        self.counted.clear();
    }

    pub(super) fn leave(&mut self) {
        self.place = self.after.clone();
        self.counted.clear();
    }

    /// The edge that is made now.
    pub(super) fn edge(&mut self, kind: EdgeKind, stream: Arc<str>, on: Option<Arc<str>>) -> Edge {
        let place = self.place.clone();
        let same = |it: &&mut (_, Arc<str>, Option<Arc<str>>, _)| {
            it.0 == kind && it.1 == stream && it.2 == on
        };
        let nth = match self.counted.iter_mut().find(same) {
            Some((.., times)) => {
                *times += 1;
                *times
            }
            None => {
                self.counted.push((kind, stream.clone(), on.clone(), 0));
                0
            }
        };
        Edge { kind, place, stream, on, nth }
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
