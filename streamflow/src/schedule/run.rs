//! A run of a graph, from its beginning to its end, used by `run`, `run_for`, `tick` and `spawn`.

mod end;

use std::mem;
use std::sync::Arc;

use super::ends::Ends;
use super::following::Asks;
use super::greedy::{self, Pass};
use super::idle::Idle;
use super::limit::{Limit, RunFor};
use super::nodes::{Nodes, statuses};
use super::outcome::Outcome;
use super::replay::Replay;
use super::report::{End, Report};
use super::shared::Shared;
use super::work;
use super::workers::Workers;
use super::{asleep, event_based, stall, statistics};
use crate::context::{Activity, Command, RunControl};
use crate::driver::race::RaceWatch;
use crate::driver::report_in_drop;
use crate::error::{Error, Result};
use crate::graph::Waits;
use crate::operator::{Succession, text_of};
use crate::platform::{Platform, RunInProgress};
use crate::time::Timestamp;
use crate::turns;

/// A run that has begun, or is about to begin.
pub(super) struct Run {
    pub(super) control: Arc<RunControl>,
    platform: Platform,
    in_progress: RunInProgress,
    /// Whether the driver uses notes.
    is_watched: bool,
    races: RaceWatch,
    /// The events for which the nodes waited in the last pass.
    pub(super) waits: Waits,
    pub(super) limit: Limit,
    has_started: bool,
    /// Why the run ends, if a call of `step` has found the end.
    outcome: Option<Outcome>,
    /// The graph's name.
    graph: &'static str,
    /// `None` if one thread runs all nodes.
    workers: Option<Workers>,
    /// The errors of workers that came after the first one.
    followed: Vec<Error>,
    /// `None` if neither the graph's `#[replay]` nor the environment requests a replay.
    replay: Option<Box<Replay>>,
    /// `None` before the first pass, and if nothing can follow from the end of a node while other nodes run.
    ends: Option<Box<Ends>>,
}

/// What a pass means for the run.
enum Passed {
    /// A node has run, or the run has a new command. The next pass follows at once.
    Ran,
    /// No node can run before an event happens for which a node waits.
    Waits,
    Ended(Outcome),
}

impl Run {
    /// Prepares a run. No hook is called.
    pub(super) fn new(
        nodes: Nodes<'_, '_>,
        platform: &Platform,
        graph: &'static str,
        replay: Option<Replay>,
    ) -> Self {
        statistics::number_nodes(nodes);
        if platform.has_statistics() {
            statistics::keep(nodes);
        }
        let cells = nodes.iter().map(|node| node.cell().clone()).collect::<Box<[_]>>();
        cells.iter().for_each(|cell| cell.set(0, Activity::NotStarted, 0));
        Self {
            control: Arc::new(RunControl::new(cells)),
            platform: platform.clone(),
            in_progress: RunInProgress::begin(platform),
            is_watched: platform.is_watched(),
            races: RaceWatch::new(platform.driver()),
            waits: Waits::with_room(nodes.len()),
            limit: Limit::None,
            has_started: false,
            outcome: None,
            graph,
            workers: None,
            followed: Vec::new(),
            replay: replay.map(Box::new),
            ends: None,
        }
    }

    /// Calls the `start` hooks, unless they have been called.
    pub(super) fn start(&mut self, nodes: Nodes<'_, '_>) -> Result<()> {
        if mem::replace(&mut self.has_started, true) {
            return Ok(());
        }
        nodes.iter_mut().try_for_each(|node| node.start(&self.control))?;
        self.control.set_begun(self.platform.clock().now());
        Ok(())
    }

    /// Limits the rest of a run whose `start` hooks have been called.
    pub(super) fn limit(&mut self, nodes: Nodes<'_, '_>, limit: RunFor) {
        self.limit = limit.begin(nodes, self.platform.clock());
        self.limit.until().into_iter().for_each(|end| self.control.set_deadline(end));
    }

    /// Prepares `ends`: what may follow in this run when nodes end. The limits of the nodes must have been set, since a node with
    /// a limit has an end of its own.
    fn find_ends(&mut self, nodes: Nodes<'_, '_>) {
        self.ends = Ends::new(statuses(nodes), &self.control).map(Box::new);
    }

    /// Whether the run goes on, when no node can run or only attendants can.
    fn has_work(&mut self, nodes: Nodes<'_, '_>) -> bool {
        work::has_work(nodes.len(), &mut { nodes }, self.ends.as_deref_mut())
    }

    /// After a pass, begins each `flush` that is due and makes edges give way, since nodes have ended. `ran` says whether a node
    /// has run in the pass.
    fn follow(&mut self, nodes: Nodes<'_, '_>, ran: bool) -> Option<Passed> {
        let ends = self.ends.as_mut()?;
        let asks = ends.asks();
        let may_be_over = asks.is_over || ran && ends.has_stalled();
        let nodes = &mut { nodes };
        if may_be_over && !work::goes_on(nodes.len(), nodes, Some(ends)) {
            return Some(Passed::Ended(Outcome::Over));
        }
        if asks.goes_on && ends.follow(nodes).any {
            return Some(Passed::Ran);
        }
        if asks != Asks::default() {
            ends.answered();
        }
        None
    }

    /// Makes one pass over the nodes.
    #[inline]
    fn pass(&mut self, nodes: Nodes<'_, '_>) -> Result<Passed> {
        self.waits.clear();
        let until = self.limit.until();
        let pass = match &mut self.replay {
            None => greedy::pass(nodes, until, &mut self.waits, |_| ())?,
            Some(replay) => replayed(replay, nodes, until, &mut self.waits)?,
        };
        if self.is_watched && self.races.look() {
            return Ok(Passed::Ended(Outcome::Over));
        }
        Ok(match pass {
            Pass::Ran => self.follow(nodes, true).unwrap_or(Passed::Ran),
            Pass::Nothing if self.waits.is_empty() => Passed::Ended(Outcome::Over),
            Pass::Nothing if !self.limit.is_over(self.platform.clock()) => {
                self.follow(nodes, false).unwrap_or(Passed::Waits)
            }
            Pass::Nothing | Pass::TimeOver => Passed::Ended(Outcome::TimeOver),
        })
    }

    /// Makes one pass over the nodes, without waiting. Returns whether a node has run; `None` if the run is over.
    pub(super) fn step(&mut self, nodes: Nodes<'_, '_>) -> Result<Option<bool>> {
        if !self.has_started {
            self.start(nodes)?;
            self.find_ends(nodes);
        }
        while self.outcome.is_none() {
            let outcome = match self.control.command() {
                Command::Stop(source) => Outcome::Stopped(source),
                _ => match self.pass(nodes)? {
                    Passed::Ran => return Ok(Some(true)),
                    Passed::Waits if self.has_work(nodes) => return Ok(Some(false)),
                    Passed::Waits => Outcome::Over,
                    Passed::Ended(outcome) => outcome,
                },
            };
            if !self.goes_on(nodes, outcome) {
                self.outcome = Some(outcome);
            }
        }
        Ok(None)
    }

    /// Sets the threads for the rest of the run.
    pub(super) fn set_workers(&mut self, workers: Option<Workers>) {
        if workers.is_some() {
            self.replay.iter_mut().for_each(|replay| replay.refuse_workers());
        }
        self.workers = workers;
    }

    /// Runs the nodes until the run is over.
    fn run_nodes(&mut self, nodes: Nodes<'_, '_>, shared: Option<&Shared>) -> Result<Outcome> {
        self.find_ends(nodes);
        loop {
            let outcome = self.run_until_still(nodes, shared)?;
            if !self.goes_on(nodes, outcome) {
                return Ok(outcome);
            }
        }
    }

    /// Whether the run goes on after no node could run: an edge gives way, or the `flush` of a node begins.
    fn goes_on(&mut self, nodes: Nodes<'_, '_>, outcome: Outcome) -> bool {
        if outcome != Outcome::Over || self.races.look() {
            return false;
        }
        let now = statuses(nodes);
        let edges = stall::giving_way(&now);
        if !edges.is_empty() {
            nodes.iter_mut().for_each(|node| node.give_way(&edges));
            return true;
        }
        let flushed = stall::due(&now);
        for due in &flushed {
            self.ends.iter_mut().for_each(|ends| ends.begin_flush(due.node));
            nodes[due.node].begin_flush(&due.keep);
        }
        !flushed.is_empty()
    }

    /// Runs the nodes until no node can run any more.
    fn run_until_still(
        &mut self,
        nodes: Nodes<'_, '_>,
        shared: Option<&Shared>,
    ) -> Result<Outcome> {
        let Some(workers) = &self.workers else { return self.passes(nodes, shared) };
        let parts = event_based::Parts {
            graph: self.graph,
            control: &self.control,
            platform: &self.platform,
            limit: self.limit,
            races: self.is_watched.then_some(&mut self.races),
            shared,
            ends: self.ends.take(),
        };
        let (done, followed, ends) = event_based::run(parts, nodes, workers);
        self.followed = followed;
        self.ends = ends;
        done
    }

    /// Makes passes on this thread until the run is over, and waits between them.
    fn passes(&mut self, nodes: Nodes<'_, '_>, shared: Option<&Shared>) -> Result<Outcome> {
        let (control, platform) = (self.control.clone(), self.platform.clone());
        let mut idle = Idle::new(&platform, &control);
        let measured = platform.has_statistics().then(Succession::begin);
        let interrupt = || measured.iter().for_each(Succession::interrupt);
        loop {
            // The signal's count is read before the command and the conditions, so that a later change of these ends the sleep.
            idle.begin_pass();
            match control.command() {
                Command::Run => {}
                Command::Pause => {
                    if !idle.pause(&control) {
                        return Err(asleep::paused());
                    }
                    interrupt();
                    continue;
                }
                Command::Report => {
                    self.publish(nodes, shared);
                    interrupt();
                    continue;
                }
                Command::Stop(source) => return Ok(Outcome::Stopped(source)),
            }
            turns::point("a command was read");
            let passed = self.pass(nodes)?;
            if self.is_watched {
                interrupt();
            }
            match passed {
                Passed::Ran => idle.end(),
                Passed::Waits if idle.looks_for_work() && !self.has_work(nodes) => {
                    return Ok(Outcome::Over);
                }
                Passed::Waits => {
                    if let Limit::Until(moment) = self.limit {
                        self.waits.until(moment);
                    }
                    if !idle.wait(&self.waits)? {
                        return Err(asleep::waiting(&control));
                    }
                    interrupt();
                }
                Passed::Ended(outcome) => return Ok(outcome),
            }
        }
    }

    /// Makes a report of the run so far, and publishes it for the run's handles.
    fn publish(&self, nodes: Nodes<'_, '_>, shared: Option<&Shared>) {
        // The request is taken before the report is made, so that a request that comes later gets another report.
        self.control.begin_report();
        if let Some(shared) = shared {
            let (asked, now) = (shared.asked(), statuses(nodes));
            let mut report = Report::new(End::NotYet, &now, &now, &self.platform, &self.control);
            report.replay = self.replay.as_ref().map(|replay| replay.report());
            shared.publish(report, asked);
        }
    }

    /// Calls the `start` hooks if they were not called, runs the nodes to the end of the run, and ends the run.
    pub(super) fn finish(
        mut self,
        nodes: Nodes<'_, '_>,
        limit: Option<RunFor>,
        shared: Option<&Shared>,
    ) -> Result<Report> {
        let workers = self.workers.clone();
        // The calling thread has the settings of the first worker until the `stop` hooks have returned.
        let first = workers.map(|workers| event_based::first_worker(&workers, nodes)).transpose();
        let (mut done, _first) = match first {
            Ok(first) => (self.start(nodes), first),
            Err(error) => (Err(error), None),
        };
        if let Some(limit) = limit {
            self.limit(nodes, limit);
        }
        if done.is_ok() && self.outcome.is_none() {
            done = self.run_nodes(nodes, shared).map(|outcome| self.outcome = Some(outcome));
        }
        self.end(nodes, done, shared)
    }
}

/// Makes a pass whose driver calls are replayed if possible.
fn replayed(
    replay: &mut Replay,
    nodes: Nodes<'_, '_>,
    until: Option<Timestamp>,
    waits: &mut Waits,
) -> Result<Pass> {
    replay.begin();
    let done = greedy::pass(nodes, until, waits, |node| replay.at(node));
    let ended = replay.end();
    match done {
        Ok(pass) => ended.map(|()| pass),
        Err(error) => {
            let Err(held) = ended else { return Err(error) };
            // A call of the hook was refused because a call that was held back has failed. The error of the held-back call is the
            // cause.
            if error.is_refusal() {
                return Err(held);
            }
            // Mostly the hook's error is the error of a held-back call, which was made because of a call of the hook. If that
            // error has made the device unusable, the end of the run reports it.
            let is_lost = replay.is_lost();
            if !is_lost && !text_of(&error).contains(&text_of(&held)) {
                report_in_drop("ending a pass", Err::<(), _>(held));
            }
            Err(error)
        }
    }
}
