//! A worker's thread: what it does for each answer of the [`Board`](super::board::Board). [`protocol::work`] calls the board.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::core::{Looked, NodeId, WorkerId};
use super::team::Team;
use super::{nap, protocol};
use crate::context::{Activity, Command};
use crate::driver::Signal;
use crate::error::{Error, Result, caught_as_error};
use crate::graph::{Step, Waits};
use crate::lock::locked;
use crate::log;
use crate::operator::Succession;
use crate::schedule::asleep;
use crate::schedule::idle::LONG;
use crate::schedule::outcome::Outcome;
use crate::sync::spin_loop;
use crate::time::Timestamp;
use crate::turns;

/// The thread of a worker, with the state that it keeps between two nodes.
struct Worker<'t, 'r, 'g> {
    team: &'t Team<'r, 'g>,
    index: WorkerId,
    waits: Waits,
    measured: Option<Succession>,
    spin: Spin,
    /// Whether the node that the worker gives back is an attendant that must not run now.
    stands_still: Cell<bool>,
}

impl Team<'_, '_> {
    /// Runs nodes on the calling thread, as worker `index`, until the run is over.
    pub(super) fn work(&self, index: WorkerId) {
        let mut worker = Worker {
            team: self,
            index,
            waits: Waits::default(),
            measured: self.platform.has_statistics().then(Succession::begin),
            spin: Spin::default(),
            stands_still: Cell::new(false),
        };
        let _is_worker = nap::enter(index);
        let mut looked = None;
        let run = || protocol::work(&self.board, index, &mut looked, &mut worker);
        // A panic here comes from this library, not from a hook, and is its mistake. The error ends the other workers, too.
        let done = caught_as_error(run).unwrap_or_else(|panic| Err(*panic));
        if let Err(error) = done {
            self.fail(error);
        }
    }
}

impl protocol::Thread for Worker<'_, '_, '_> {
    type Error = Error;

    fn obeys(&self, looked: &mut Option<(NodeId, Looked)>) -> Result<bool> {
        let team = self.team;
        if self.stands_still.take() {
            // Gives the node back before other threads run, since a worker in `Team::ask` needs to claim the node.
            if let Some((node, found)) = looked.take() {
                team.board.change(|core| core.looked(self.index, node, found));
            }
            turns::yield_turn();
            spin_loop();
        }
        let command = team.control.command();
        if command != Command::Run || team.collects.load(Ordering::Acquire) {
            self.interrupt();
            if let Some((node, found)) = looked.take() {
                team.board.change(|core| core.looked(self.index, node, found));
            }
            match command {
                Command::Stop(source) => {
                    team.end(Outcome::Stopped(source));
                    return Ok(false);
                }
                Command::Report => team.begin_report(),
                _ => {}
            }
            // Another worker in `Team::ask` can't check a node that is claimed for a report, so this worker calls `ask` after the
            // report.
            team.board.change(|core| core.ask(self.index));
            team.collect();
            team.ask(None);
            team.board.change(|core| core.asked(self.index));
            if command == Command::Pause && !self.pause() {
                return Err(asleep::paused());
            }
        }
        turns::point("a worker asks for a node");
        Ok(true)
    }

    fn has_spun(&self) -> bool {
        self.spin.is_over
    }

    /// Looks at a node: calls `AnyNode::step`, which runs a tick if the node is ready.
    fn look(&mut self, node: NodeId) -> Result<Looked> {
        let team = self.team;
        self.spin = Spin::default();
        turns::point("a worker has taken a node");
        if team.stands_still(node) {
            self.stands_still.set(true);
            return Ok(Looked { again: true, ..Looked::default() });
        }
        self.waits.clear();
        let raises = team.control.signal().raises();
        let step = locked(&team.nodes[node]).step(&mut self.waits, team.limit.until());
        let step = step.map_err(|error| *error)?;
        turns::point("a worker has looked at a node");
        if let Some(races) = &team.races {
            let _later = log::later();
            if locked(races).look() {
                team.end(Outcome::Over);
            }
        }
        let found = self.found(node, step, raises);
        let found = Looked { asks: team.stood(node, found), ..found };
        turns::point("a worker gives a node back");
        if found.again && step == Step::Nothing {
            // A source that has nothing to send gives other threads a turn.
            turns::yield_turn();
        }
        Ok(found)
    }

    fn ask(&mut self) {
        self.team.ask(None);
    }

    fn poll(&mut self) -> Result<()> {
        self.team.poll(self.index)?;
        self.interrupt();
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        self.team.check()?;
        self.interrupt();
        Ok(())
    }

    fn spin(&mut self, epoch: u64) {
        self.spin.wait(self.team, epoch);
        self.interrupt();
    }

    fn park(&mut self, bell: &Signal, seen: u64) -> Result<()> {
        if !bell.sleep(seen, LONG) {
            return Err(asleep::waiting(self.team.control));
        }
        self.spin = Spin::default();
        self.interrupt();
        Ok(())
    }
}

impl Worker<'_, '_, '_> {
    /// Interrupts the chain of time measurements: the time of the next node then does not begin at the end of the node before it.
    fn interrupt(&self) {
        self.measured.iter().for_each(Succession::interrupt);
    }

    /// Converts `step`, which a look at the node has returned, to the result of the look. Stores in [`Team::waiting`] the events
    /// for which the node waits. The poller reads them there, and nothing else wakes the node.
    fn found(&mut self, node: NodeId, step: Step, raises: u64) -> Looked {
        match step {
            Step::Changed | Step::Nothing => {}
            Step::Interrupted => return Looked { again: true, ..Looked::default() },
            Step::TimeOver => {
                self.team.end(Outcome::TimeOver);
                return Looked { again: true, ..Looked::default() };
            }
        }
        let waits = &mut self.waits;
        let changed = step == Step::Changed;
        let again = waits.is_at_once();
        let is_waiting = !waits.is_empty() && !again && !changed;
        if is_waiting {
            let waiting = &mut locked(&self.team.waiting)[node];
            std::mem::swap(&mut waiting.waits, waits);
            waiting.raises = raises;
        }
        let cell = &self.team.control.nodes()[node];
        let restless =
            !changed && !again && !is_waiting && cell.word().activity() == Activity::Idle;
        Looked { changed, again, waits: is_waiting, restless, asks: false }
    }

    /// Sleeps until the command is not `Pause` any more, or the run has ended. Returns `false` if no thread is left that could
    /// change the command.
    fn pause(&self) -> bool {
        let signal = self.team.control.signal();
        let seen = signal.raised();
        let is_over = self.team.board.change(|core| core.is_over());
        is_over || self.team.control.command() != Command::Pause || signal.sleep(seen, LONG)
    }
}

/// How long a worker without a node has spun.
#[derive(Default)]
struct Spin {
    since: Option<Timestamp>,
    is_over: bool,
}

impl Spin {
    /// Spins for a short time, at most until the board's epoch differs from `epoch`. Sets `is_over` when the worker has spun for
    /// the platform's time to spin since it last had a node, or at once if the worker is not to spin.
    fn wait(&mut self, team: &Team<'_, '_>, epoch: u64) {
        let clock = team.platform.clock();
        if turns::takes_turns() || clock.is_simulated() || team.platform.spin().is_zero() {
            self.is_over = true;
            return;
        }
        let since = *self.since.get_or_insert_with(|| clock.now());
        for _ in 0..64 {
            if team.board.epoch() != epoch {
                return;
            }
            spin_loop();
        }
        if team.is_crowded {
            std::thread::yield_now();
        }
        self.is_over = clock.now().since(since) >= team.platform.spin();
    }
}
