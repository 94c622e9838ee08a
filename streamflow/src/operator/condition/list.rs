//! The conditions of one node, and `any(…)` and `count(n)`.

use std::fmt;
use std::time::Duration;

use super::answers::Verdict;
use super::term::{Ends, Lack, NodePorts, Situation, Term};
use crate::context::Waker;
use crate::error::{Error, Failure, Result, first_of};
use crate::operator::readiness::Readiness;
use crate::operator::status::{EndedCondition, UnmetCondition};
use crate::operator::waits::Waits;
use crate::platform::Platform;
use crate::port::Ports;
use crate::time::Timestamp;

/// The conditions that `#[when(…)]` adds to a node. The node runs only if all of them hold.
#[derive(Debug)]
pub struct Conditions {
    all: Box<[Entry]>,
    needs_time: bool,
    runs_without_messages: bool,
    /// The time of the last check, by the platform's clock, if a condition reads the time.
    checked_at: Timestamp,
    /// The events for which the conditions wait, collected during one check.
    waits: Waits,
    /// The index of the condition that will not hold again in this run, if there is one.
    ended: Option<usize>,
    /// The index of the condition because of which the node could not run at the last check, if there is one.
    lacking: Option<usize>,
    /// The error with which the next tick fails, if a condition has found one.
    failure: Option<Failure>,
}

/// A condition and its text as the user wrote it in `graph!`.
pub struct Entry {
    text: &'static str,
    term: Box<dyn Term>,
    /// Whether the condition held at its last check.
    held: bool,
}

impl Entry {
    pub(super) fn new(text: &'static str, term: impl Term + 'static) -> Self {
        Self { text, term: Box::new(term), held: false }
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        let verdict = self.term.check(at)?;
        self.held = verdict == Verdict::Ready;
        Ok(verdict)
    }

    fn claim(&mut self) -> bool {
        self.held = self.held && self.term.claim();
        self.held
    }

    fn unclaim(&mut self) {
        self.held = false;
        self.term.unclaim();
    }

    fn ticked(&mut self, now: Timestamp) -> Result<()> {
        if std::mem::take(&mut self.held) { self.term.ticked(now) } else { Ok(()) }
    }
}

/// Returns by how much the tick at `now` is late: the greatest lateness of the conditions that hold.
fn late(entries: &[Entry], now: Timestamp) -> Option<Duration> {
    entries.iter().filter(|entry| entry.held).filter_map(|entry| entry.term.late(now)).max()
}

/// Returns the number of due moments that these conditions have missed in this run.
fn missed(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.term.missed()).fold(0, u64::saturating_add)
}

/// Stops each of these conditions, even if one panics. Returns the first panic as the error, and logs later ones.
fn stop_all(entries: &mut [Entry]) -> Result<()> {
    let mut done = Ok(());
    for entry in entries {
        done = first_of(done, entry.term.stop(), "stopping a condition");
    }
    done
}

impl Conditions {
    pub(super) fn new(all: Vec<Entry>) -> Self {
        let needs_time = all.iter().any(|entry| entry.term.needs_time());
        let runs_without_messages = all.iter().any(|entry| entry.term.runs_without_messages());
        let (checked_at, waits) = (Timestamp(0), Waits::default());
        Self {
            all: all.into(),
            needs_time,
            runs_without_messages,
            checked_at,
            waits,
            ended: None,
            lacking: None,
            failure: None,
        }
    }

    /// Returns whether a condition of this node lets it run without a message, as `periodic` does.
    pub(in crate::operator) fn runs_without_messages(&self) -> bool {
        self.runs_without_messages
    }

    /// Returns whether a condition that lets the node run without a message can end, unlike `periodic`.
    pub(in crate::operator) fn end(&self) -> bool {
        self.all.iter().any(|entry| entry.term.runs_without_messages() && !entry.term.is_endless())
    }

    /// Returns whether a condition waits for messages at this input.
    pub(in crate::operator) fn await_messages(&self, input: usize) -> bool {
        self.all.iter().any(|entry| entry.term.awaits(input))
    }

    /// Returns whether the node may have to wait for messages at optional inputs alone, because a condition names these inputs.
    pub(in crate::operator) fn may_await(&self) -> bool {
        self.all.iter().any(|entry| entry.term.may_await(false))
    }

    /// Returns whether a condition drops messages at this input that have no partner at another input.
    pub(in crate::operator) fn pair_messages(&self, input: usize) -> bool {
        self.all.iter().any(|entry| entry.term.pairs(input))
    }

    /// Returns the text of the condition that drops messages without a partner, if there is one.
    pub(in crate::operator) fn pairs(&self) -> Option<&'static str> {
        // `u8::MAX` is enough: an operator has no more inputs.
        let pairs = |entry: &&Entry| (0..=u8::MAX).any(|input| entry.term.pairs(input.into()));
        self.all.iter().find(pairs).map(|entry| entry.text)
    }

    /// Returns the texts of the conditions as the user wrote them in `#[when(…)]`.
    pub(in crate::operator) fn texts(&self) -> Box<[&'static str]> {
        self.all.iter().map(|entry| entry.text).collect()
    }

    /// Returns whether a condition limits how often the node runs: after each tick it must come true anew, as `periodic` or a
    /// notice.
    pub(in crate::operator) fn pace(&self) -> bool {
        self.all.iter().any(|entry| entry.term.is_used_up())
    }

    /// Returns whether a condition needs the time of the clock.
    pub(in crate::operator) fn needs_time(&self) -> bool {
        self.needs_time
    }

    /// Checks the values in the conditions, as a number of messages, after all edges were connected.
    pub(in crate::operator) fn bind(&mut self, node: &str, ports: &NodePorts<'_>) -> Result<()> {
        self.all.iter_mut().try_for_each(|entry| {
            entry.term.bind(ports).map_err(|problem| Error::ImpossibleCondition {
                node: node.to_owned(),
                condition: entry.text,
                problem,
            })
        })
    }

    /// Calls `announced` of each condition, when a run was made and has not started yet.
    pub(in crate::operator) fn announced(&mut self) {
        self.all.iter_mut().for_each(|entry| entry.term.announced());
    }

    /// Starts the conditions for a run. `waker` wakes the scheduler of the run.
    pub(in crate::operator) fn start(&mut self, waker: &Waker) -> Result<()> {
        self.ended = None;
        self.all.iter_mut().try_for_each(|entry| {
            entry.held = false;
            entry.term.start(waker)
        })
    }

    /// Checks whether all conditions hold at the moment `now`, before the tick with the number `tick`. If they do not hold, adds
    /// the events outside of the graph for which they wait to `waits`.
    pub(in crate::operator) fn check(
        &mut self,
        ports: &mut dyn Ports,
        platform: &Platform,
        now: Timestamp,
        tick: u64,
        waits: &mut Waits,
    ) -> Result<Readiness> {
        let Self { all, checked_at, waits: own, ended, lacking, failure, .. } = self;
        *checked_at = now;
        own.clear();
        *lacking = None;
        let mut verdict = Verdict::Ready;
        let mut at = Situation {
            ports,
            platform,
            now,
            tick,
            waits: own,
            needs_all: true,
            has_dropped: false,
            failure: None,
        };
        for (index, entry) in all.iter_mut().enumerate() {
            let one = entry.check(&mut at)?;
            if one == Verdict::Never {
                *ended = ended.or(Some(index));
            }
            let both = verdict.and(one);
            if both != verdict {
                *lacking = Some(index);
            }
            verdict = both;
        }
        let has_dropped = at.has_dropped;
        *failure = at.failure.filter(|_| verdict == Verdict::Ready);
        if has_dropped {
            return Ok(Readiness::Dropped);
        }
        if verdict == Verdict::Ready
            && let Some(index) = all.iter_mut().position(|entry| !entry.claim())
        {
            *lacking = Some(index);
            // A node of another graph may have claimed a notice that this node lacks, and may wait for a notice that this node
            // has claimed.
            all.iter_mut().for_each(Entry::unclaim);
            // Another node has claimed the missing notice after `check` had seen it, so the scheduler checks this node again at once.
            waits.at_once();
            return Ok(Readiness::Waiting);
        }
        Ok(match verdict {
            Verdict::Ready => Readiness::Ready,
            Verdict::Blocked => Readiness::Blocked,
            Verdict::Never => Readiness::Done,
            Verdict::Until(moment) => {
                waits.until(moment);
                Readiness::Waiting
            }
            Verdict::Waiting { until } => {
                until.into_iter().for_each(|moment| waits.until(moment));
                waits.add(own);
                Readiness::Waiting
            }
        })
    }

    /// Returns the number, from 1, of the condition because of which the node could not run at the last check; 0 if the node
    /// could run.
    pub(in crate::operator) fn lacking(&self) -> u8 {
        self.lacking.and_then(|index| u8::try_from(index + 1).ok()).unwrap_or_default()
    }

    /// Removes and returns the error with which the permitted tick fails, if there is one.
    pub(in crate::operator) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// Returns by how much the last permitted tick began after the moment at which it was due; `None` if no condition sets such a
    /// moment.
    pub(in crate::operator) fn late(&self) -> Option<Duration> {
        late(&self.all, self.checked_at)
    }

    /// Returns the number of due moments of this run that had no tick.
    pub(in crate::operator) fn missed(&self) -> u64 {
        missed(&self.all)
    }

    /// Calls `ticked` of each condition that held, after a tick of the node.
    pub(in crate::operator) fn ticked(&mut self) -> Result<()> {
        let now = self.checked_at;
        self.all.iter_mut().try_for_each(|entry| entry.ticked(now))
    }

    /// Calls `stop` of each condition, at the end of a run.
    pub(in crate::operator) fn stop(&mut self) -> Result<()> {
        stop_all(&mut self.all)
    }

    /// Returns the conditions that do not hold, for reports.
    pub(in crate::operator) fn unmet(&self, ports: &NodePorts<'_>) -> Vec<UnmetCondition> {
        let unmet = |entry: &Entry| {
            let Lack { text, edges, is_room, has_some } = entry.term.lack(ports)?;
            Some(UnmetCondition { condition: entry.text, lacks: text, edges, is_room, has_some })
        };
        self.all.iter().filter_map(unmet).collect()
    }

    /// Returns the condition that will not hold again in this run, if there is one.
    pub(in crate::operator) fn ended(&self) -> Option<EndedCondition> {
        let entry = &self.all[self.ended?];
        let Ends { reason, is_abandoned } = entry.term.ends();
        Some(EndedCondition { condition: entry.text, reason, is_abandoned })
    }
}

/// `any(…)`: the condition holds if at least one of its conditions holds.
#[derive(Debug)]
pub(super) struct Any(pub(super) Vec<Entry>);

impl Term for Any {
    fn bind(&mut self, ports: &NodePorts<'_>) -> Result<(), String> {
        self.0.iter_mut().try_for_each(|entry| {
            entry.term.bind(ports).map_err(|problem| format!("in `{}`, {problem}", entry.text))
        })
    }

    fn needs_time(&self) -> bool {
        self.0.iter().any(|entry| entry.term.needs_time())
    }

    fn awaits(&self, input: usize) -> bool {
        self.0.iter().any(|entry| entry.term.awaits(input))
    }

    fn may_await(&self, _: bool) -> bool {
        self.0.iter().any(|entry| entry.term.may_await(true))
    }

    fn is_used_up(&self) -> bool {
        self.0.iter().all(|entry| entry.term.is_used_up())
    }

    fn runs_without_messages(&self) -> bool {
        self.0.iter().any(|entry| entry.term.runs_without_messages())
    }

    fn announced(&mut self) {
        self.0.iter_mut().for_each(|entry| entry.term.announced());
    }

    fn start(&mut self, waker: &Waker) -> Result<()> {
        self.0.iter_mut().try_for_each(|entry| {
            entry.held = false;
            entry.term.start(waker)
        })
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        let needs_all = std::mem::replace(&mut at.needs_all, false);
        let mut verdict = Verdict::Never;
        for entry in &mut self.0 {
            verdict = verdict.or(entry.check(at)?);
        }
        at.needs_all = needs_all;
        Ok(verdict)
    }

    fn claim(&mut self) -> bool {
        // Claim from every condition that holds, since each of them permits this tick.
        self.0.iter_mut().fold(false, |any, entry| entry.claim() | any)
    }

    fn is_endless(&self) -> bool {
        self.0.iter().all(|entry| entry.term.is_endless() || !entry.term.runs_without_messages())
    }

    fn late(&self, now: Timestamp) -> Option<Duration> {
        late(&self.0, now)
    }

    fn missed(&self) -> u64 {
        missed(&self.0)
    }

    fn unclaim(&mut self) {
        self.0.iter_mut().for_each(Entry::unclaim);
    }

    fn ticked(&mut self, now: Timestamp) -> Result<()> {
        self.0.iter_mut().try_for_each(|entry| entry.ticked(now))
    }

    fn stop(&mut self) -> Result<()> {
        stop_all(&mut self.0)
    }

    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack> {
        let lacks: Option<Vec<Lack>> = self.0.iter().map(|entry| entry.term.lack(ports)).collect();
        let lacks = lacks?;
        let text = lacks.iter().map(|lack| &*lack.text).collect::<Vec<_>>().join(", or ");
        let is_room = lacks.iter().all(|lack| lack.is_room || lack.edges.is_empty());
        let has_some = lacks.iter().any(|lack| lack.has_some);
        let same = lacks.into_iter().filter(|lack| lack.is_room == is_room);
        let edges = same.flat_map(|lack| lack.edges).collect();
        Some(Lack { text, edges, is_room, has_some })
    }

    fn ends(&self) -> Ends {
        let ends: Vec<Ends> = self.0.iter().map(|entry| entry.term.ends()).collect();
        let reasons: Vec<_> = ends.iter().map(|ends| &*ends.reason).collect();
        let is_abandoned = ends.iter().any(|ends| ends.is_abandoned);
        Ends { reason: reasons.join(", and "), is_abandoned }
    }
}

/// `count(n)` in `any(…)`: holds until the node has done `n` ticks. A `count` outside of `any` ends the node instead.
#[derive(Debug)]
pub(super) struct Count(pub(super) u64);

impl Term for Count {
    fn bind(&mut self, _: &NodePorts<'_>) -> Result<(), String> {
        if self.0 == 0 {
            return Err("the count is 0; it takes at least 1".into());
        }
        Ok(())
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        Ok(if at.tick < self.0 { Verdict::Ready } else { Verdict::Never })
    }

    fn lack(&self, ports: &NodePorts<'_>) -> Option<Lack> {
        (ports.tick >= self.0).then(|| Lack::outside("a tick of its count".into()))
    }

    fn ends(&self) -> Ends {
        Ends { reason: format!("its count of {} is reached", self.0), is_abandoned: false }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}
