//! The marks of a scheduler: where passes begin and end, and which tick is next.

use std::sync::Arc;

use super::report::ReplayRun;
use super::{ReplayedTick, Replaying, Replays};
use crate::driver::{Driver, DriverResult};
use crate::sync::Ordering;

impl<D: Driver> Replays for Replaying<D> {
    fn begin(&self, run: &mut ReplayRun) -> bool {
        if run.is_off() {
            return false;
        }
        self.on.store(true, Ordering::Relaxed);
        let began = self.with(|state, (thread, _)| {
            // Only one pass is under way: that of another thread goes on. After a call that has failed nothing is held back.
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

    fn end(&self, run: &mut ReplayRun) -> DriverResult<()> {
        if !std::mem::take(&mut run.is_in_pass) {
            return Ok(());
        }
        self.tick.end();
        let done = self.with_bodies(|state, _| state.end_pass(&self.below)).transpose()?;
        run.note(done.unwrap_or_default());
        Ok(())
    }
}
