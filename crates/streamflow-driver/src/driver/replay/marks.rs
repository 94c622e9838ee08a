//! The calls by which a scheduler tells a [`Replaying`] of the begin and the end of a pass, and of the next tick.

use std::sync::Arc;

use super::state::Questions;
use super::{ReplayRun, ReplayedTick, Replaying, Replays};
use crate::driver::{Driver, DriverResult, first_error};
use crate::sync::Ordering;

/// The name that the log gives to the failed step, if ending a run's replay fails.
const ENDING: &str = "ending the replay of a run";

impl<D: Driver> Replays for Replaying<D> {
    fn begin(&self, run: &mut ReplayRun) -> bool {
        if run.is_off() {
            return false;
        }
        let began = self.with(|state, (thread, _)| {
            if !std::mem::replace(&mut run.has_begun, true) {
                state.runs += 1;
                state.is_resting = false;
                self.switch.turn_on();
            }
            // At most one pass is under way. If another thread is making one, this pass is not replayed. If a held-back call
            // has failed, no pass is replayed any more.
            let is_free = state.pass.is_none() && state.lost.cause().is_none();
            if is_free {
                state.is_eager = run.is_eager;
                state.begin_pass(thread, &run.nodes);
            }
            is_free
        });
        run.is_in_pass = began == Some(true);
        if run.is_in_pass {
            self.tick.begin(*run.first_tick.get_or_insert_with(|| self.tick.of_new_run()));
        }
        run.is_in_pass
    }

    fn at(&self, node: u32, tick: u64) {
        self.node.store(u64::from(node), Ordering::Relaxed);
        self.tick.set(tick);
    }

    fn tick(&self) -> Arc<ReplayedTick> {
        self.tick.clone()
    }

    fn holds_back(&self) -> bool {
        self.is_on()
    }

    fn end(&self, run: &mut ReplayRun) -> DriverResult<()> {
        if !std::mem::take(&mut run.is_in_pass) {
            return Ok(());
        }
        self.tick.end();
        let done = self.with_bodies(|state, _| state.end_pass(&self.below)).transpose()?;
        run.note(done.unwrap_or_default());
        if run.is_off() { self.leave(run) } else { Ok(()) }
    }

    fn leave(&self, run: &mut ReplayRun) -> DriverResult<()> {
        // After an error or a panic, the run is left within a pass, which must be ended first.
        let ended = self.end(run);
        if !run.has_begun {
            return ended;
        }
        let left = self.with_bodies(|state, _| {
            state.runs -= 1;
            if state.runs > 0 {
                return Ok(());
            }
            state.is_resting = true;
            state.questions = Questions::default();
            let rested = self.rest(state, true);
            first_error(ENDING, rested, state.failed.take().map_or(Ok(()), Err))
        });
        run.has_begun = left.is_none();
        first_error(ENDING, ended, left.unwrap_or(Ok(())))
    }
}
