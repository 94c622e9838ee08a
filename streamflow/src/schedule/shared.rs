//! The state that the handles of a run on a thread of its own share with that thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::report::Report;
use crate::context::{Activity, RunControl, RunPhase, Word};
use crate::driver::Signal;
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::time::{Clock, Timestamp};
use crate::turns;

/// How long [`Shared::report`] waits for the scheduler. The scheduler answers between two ticks.
const PATIENCE: Duration = Duration::from_secs(1);

/// In an explored test real time does not count. There, this much time counts as passed each time a waiting thread has
/// passed on its turn.
const TURN: Duration = Duration::from_micros(100);

/// The state shared by the thread of a run, its handles, and the handler of signals.
pub(super) struct Shared {
    pub(super) graph: &'static str,
    pub(super) control: Arc<RunControl>,
    clock: Clock,
    /// Whether the thread has ended the run.
    is_over: AtomicBool,
    reports: Mutex<Reports>,
    /// The signal that is raised for each report, and when the run is over.
    news: Signal,
    /// For each node, the activity that a handle saw last, and the moment when a handle first saw it.
    seen: Mutex<Vec<(Word, Timestamp)>>,
    /// The waker of the task that waits for the end of the run.
    #[cfg(feature = "futures")]
    pub(super) task: Mutex<Option<std::task::Waker>>,
}

#[derive(Default)]
struct Reports {
    /// How many reports were requested.
    asked: u64,
    /// How many of these requests the latest report answers.
    answered: u64,
    latest: Option<Report>,
}

/// The states of the nodes of a run at a moment. As text, this is a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunStatus {
    /// Whether the run goes on.
    pub phase: RunPhase,
    /// The nodes, producers before consumers.
    pub nodes: Vec<NodeState>,
}

/// The state of a node at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeState {
    /// The node's name in the graph.
    pub name: String,
    /// How many ticks the node has done.
    pub ticks: u64,
    /// The activity of the node.
    pub activity: Activity,
    /// The condition that the node waits for, or that has ended it, as written in `#[when(…)]`. If several conditions
    /// don't hold, this is the one that decides. `None` if the node waits for a message or room alone.
    pub condition: Option<&'static str>,
    /// The latest moment at which this activity can have begun, without a tick since: a handle of this run first saw it
    /// then, by the platform's clock.
    pub since: Timestamp,
}

impl Shared {
    pub(super) fn new(graph: &'static str, control: Arc<RunControl>, clock: Clock) -> Self {
        let now = clock.now();
        let seen = control.nodes().iter().map(|cell| (cell.word(), now)).collect();
        Self {
            graph,
            control,
            clock,
            is_over: AtomicBool::new(false),
            reports: Mutex::default(),
            news: Signal::default(),
            seen: Mutex::new(seen),
            #[cfg(feature = "futures")]
            task: Mutex::default(),
        }
    }

    /// How many reports were requested. A report that is begun now answers all of these requests.
    pub(super) fn asked(&self) -> u64 {
        locked(&self.reports).asked
    }

    /// Publishes a report of the scheduler. It answers the first `answers` requests.
    pub(super) fn publish(&self, report: Report, answers: u64) {
        let mut reports = locked(&self.reports);
        reports.answered = reports.answered.max(answers);
        let before = reports.latest.replace(report);
        drop(reports);
        drop(before);
        self.news.raise();
    }

    /// Records that the run has ended: its thread makes no call to the graph any more.
    pub(super) fn set_over(&self) {
        self.control.end();
        // Keeps the last state of the nodes: the next run of the graph uses the same cells.
        let mut seen = locked(&self.seen);
        self.look(&mut seen);
        self.is_over.store(true, Ordering::Release);
        drop(seen);
        self.news.raise();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Waits until the run is over, at most for this time. Returns whether the run is over.
    pub(super) fn wait_until_over(&self, at_most: Duration) -> bool {
        self.wait(at_most, || self.is_over())
    }

    /// Waits until a condition holds, at most for this time, and checks it after each raise of `news`. Returns whether it holds.
    fn wait(&self, at_most: Duration, holds: impl Fn() -> bool) -> bool {
        let (begun, mut turns) = (Instant::now(), 0);
        loop {
            let seen = self.news.raised();
            if holds() {
                return true;
            }
            let waited = if turns::takes_turns() { TURN * turns } else { begun.elapsed() };
            let left = at_most.saturating_sub(waited);
            if left.is_zero() {
                return false;
            }
            turns += 1;
            self.news.sleep(seen, left);
        }
    }

    /// A report of the run so far, or the last report.
    pub(super) fn report(&self) -> Result<Report> {
        let mut reports = locked(&self.reports);
        reports.asked += 1;
        let mine = reports.asked;
        drop(reports);
        self.control.request_report();
        let is_answered = || locked(&self.reports).answered >= mine;
        if !self.is_over() && !self.wait(PATIENCE, || self.is_over() || is_answered()) {
            return Err(self.still_running());
        }
        let report = locked(&self.reports).latest.clone();
        // Only a run that panicked outside of all hooks has made no report when it is over.
        report.ok_or_else(|| self.too_late("report", "has ended without a report"))
    }

    pub(super) fn status(&self) -> RunStatus {
        let mut seen = locked(&self.seen);
        let is_over = self.is_over();
        let phase = if is_over { RunPhase::Over } else { self.phase() };
        if !is_over {
            self.look(&mut seen);
        }
        let nodes = self.control.nodes().iter().zip(seen.iter()).map(|(cell, (word, since))| {
            let (ticks, activity, since) = (word.ticks(), word.activity(), *since);
            let condition = cell.condition(*word);
            NodeState { name: cell.name().to_owned(), ticks, activity, condition, since }
        });
        RunStatus { phase, nodes: nodes.collect() }
    }

    /// Records the present activities of the nodes.
    fn look(&self, seen: &mut [(Word, Timestamp)]) {
        for (cell, seen) in self.control.nodes().iter().zip(seen) {
            let word = cell.word();
            if seen.0 != word {
                *seen = (word, self.clock.now());
            }
        }
    }

    /// The phase of the run. The control is over before the `stop` hooks are called, and the run only after them.
    fn phase(&self) -> RunPhase {
        match self.control.phase() {
            RunPhase::Over => RunPhase::Stopping,
            phase => phase,
        }
    }

    /// The error of a caller that has waited long enough.
    pub(super) fn still_running(&self) -> Error {
        let mut nodes = self.status().nodes.into_iter();
        let in_hook = nodes.find_map(|node| {
            let NodeState { name, ticks, activity, .. } = node;
            Some(match (activity, activity.hook()?) {
                (Activity::Synchronizing, _) => {
                    format!("the work that `{name}` has queued on the device is not complete")
                }
                (_, hook) => format!(
                    "node `{name}` has not returned from `{hook}`, tick {ticks}; the run ends only after that"
                ),
            })
        });
        let none =
            || "no hook runs now, so it waits or is between two ticks; `stop` ends it".to_owned();
        Error::StillRunning { graph: self.graph, in_hook: in_hook.unwrap_or_else(none) }
    }

    pub(super) fn too_late(&self, call: &'static str, problem: &'static str) -> Error {
        Error::RunOver { graph: self.graph, call, problem }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_over = self.is_over();
        f.debug_struct("Shared").field("graph", &self.graph).field("is_over", &is_over).finish()
    }
}

/// Writes the status as a table.
impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            RunPhase::Active => "running",
            RunPhase::Paused => "paused",
            RunPhase::Stopping => "stopping",
            RunPhase::Over => "over",
        };
        writeln!(f, "the run is {phase}")?;
        let names = self.nodes.iter().map(|node| node.name.len());
        let width = names.chain(["node".len()]).max().unwrap_or_default();
        writeln!(f, "{:width$}  {:>12}  now", "node", "ticks")?;
        for NodeState { name, ticks, activity, condition, .. } in &self.nodes {
            write!(f, "{name:width$}  {ticks:>12}  ")?;
            match condition {
                Some(condition) if *activity == Activity::Done => {
                    writeln!(f, "done: its condition `{condition}` can't hold again")?;
                }
                Some(condition) => writeln!(f, "waits for its condition `{condition}`")?,
                None => writeln!(f, "{activity}")?,
            }
        }
        Ok(())
    }
}
