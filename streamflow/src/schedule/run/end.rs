//! The end of a run: finds its cause, calls the `stop` hooks, waits for the device, and makes the report.

use std::mem;

use super::Run;
use crate::context::StopSource;
use crate::driver::report_in_drop;
use crate::error::{Error, Result};
use crate::graph::NodeStatus;
use crate::operator::{ended, stop_all, text_of};
use crate::schedule::nodes::{Nodes, statuses};
use crate::schedule::outcome::Outcome;
use crate::schedule::report::{End, Report, StoppedBy};
use crate::schedule::shared::Shared;
use crate::schedule::stall;

impl Run {
    /// Ends the run: finds out whether it has stalled, calls the `stop` hooks, waits for the device, and makes the report. `done`
    /// is the result of the run before its end.
    pub(in crate::schedule) fn end(
        mut self,
        nodes: Nodes<'_, '_>,
        mut done: Result<()>,
        shared: Option<&Shared>,
    ) -> Result<Report> {
        // If an error or a panic has ended a pass, driver calls of that pass may still be held back.
        if let Some(replay) = &mut self.replay {
            let ended = replay.end();
            match done {
                Ok(()) => done = ended,
                Err(_) => report_in_drop("ending a pass", ended),
            }
        }
        // The statuses are read before the nodes are stopped, since stopping drops the messages in the queues and runs hooks.
        let at_end = statuses(nodes);
        let outcome = self.outcome.unwrap_or(Outcome::EndCalled);
        let mut waited = Vec::new();
        if done.is_ok() && !self.races.look() && outcome == Outcome::Over {
            let found = stall::find(&at_end);
            waited = found.waited;
            if !found.stalled.is_empty() {
                done = Err(Error::Stalled { chains: found.stalled });
            }
        }
        self.control.end();
        let mut followed = mem::take(&mut self.followed);
        stop_all(nodes, &self.platform, done.is_err(), &mut followed);
        if self.platform.driver().sticky_error().is_none() {
            followed.extend(self.replay.as_mut().and_then(|replay| replay.leave().err()));
            followed.extend(self.in_progress.give_back().err());
        }
        if self.races.look() {
            followed.insert(0, Error::Races(self.races.take()));
        }
        let done = ended(done, followed, &self.platform);
        let end = match &done {
            Ok(()) => why(outcome, &at_end),
            Err(error) => End::Failed { error: text_of(error) },
        };
        let mut report = Report::new(end, &at_end, &statuses(nodes), &self.platform, &self.control);
        report.replay = self.replay.as_ref().map(|replay| replay.report());
        report.waited = waited;
        self.limit.end(nodes);
        if let Some(shared) = shared {
            shared.publish(report.clone(), shared.asked());
        }
        done.map(|()| report)
    }
}

/// Returns why a run has ended that has ended without an error.
fn why(outcome: Outcome, at_end: &[NodeStatus]) -> End {
    let by = match outcome {
        Outcome::Over => return End::by_itself(at_end),
        Outcome::TimeOver => return End::TimeOver,
        Outcome::EndCalled => StoppedBy::EndRun,
        Outcome::Stopped(StopSource::Handle) => StoppedBy::Handle,
        Outcome::Stopped(StopSource::CtrlC) => StoppedBy::CtrlC,
        Outcome::Stopped(StopSource::Terminate) => StoppedBy::Signal("SIGTERM"),
        Outcome::Stopped(StopSource::HangUp) => StoppedBy::Signal("SIGHUP"),
        Outcome::Stopped(StopSource::Node) => {
            let node = at_end.iter().find(|node| node.has_stopped_graph);
            StoppedBy::StopGraph(node.map(|node| node.name.clone()).unwrap_or_default())
        }
    };
    End::Stopped { by }
}
