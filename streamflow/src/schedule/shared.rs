//! The state that a run's thread shares with the handles of the run.

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

/// How long [`Shared::report`] waits until the scheduler has made a report. The scheduler makes it between two ticks.
const PATIENCE: Duration = Duration::from_secs(1);

/// In an explored test real time does not count. Each time a waiting thread has given up its turn, this much time counts as
/// passed.
const TURN: Duration = Duration::from_micros(100);

/// The state shared by the thread of a run, the handles of the run, and the handler of signals.
pub(super) struct Shared {
    pub(super) graph: &'static str,
    pub(super) control: Arc<RunControl>,
    clock: Clock,
    /// Whether the thread has finished the run, `stop` hooks included.
    is_over: AtomicBool,
    reports: Mutex<Reports>,
    /// The signal that is raised for each new report, and when the run is over.
    news: Signal,
    /// For each node, the activity that a handle has seen last, and the moment when a handle first saw this activity.
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

/// The states of a run's nodes at one moment. Its `Display` writes a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunStatus {
    /// Whether the run is active, paused, being stopped or over.
    pub phase: RunPhase,
    /// The states of all nodes. A producer comes before its consumers.
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
    /// What the node does now.
    pub activity: Activity,
    /// The condition for which the node waits, or that has ended it, as written in `#[when(…)]`. If several conditions don't
    /// hold, this is the one that decides. `None` if the node waits only for a message or for room.
    pub condition: Option<&'static str>,
    /// The moment at which a handle of this run first saw this activity, by the platform's clock. The activity began then or
    /// earlier, and the node has done no tick since.
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

    /// How many reports were requested so far. A report that is begun now answers all these requests.
    pub(super) fn asked(&self) -> u64 {
        locked(&self.reports).asked
    }

    /// Publishes a report that the scheduler has made. The report answers the first `answers` requests.
    pub(super) fn publish(&self, report: Report, answers: u64) {
        let mut reports = locked(&self.reports);
        reports.answered = reports.answered.max(answers);
        let before = reports.latest.replace(report);
        drop(reports);
        drop(before);
        self.news.raise();
    }

    /// Records that the run has ended. After this, its thread calls no hook of the graph.
    pub(super) fn set_over(&self) {
        self.control.end();
        // Stores the last activities of the nodes here, because the next run of the graph uses the same cells.
        let mut seen = locked(&self.seen);
        self.look(&mut seen);
        self.is_over.store(true, Ordering::Release);
        drop(seen);
        self.news.raise();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Waits until the run is over, at most for `at_most`. Returns whether the run is over.
    pub(super) fn wait_until_over(&self, at_most: Duration) -> bool {
        self.wait(at_most, || self.is_over())
    }

    /// Waits until `holds` returns `true`, at most for `at_most`. Calls `holds` after each raise of `news`. Returns its last
    /// result.
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

    /// Returns a report of the run so far; after the end of the run, the last report.
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
        // If the run is over without a report, it has panicked outside of all hooks.
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

    /// Stores the present activities of the nodes in `seen`.
    fn look(&self, seen: &mut [(Word, Timestamp)]) {
        for (cell, seen) in self.control.nodes().iter().zip(seen) {
            let word = cell.word();
            if seen.0 != word {
                *seen = (word, self.clock.now());
            }
        }
    }

    /// Returns the phase of the run. `control` is over before the `stop` hooks are called, and the run is over only after them.
    fn phase(&self) -> RunPhase {
        match self.control.phase() {
            RunPhase::Over => RunPhase::Stopping,
            phase => phase,
        }
    }

    /// Returns the error for a caller that has waited too long. It names the hook that has not returned.
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

/// Writes the status of the run as a table.
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
