//! The happens-before order of a run, computed from its log alone with vector clocks over streams and host threads.
//! This order decides the cases where the race checker reports nothing.

use std::collections::HashMap;

use streamflow::driver::RawStream;
use streamflow_driver::driver::{AccessMode, RawEvent};
use streamflow_tests::layers::mutate::{Access, Log, LogStep};

/// What a run's log says about the dependency that was dropped in the run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Each access comes after exactly the work after which it would come with the dependency.
    Implied,
    /// Some access comes after less work, and no order between conflicting accesses is missing.
    Unneeded,
    /// Two accesses to the same bytes, one of them a write, are unordered.
    Race(String),
}

pub(crate) type Clock = Vec<u64>;

/// A step that accesses memory.
pub(crate) struct MemoryStep<'a> {
    /// The stream of the step, and the step's number on it; `None` for a step of the host.
    at: Option<(usize, u64)>,
    /// For each stream, the number of its last step that precedes this step.
    after: Clock,
    accesses: &'a [Access],
    what: &'a str,
}

/// The latest record that an event holds.
pub(crate) struct Record {
    stream: usize,
    pub(crate) clock: Clock,
}

/// The clocks after some steps of a log. Each further step updates them.
#[derive(Default)]
pub(crate) struct Replay {
    index: HashMap<RawStream, usize>,
    pub(crate) streams: Vec<Clock>,
    pub(crate) events: HashMap<RawEvent, Record>,
    /// For each host thread, the work that the thread has found complete.
    hosts: Vec<Clock>,
    /// The work that any host thread has found complete.
    found: Clock,
    /// The thread that makes the current step.
    thread: usize,
}

pub(crate) fn merge(into: &mut Clock, other: &Clock) {
    into.resize(into.len().max(other.len()), 0);
    for (mine, theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

impl Replay {
    pub(crate) fn stream(&mut self, raw: RawStream) -> usize {
        let next = self.index.len();
        let index = *self.index.entry(raw).or_insert(next);
        if index == next {
            self.streams.push(Clock::new());
        }
        index
    }

    /// Sets the thread that makes the next steps.
    pub(crate) fn set_thread(&mut self, thread: usize) {
        self.thread = thread;
        let count = self.hosts.len().max(thread + 1);
        self.hosts.resize(count, Clock::new());
    }

    /// Orders the stream's future work after the work that this thread has found complete. Returns the stream's index.
    pub(crate) fn submit(&mut self, raw: RawStream) -> usize {
        let stream = self.stream(raw);
        merge(&mut self.streams[stream], &self.hosts[self.thread]);
        stream
    }

    /// Counts a record as a step of its stream, so that a clock says which records it includes.
    pub(crate) fn record(&mut self, event: RawEvent, stream: usize, is_made: bool) {
        let clock = self.step(stream);
        if is_made {
            self.events.insert(event, Record { stream, clock });
        }
    }

    /// Returns the clock after the stream's next step.
    fn step(&mut self, stream: usize) -> Clock {
        let clock = &mut self.streams[stream];
        clock.resize(clock.len().max(stream + 1), 0);
        clock[stream] += 1;
        clock.clone()
    }

    /// The thread has found an event's latest record complete.
    pub(crate) fn found_event_complete(&mut self, event: RawEvent) {
        if let Some(Record { clock, .. }) = self.events.get(&event) {
            merge(&mut self.hosts[self.thread], clock);
            merge(&mut self.found, clock);
        }
    }

    /// The thread has found all work that is queued on a stream complete.
    pub(crate) fn found_stream_complete(&mut self, raw: RawStream) {
        let stream = self.stream(raw);
        merge(&mut self.hosts[self.thread], &self.streams[stream]);
        merge(&mut self.found, &self.streams[stream]);
    }

    /// The stream `by`, or the thread if that is `None`, comes after the work before the record that the event holds,
    /// if that is of the stream `on` and was found complete. Otherwise it comes after all work that the stream `on` has
    /// come after, as far as found complete. The order computed here can then have more than the runtime relies on, and
    /// never less.
    pub(crate) fn rely(&mut self, on: RawStream, record: Option<RawEvent>, by: Option<RawStream>) {
        let (on, by) = (self.stream(on), by.map(|raw| self.stream(raw)));
        let get = |clock: &Clock| clock.get(on).copied().unwrap_or(0);
        let record = record.and_then(|event| self.events.get(&event));
        let is_found = |it: &&Record| it.stream == on && get(&it.clock) <= get(&self.found);
        let both = || self.found.iter().zip(&self.streams[on]).map(|(a, b)| *a.min(b)).collect();
        let found = record.filter(is_found).map_or_else(both, |record| record.clock.clone());
        match by {
            Some(stream) => merge(&mut self.streams[stream], &found),
            None => merge(&mut self.hosts[self.thread], &found),
        }
    }

    /// Notes that a thread has joined all others: each host thread now comes after the work that any of them has found
    /// complete.
    pub(crate) fn joined(&mut self) {
        let all = self.hosts.iter().fold(Clock::new(), |mut all, host| {
            merge(&mut all, host);
            all
        });
        self.hosts.fill(all);
    }

    pub(crate) fn memory_step<'a>(
        &mut self,
        raw: RawStream,
        what: &'a str,
        accesses: &'a [Access],
    ) -> MemoryStep<'a> {
        let stream = self.submit(raw);
        let after = self.step(stream);
        MemoryStep { at: Some((stream, after[stream])), after, accesses, what }
    }
}

/// Returns all steps that access memory, in order: as they would be with the dropped dependency, or as they were
/// executed.
fn memory_steps(log: &Log, with_dependency: bool) -> Vec<MemoryStep<'_>> {
    let mut replay = Replay::default();
    let mut steps = Vec::new();
    for (thread, step) in log.steps() {
        replay.set_thread(*thread);
        match step {
            LogStep::Work { stream, what, accesses } => {
                steps.push(replay.memory_step(*stream, what, accesses));
            }
            LogStep::Free { stream, instead, accesses } => {
                // The stream is looked up with and without the dependency, so that streams get the same indices in both
                // cases.
                let bare = instead.map(|bare| replay.stream(bare)).and(*instead);
                let on = bare.filter(|_| !with_dependency).unwrap_or(*stream);
                steps.push(replay.memory_step(on, "free", accesses));
            }
            LogStep::Record { event, stream, dropped } => {
                let stream = replay.submit(*stream);
                replay.record(*event, stream, with_dependency || !dropped);
            }
            LogStep::Wait { event, stream, dropped } => {
                let stream = replay.submit(*stream);
                if (with_dependency || !dropped)
                    && let Some(record) = replay.events.get(event)
                {
                    merge(&mut replay.streams[stream], &record.clock);
                }
            }
            LogStep::EventComplete { event, dropped } => {
                if with_dependency || !dropped {
                    replay.found_event_complete(*event);
                }
            }
            LogStep::StreamComplete { stream, dropped } => {
                if with_dependency || !dropped {
                    replay.found_stream_complete(*stream);
                }
            }
            LogStep::Relies { on, record, by } => replay.rely(*on, *record, *by),
            LogStep::Joined => replay.joined(),
            LogStep::Host { accesses } => {
                let after = replay.hosts[replay.thread].clone();
                steps.push(MemoryStep { at: None, after, accesses, what: "the host" });
            }
        }
    }
    steps
}

/// The first two conflicting accesses that are unordered.
fn race(steps: &[MemoryStep<'_>]) -> Option<String> {
    // The accesses are grouped by block, so that a long run is searched only once.
    let mut of_block: HashMap<u32, Vec<(&MemoryStep<'_>, &Access)>> = HashMap::new();
    for later in steps {
        for access in later.accesses {
            let earlier = of_block.entry(access.block).or_default();
            let races = |(earlier, other): &&(&MemoryStep<'_>, &Access)| {
                // An access of the host precedes all work that the host queues later.
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

/// Judges a run with a dropped dependency.
pub(crate) fn judge(log: &Log) -> Verdict {
    let without = memory_steps(log, false);
    if let Some(race) = race(&without) {
        return Verdict::Race(race);
    }
    let with = memory_steps(log, true);
    // A clock's missing entries count as zeros.
    let same = |a: &Clock, b: &Clock| {
        (0..a.len().max(b.len())).all(|i| a.get(i).unwrap_or(&0) == b.get(i).unwrap_or(&0))
    };
    let implied = with.iter().zip(&without).all(|(a, b)| a.at == b.at && same(&a.after, &b.after));
    if implied { Verdict::Implied } else { Verdict::Unneeded }
}
