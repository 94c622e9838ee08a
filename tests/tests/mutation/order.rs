//! What happens before what in a run, computed from its log alone: who judges where the race checker says
//! nothing. Vector clocks over streams and the one host thread.

use std::collections::HashMap;

use streamflow::driver::{AccessMode, RawEvent, RawStream};
use streamflow_tests::layers::mutate::{Access, Log, Step};

/// What a log says about the edge that was dropped in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// All that touches memory comes after exactly what it would come after with the edge.
    Implied,
    /// Something comes after less, but nothing that it has to come after is missing.
    Unneeded,
    /// Two accesses to the same bytes, one of them a write, without an order.
    Race(String),
}

type Clock = Vec<u64>;

/// Something that touches memory.
struct Touch<'a> {
    /// The stream, and its how manyeth step; the host has no stream.
    at: Option<(usize, u64)>,
    /// Of each stream, up to which step it comes after.
    after: Clock,
    accesses: &'a [Access],
    what: &'a str,
}

#[derive(Default)]
struct Walk {
    index: HashMap<RawStream, usize>,
    streams: Vec<Clock>,
    events: HashMap<RawEvent, Clock>,
    host: Clock,
}

fn merge(into: &mut Clock, other: &Clock) {
    into.resize(into.len().max(other.len()), 0);
    for (mine, theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

impl Walk {
    fn stream(&mut self, raw: RawStream) -> usize {
        let next = self.index.len();
        let index = *self.index.entry(raw).or_insert(next);
        if index == next {
            self.streams.push(Clock::new());
        }
        index
    }

    /// What is queued on a stream now comes after what the host knows to be complete.
    fn submit(&mut self, raw: RawStream) -> usize {
        let stream = self.stream(raw);
        merge(&mut self.streams[stream], &self.host);
        stream
    }

    fn touch<'a>(&mut self, raw: RawStream, what: &'a str, accesses: &'a [Access]) -> Touch<'a> {
        let stream = self.submit(raw);
        let clock = &mut self.streams[stream];
        clock.resize(clock.len().max(stream + 1), 0);
        clock[stream] += 1;
        Touch { at: Some((stream, clock[stream])), after: clock.clone(), accesses, what }
    }
}

/// All that touches memory, in order; with the dropped edge, or as it was executed.
fn touches(log: &Log, with_edge: bool) -> Vec<Touch<'_>> {
    let mut walk = Walk::default();
    let mut touches = Vec::new();
    for step in log.steps() {
        match step {
            Step::Work { stream, what, accesses } => {
                touches.push(walk.touch(*stream, what, accesses));
            }
            Step::Free { stream, instead, accesses } => {
                // Known in both walks, so that streams have the same numbers.
                let bare = instead.map(|bare| walk.stream(bare)).and(*instead);
                let on = bare.filter(|_| !with_edge).unwrap_or(*stream);
                touches.push(walk.touch(on, "free", accesses));
            }
            Step::Record { event, stream, dropped } => {
                let stream = walk.submit(*stream);
                if with_edge || !dropped {
                    walk.events.insert(*event, walk.streams[stream].clone());
                }
            }
            Step::Wait { event, stream, dropped } => {
                let stream = walk.submit(*stream);
                if (with_edge || !dropped)
                    && let Some(record) = walk.events.get(event)
                {
                    merge(&mut walk.streams[stream], record);
                }
            }
            Step::EventComplete { event } => {
                if let Some(record) = walk.events.get(event) {
                    merge(&mut walk.host, record);
                }
            }
            Step::StreamComplete { stream } => {
                let stream = walk.stream(*stream);
                merge(&mut walk.host, &walk.streams[stream]);
            }
            Step::Host { accesses } => {
                let after = walk.host.clone();
                touches.push(Touch { at: None, after, accesses, what: "the host" });
            }
        }
    }
    touches
}

/// The first two accesses that nothing orders.
fn race(touches: &[Touch<'_>]) -> Option<String> {
    touches.iter().enumerate().find_map(|(index, later)| {
        let races = |earlier: &&Touch<'_>| {
            // What the host does comes before what it queues later.
            let Some((stream, number)) = earlier.at else { return false };
            later.after.get(stream).is_none_or(|after| *after < number) && conflict(earlier, later)
        };
        let earlier = touches[..index].iter().find(races)?;
        Some(format!(
            "`{}` and `{}` on {:?} and {:?}",
            earlier.what, later.what, earlier.at, later.at
        ))
    })
}

fn conflict(earlier: &Touch<'_>, later: &Touch<'_>) -> bool {
    earlier.accesses.iter().any(|a| {
        later.accesses.iter().any(|b| {
            let overlap = a.block == b.block && a.start < b.end && b.start < a.end;
            overlap && (a.mode == AccessMode::Write || b.mode == AccessMode::Write)
        })
    })
}

/// Judges a run in which an edge was dropped.
pub(crate) fn judge(log: &Log) -> Verdict {
    let without = touches(log, false);
    if let Some(race) = race(&without) {
        return Verdict::Race(race);
    }
    let with = touches(log, true);
    // Clocks of different lengths differ by zeros.
    let same = |a: &Clock, b: &Clock| {
        (0..a.len().max(b.len())).all(|i| a.get(i).unwrap_or(&0) == b.get(i).unwrap_or(&0))
    };
    let implied = with.iter().zip(&without).all(|(a, b)| a.at == b.at && same(&a.after, &b.after));
    if implied { Verdict::Implied } else { Verdict::Unneeded }
}
