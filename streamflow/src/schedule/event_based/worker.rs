//! A worker's thread: it asks the [`Board`](super::board::Board) what to do next, and does it.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::core::{Looked, Next, NodeId, WorkerId};
use super::nap;
use super::team::Team;
use crate::context::{Activity, Command};
use crate::error::{Result, caught_as_error};
use crate::graph::{Step, Waits};
use crate::lock::locked;
use crate::operator::Succession;
use crate::schedule::asleep;
use crate::schedule::idle::LONG;
use crate::schedule::outcome::Outcome;
use crate::sync::spin_loop;
use crate::time::Timestamp;
use crate::turns;

/// The thread of a worker, and the node that it holds.
struct Worker<'t, 'r, 'g> {
    team: &'t Team<'r, 'g>,
    index: WorkerId,
    /// The node that it looks at, and how often the run's signal was raised before.
    looks_at: Cell<Option<(NodeId, u64)>>,
}

impl Team<'_, '_> {
    /// Runs nodes until the run is over. The calling thread is this worker.
    pub(super) fn work(&self, index: WorkerId) {
        let worker = Worker { team: self, index, looks_at: Cell::new(None) };
        let _is_worker = nap::enter(index);
        let measured = self.platform.has_statistics().then(Succession::begin);
        let (mut waits, mut looked) = (Waits::default(), None);
        loop {
            let panic =
                match caught_as_error(|| worker.run(&mut waits, &mut looked, measured.as_ref())) {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => return self.fail(error),
                    Err(panic) => panic,
                };
            let Some((node, raises)) = worker.looks_at.take() else { return self.fail(*panic) };
            let stepped = locked(&self.nodes[node]).panicked(panic, &mut waits);
            match stepped {
                Ok(step) => looked = Some((node, worker.found(node, step, &mut waits, raises))),
                Err(error) => return self.fail(*error),
            }
        }
    }
}

impl Worker<'_, '_, '_> {
    fn run(
        &self,
        waits: &mut Waits,
        looked: &mut Option<(NodeId, Looked)>,
        measured: Option<&Succession>,
    ) -> Result<()> {
        let (team, me) = (self.team, self.index);
        let interrupt = || measured.iter().for_each(|measured| measured.interrupt());
        let mut spin = Spin::default();
        loop {
            let command = team.control.command();
            if command != Command::Run || team.collects.load(Ordering::Acquire) {
                interrupt();
                if let Some((node, found)) = looked.take() {
                    team.board.change(|core| core.looked(me, node, found));
                }
                match command {
                    Command::Stop(source) => {
                        team.end(Outcome::Stopped(source));
                        return Ok(());
                    }
                    Command::Report => team.begin_report(),
                    _ => {}
                }
                team.collect();
                if command == Command::Pause && !self.pause() {
                    return Err(asleep::paused());
                }
            }
            turns::point("a worker asks for a node");
            // Before the question, so that a change after it ends the sleep.
            let (bell, epoch) = (team.board.bell(me), team.board.epoch());
            let seen = bell.raised();
            match team.board.next(me, looked.take(), spin.is_over()) {
                Next::Look(node) => {
                    spin = Spin::default();
                    *looked = Some((node, self.look(node, waits)?));
                    continue;
                }
                Next::Poll => team.poll(me)?,
                Next::Check => team.check(me)?,
                Next::Spin => spin.wait(team, epoch),
                Next::Park => {
                    if !bell.sleep(seen, LONG) {
                        return Err(asleep::waiting(team.control));
                    }
                    spin = Spin::default();
                }
                Next::End => return Ok(()),
            }
            interrupt();
        }
    }

    /// Looks at a node, which runs a tick if it is ready.
    fn look(&self, node: NodeId, waits: &mut Waits) -> Result<Looked> {
        let team = self.team;
        turns::point("a worker has taken a node");
        waits.clear();
        let raises = team.control.signal().raises();
        self.looks_at.set(Some((node, raises)));
        let step = locked(&team.nodes[node]).step(waits, team.limit.until());
        self.looks_at.set(None);
        let step = step.map_err(|error| *error)?;
        turns::point("a worker has looked at a node");
        if let Some(races) = &team.races
            && locked(races).look()
        {
            team.end(Outcome::Over);
        }
        let found = self.found(node, step, waits, raises);
        if found.again && step == Step::Nothing {
            // A source that has nothing to send lets other threads run.
            turns::yield_turn();
        }
        Ok(found)
    }

    /// What a look has found, also one whose tick has panicked. What the node waits for is noted for the worker that polls:
    /// nothing else wakes the node.
    fn found(&self, node: NodeId, step: Step, waits: &mut Waits, raises: u64) -> Looked {
        match step {
            Step::Changed | Step::Nothing => {}
            Step::Interrupted => return Looked { again: true, ..Looked::default() },
            Step::TimeOver => {
                self.team.end(Outcome::TimeOver);
                return Looked { again: true, ..Looked::default() };
            }
        }
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
        Looked { changed, again, waits: is_waiting, restless }
    }

    /// Sleeps until the command is not to pause, or the run has ended. Returns `false` if no thread is left that could change
    /// it.
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
    /// Whether the worker parks now.
    fn is_over(&self) -> bool {
        self.is_over
    }

    /// Waits until there may be something new, for as long as the platform says at most, since the worker last had a node.
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
