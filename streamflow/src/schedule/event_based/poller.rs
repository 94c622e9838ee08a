//! Polling. One worker without a node, the poller, queries the device, the clock and the run's signal for all nodes that wait,
//! and then sleeps until one of the three may have changed.
//!
//! The poller only finds out which nodes to look at. The worker that then looks at a node checks the node's conditions again. So
//! the thread that runs the hook relies on its own query, and the race checker is notified of that query.

use std::sync::PoisonError;
use std::time::Duration;

use super::core::{NodeId, WorkerId};
use super::protocol::{self, Pause};
use super::team::{Poller, Team};
use crate::context::{Activity, Command};
use crate::driver::DriverError;
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::schedule::asleep;
use crate::schedule::idle::Rest;
use crate::schedule::outcome::Outcome;
use crate::time::Timestamp;

/// The poller's part of a call of [`protocol::poll`], with the poller's state.
struct Polling<'p, 't, 'r, 'g> {
    team: &'t Team<'r, 'g>,
    poller: &'p mut Poller<'r>,
}

impl protocol::Polls for Polling<'_, '_, '_, '_> {
    type Error = Error;
    /// The longest duration of the poller's sleep.
    type Sleep = Duration;

    fn begin_pass(&mut self) -> bool {
        self.poller.idle.begin_pass();
        self.team.control.command() == Command::Run
    }

    fn find(&mut self, version: u64) -> Result<bool> {
        self.team.refresh(self.poller, version);
        let has_found = self.team.find(self.poller)?;
        if has_found {
            self.poller.idle.end();
        }
        Ok(has_found)
    }

    fn rest(&mut self, naps_end: Option<u64>, is_still: bool) -> Pause<Duration> {
        let (team, poller) = (self.team, &mut *self.poller);
        if team.limit.is_over(team.platform.clock()) {
            team.end(Outcome::TimeOver);
            return Pause::End;
        }
        if is_still && naps_end.is_none() && poller.idle.looks_for_work() {
            match team.ends_without_work() {
                Some(true) => return Pause::End,
                Some(false) => {}
                None => {
                    poller.idle.end();
                    return Pause::Again;
                }
            }
        }
        if let Some(until) = naps_end {
            poller.all.until(Timestamp(until));
            // The next pass must make the lists again, since `all` now also has a moment at which a hook's sleep ends.
            poller.version = None;
        }
        let Poller { idle, all, .. } = poller;
        match idle.rest(all, is_still) {
            Rest::Again => {
                if team.is_crowded {
                    std::thread::yield_now();
                }
                Pause::Again
            }
            Rest::Advanced => Pause::Advanced(team.platform.clock().now().0),
            Rest::Sleep(at_most) => Pause::Sleep(at_most),
        }
    }

    fn sleep(&mut self, at_most: Duration) -> Result<()> {
        let Poller { idle, all, .. } = &mut *self.poller;
        if idle.sleep(all, at_most)? {
            return Ok(());
        }
        Err(asleep::waiting(self.team.control))
    }
}

impl Team<'_, '_> {
    /// Polls until the worker has something else to do.
    pub(super) fn poll(&self, me: WorkerId) -> Result<()> {
        let mut poller = self.poller.lock().unwrap_or_else(PoisonError::into_inner);
        poller.idle.end();
        protocol::poll(&self.board, me, &mut Polling { team: self, poller: &mut poller })
    }

    /// Checks the waits of all nodes once, without sleeping.
    pub(super) fn check(&self) -> Result<()> {
        let mut poller = locked(&self.poller);
        let version = self.board.change(|core| core.version());
        self.refresh(&mut poller, version);
        self.find(&mut poller)?;
        Ok(())
    }

    /// Lists the waits of all nodes that wait, unless the lists were made for this version.
    fn refresh(&self, poller: &mut Poller<'_>, version: u64) {
        if poller.version.replace(version) == Some(version) {
            return;
        }
        let Poller { nodes, points, moments, others, all, .. } = poller;
        points.clear();
        moments.clear();
        others.clear();
        all.clear();
        let waiting = locked(&self.waiting);
        self.board.change(|core| nodes.extend(core.waiting()));
        for node in nodes.drain(..) {
            let of_node = &waiting[node];
            all.add(&of_node.waits);
            points.extend(of_node.waits.points().iter().map(|point| (node, *point)));
            moments.extend(of_node.waits.earliest().map(|until| (node, until)));
            if of_node.waits.is_for_others() {
                others.push((node, of_node.raises));
            }
        }
        self.limit.until().into_iter().for_each(|end| all.until(end));
    }

    /// Finds the nodes whose wait may have ended, and queues them for looks. Returns whether there are such nodes.
    ///
    /// # Errors
    /// [`Error::Operator`], with the node for which a query has failed. The error must be returned here, because the next query
    /// may succeed.
    fn find(&self, poller: &mut Poller<'_>) -> Result<bool> {
        let Poller { points, moments, others, found, .. } = poller;
        let table = self.platform.streams();
        for (node, point) in &*points {
            if table.is_complete(*point).map_err(|error| self.not_ready(*node, error))? {
                found.push(*node);
            }
        }
        if !moments.is_empty() {
            let now = self.platform.clock().now();
            found.extend(moments.iter().filter(|(_, until)| *until <= now).map(|(node, _)| *node));
        }
        let raises = self.control.signal().raises();
        found.extend(others.iter().filter(|(_, seen)| *seen != raises).map(|(node, _)| *node));
        if found.is_empty() {
            return Ok(false);
        }
        self.board.change(|core| core.touch_all(found.drain(..)));
        Ok(true)
    }

    /// Returns the error for a query that has failed for a node, in the form in which a look at the node would return it.
    #[cold]
    fn not_ready(&self, node: NodeId, error: DriverError) -> Error {
        let cell = &self.control.nodes()[node];
        // The node is claimed before its cell is read: while another worker holds the node, the cell tells about that worker's
        // hook.
        if self.board.change(|core| core.claim(node)) {
            let word = cell.word();
            if word.activity() != Activity::Done {
                cell.set(word.ticks(), Activity::Failed, 0);
            }
            self.board.change(|core| core.release(node));
        }
        Error::Operator {
            node: cell.name().to_owned(),
            hook: "readiness",
            tick: cell.word().ticks(),
            cause: Error::from(error).into(),
        }
    }
}
