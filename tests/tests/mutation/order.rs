//! The happens-before order of a run, computed from its log alone with vector clocks over streams and host threads.
//! It decides the cases in which the race checker reports nothing.

use std::collections::HashMap;

use streamflow::driver::{AccessMode, RawEvent, RawStream};
use streamflow_tests::layers::mutate::{Access, Log, Step};

/// What the log of a run shows about the edge that was dropped in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Each access comes after exactly the work that it would come after with the edge.
    Implied,
    /// Some access comes after less work, and no order between conflicting accesses is missing.
    Unneeded,
    /// Two accesses to the same bytes, one of them a write, are unordered.
    Race(String),
}

type Clock = Vec<u64>;

/// A step that accesses memory.
struct Touch<'a> {
    /// The stream and the number of the step on it. None for the host.
    at: Option<(usize, u64)>,
    /// For each stream, the last step that comes before this one.
    after: Clock,
    accesses: &'a [Access],
    what: &'a str,
}

#[derive(Default)]
struct Walk {
    index: HashMap<RawStream, usize>,
    streams: Vec<Clock>,
    events: HashMap<RawEvent, Clock>,
    /// For each host thread, the work that it has found complete.
    hosts: Vec<Clock>,
    /// The work that any host thread has found complete.
    found: Clock,
    /// The thread that makes the current step.
    thread: usize,
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

    /// Sets the thread that makes the next steps.
    fn set_thread(&mut self, thread: usize) {
        self.thread = thread;
        let count = self.hosts.len().max(thread + 1);
        self.hosts.resize(count, Clock::new());
    }

    /// Work that is queued on the stream from now on comes after the work that this thread has found complete.
    fn submit(&mut self, raw: RawStream) -> usize {
        let stream = self.stream(raw);
        merge(&mut self.streams[stream], &self.hosts[self.thread]);
        stream
    }

    /// The thread finds a record complete.
    fn finds_record(&mut self, event: RawEvent) {
        if let Some(record) = self.events.get(&event) {
            merge(&mut self.hosts[self.thread], record);
            merge(&mut self.found, record);
        }
    }

    /// The thread finds complete all work that is queued on a stream.
    fn finds_stream(&mut self, raw: RawStream) {
        let stream = self.stream(raw);
        merge(&mut self.hosts[self.thread], &self.streams[stream]);
        merge(&mut self.found, &self.streams[stream]);
    }

    /// A stream, or the thread, relies on work that any thread has found complete. It may rely on less; this does not
    /// judge whether it may.
    fn relies(&mut self, by: Option<RawStream>) {
        match by.map(|raw| self.stream(raw)) {
            Some(stream) => merge(&mut self.streams[stream], &self.found),
            None => merge(&mut self.hosts[self.thread], &self.found),
        }
    }

    fn joined(&mut self) {
        let all = self.hosts.iter().fold(Clock::new(), |mut all, host| {
            merge(&mut all, host);
            all
        });
        self.hosts.fill(all);
    }

    fn touch<'a>(&mut self, raw: RawStream, what: &'a str, accesses: &'a [Access]) -> Touch<'a> {
        let stream = self.submit(raw);
        let clock = &mut self.streams[stream];
        clock.resize(clock.len().max(stream + 1), 0);
        clock[stream] += 1;
        Touch { at: Some((stream, clock[stream])), after: clock.clone(), accesses, what }
    }
}

/// All steps that access memory, in order: with the dropped edge, or as executed.
fn touches(log: &Log, with_edge: bool) -> Vec<Touch<'_>> {
    let mut walk = Walk::default();
    let mut touches = Vec::new();
    for (thread, step) in log.steps() {
        walk.set_thread(*thread);
        match step {
            Step::Work { stream, what, accesses } => {
                touches.push(walk.touch(*stream, what, accesses));
            }
            Step::Free { stream, instead, accesses } => {
                // Both walks look the stream up, so that streams get the same numbers.
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
            Step::EventComplete { event, dropped } => {
                if with_edge || !dropped {
                    walk.finds_record(*event);
                }
            }
            Step::StreamComplete { stream, dropped } => {
                if with_edge || !dropped {
                    walk.finds_stream(*stream);
                }
            }
            Step::Relies { by } => walk.relies(*by),
            Step::Joined => walk.joined(),
            Step::Host { accesses } => {
                let after = walk.hosts[walk.thread].clone();
                touches.push(Touch { at: None, after, accesses, what: "the host" });
            }
        }
    }
    touches
}

/// The first two conflicting accesses that are unordered.
fn race(touches: &[Touch<'_>]) -> Option<String> {
    // By block, so that a long run is searched once.
    let mut of_block: HashMap<u32, Vec<(&Touch<'_>, &Access)>> = HashMap::new();
    for later in touches {
        for access in later.accesses {
            let earlier = of_block.entry(access.block).or_default();
            let races = |(earlier, other): &&(&Touch<'_>, &Access)| {
                // An access of the host comes before the work that it queues later.
                let Some((stream, number)) = earlier.at else { return false };
                let is_after = later.after.get(stream).is_some_and(|after| *after >= number);
                !is_after && conflict(other, access)
            };
            if let Some((earlier, _)) = earlier.iter().find(races) {
                return Some(format!(
                    "`{}` and `{}` on {:?} and {:?}",
                    earlier.what, later.what, earlier.at, later.at
                ));
            }
        }
        for access in later.accesses {
            of_block.entry(access.block).or_default().push((later, access));
        }
    }
    None
}

fn conflict(a: &Access, b: &Access) -> bool {
    let overlap = a.start < b.end && b.start < a.end;
    overlap && (a.mode == AccessMode::Write || b.mode == AccessMode::Write)
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

/// Whether each dropped wait was needed when it was issued, and later waits of the same stream imply it before the
/// stream is used again. This happens where a tick receives a message, and then another that was sent after it. Waits
/// are issued at once, so that the runtime can't foresee the second wait when it issues the first.
pub(crate) fn is_overtaken(log: &Log) -> bool {
    let mut walk = Walk::default();
    let mut pending: Vec<(usize, Clock)> = Vec::new();
    let covers = |mine: &Clock, other: &Clock| {
        other.iter().enumerate().all(|(i, of)| mine.get(i).unwrap_or(&0) >= of)
    };
    let mut found = false;
    for (thread, step) in log.steps() {
        walk.set_thread(*thread);
        let used = match step {
            Step::Wait { event, stream, dropped } => {
                let index = walk.submit(*stream);
                if let Some(record) = walk.events.get(event) {
                    if !dropped {
                        merge(&mut walk.streams[index], record);
                    } else if covers(&walk.streams[index], record) {
                        return false;
                    } else {
                        found = true;
                        pending.push((index, record.clone()));
                    }
                }
                None
            }
            Step::Work { stream, what, accesses } => {
                walk.touch(*stream, what, accesses);
                Some(walk.stream(*stream))
            }
            Step::Free { stream, accesses, .. } => {
                walk.touch(*stream, "free", accesses);
                Some(walk.stream(*stream))
            }
            Step::Record { event, stream, .. } => {
                let index = walk.submit(*stream);
                walk.events.insert(*event, walk.streams[index].clone());
                Some(index)
            }
            Step::EventComplete { event, .. } => {
                walk.finds_record(*event);
                None
            }
            Step::StreamComplete { stream, .. } => {
                walk.finds_stream(*stream);
                Some(walk.stream(*stream))
            }
            Step::Relies { by } => {
                walk.relies(*by);
                None
            }
            Step::Joined => {
                walk.joined();
                None
            }
            Step::Host { .. } => None,
        };
        if let Some(used) = used {
            let mine = &walk.streams[used];
            if pending.iter().any(|(stream, record)| *stream == used && !covers(mine, record)) {
                return false;
            }
            pending.retain(|(stream, _)| *stream != used);
        }
    }
    found
}
