//! The hooks of a node other than `compute` and `flush`: the beginning and the end of a run.
//!
//! Each operator that was started is also stopped, even after a failure.

use std::sync::Arc;

use super::{Hooks, NodeRunner, driver};
use crate::context::{Activity, ExecutionContext, RunControl};
use crate::driver::report_in_drop;
use crate::error::{Error, Failure, Result, caught_as_error, drop_all, first_of, forget};
use crate::operator::flush::Flushing;
use crate::operator::poll::Poll;

/// The text with which further errors of a node are logged when it stops.
const STOPPING: &str = "stopping a node";

impl NodeRunner {
    /// Begins a run: resets all counts. This is done for all nodes before the first one starts, since the report has all counts,
    /// even if a node fails to start.
    pub(in crate::operator) fn begin_run(&mut self, hooks: &mut dyn Hooks) {
        hooks.ports().inputs(&mut |input| input.begin_run());
        hooks.ports().outputs(&mut |output| output.begin_run());
        self.cx.begin();
        self.poll = Poll::default();
        self.flush = if hooks.flushes() { Flushing::Pending } else { Flushing::Never };
        (self.flush_ticks, self.has_failed_flush) = (0, false);
        self.recovery.begin();
        if let Some(conditions) = &mut self.conditions {
            conditions.announced();
        }
    }

    /// Calls the operator's `start`, after [`begin_run`](Self::begin_run).
    pub(in crate::operator) fn start(
        &mut self,
        hooks: &mut dyn Hooks,
        run: &Arc<RunControl>,
    ) -> Result<()> {
        let carries = self.cx.carries();
        let mut checked = Ok(());
        hooks.ports().inputs(&mut |input| {
            if checked.is_ok() {
                checked = input.start(carries);
            }
        });
        checked?;
        self.may_fault = false;
        hooks.ports().outputs(&mut |output| self.may_fault |= output.may_fault());
        self.cx.set_run(run);
        if let Some(conditions) = &mut self.conditions {
            let started = conditions.start(&run.waker());
            started.map_err(|error| *self.failed("start", error.into()))?;
        }
        if self.has_failed() {
            // The operator failed at the end of the preceding run, so this run begins with a fresh one.
            self.replace(hooks).map_err(|error| *error)?;
            self.recovery.mark_replaced();
        }
        self.cx.show(Activity::Starting);
        // Stays `false` if the device can't be made current: `start` is not called then, and `stop` will not be called.
        let mut was_called = false;
        let started = self.hook("start", |cx| {
            was_called = true;
            hooks.begin_run()?;
            hooks.start(cx)
        });
        self.started = was_called;
        started.map_err(|error| *error)?;
        self.cx.show(Activity::Idle);
        Ok(())
    }

    pub(in crate::operator) fn stop(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let ended = self.conditions.as_mut().map_or(Ok(()), |conditions| conditions.stop());
        let before = self.cx.cell().word().activity();
        let has_started = std::mem::take(&mut self.started);
        let done = if has_started {
            self.cx.show(Activity::Stopping);
            self.stop_hook(hooks)
        } else {
            Ok(())
        };
        // Dropping messages runs code of the user, so panics are caught.
        let cleared = drop_all(|| hooks.ports().inputs(&mut |input| input.clear()));
        let cleared = cleared.map_err(|panic| self.failed("stop", (*panic).into()));
        let ended = ended.map_err(|panic| self.failed("stop", panic.into()));
        let done = first_of(first_of(done, cleared, STOPPING), ended, STOPPING);
        if has_started && done.is_ok() {
            self.cx.show(if before == Activity::Failed { before } else { Activity::Done });
        }
        done.map_err(|error| *error)
    }

    pub(in crate::operator) fn synchronize_blocking(
        &mut self,
        hooks: &mut dyn Hooks,
    ) -> Result<()> {
        let before = self.cx.cell().word().activity();
        self.cx.show(Activity::Synchronizing);
        let mut done = self.cx.synchronize_blocking();
        hooks.ports().outputs(&mut |output| {
            let copied = output.synchronize_blocking();
            if done.is_ok() {
                done = copied;
            }
        });
        self.cx.show(before);
        done.map_err(|error| *self.failed("synchronize", error.into()))
    }

    /// Calls a hook other than `compute` with the device current, and then records the work that it queued, even if it failed.
    pub(super) fn hook(
        &mut self,
        name: &'static str,
        call: impl FnOnce(&ExecutionContext) -> Result<(), Failure>,
    ) -> Result<(), Box<Error>> {
        let entered = self.cx.enter(name).map_err(driver);
        let done = entered.and_then(|()| self.call(call));
        self.cx.leave();
        done.map_err(|error| self.failed(name, error))
    }

    /// Calls a hook, and then records the work that it queued.
    fn call(
        &self,
        call: impl FnOnce(&ExecutionContext) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let called = caught_as_error(|| call(&self.cx));
        match called.unwrap_or_else(|panic| Err((*panic).into())) {
            Ok(()) => self.cx.close().map_err(driver),
            Err(error) => {
                self.close_after_failure();
                Err(error)
            }
        }
    }

    /// Calls the `stop` hook, even if the device can't be made current, since an operator that was started must be stopped. Calls
    /// of the hook that need the device then return errors.
    pub(super) fn stop_hook(&mut self, hooks: &mut dyn Hooks) -> Result<(), Box<Error>> {
        let entered = self.cx.enter("stop").map_err(driver);
        let stopped = self.call(|cx| hooks.stop(cx));
        self.cx.leave();
        let failed = |error| self.failed("stop", error);
        match (entered.map_err(failed), stopped.map_err(failed)) {
            (Ok(()), done) | (done, Ok(())) => done,
            // A sticky error was reported when it first occurred. The error of the hook may be another one, so it is returned.
            (Err(first), Err(second)) if first.is_refusal() => Err(second),
            (Err(first), Err(second)) => {
                if second.is_refusal() {
                    forget(*second);
                } else {
                    report_in_drop("stopping an operator without its device", Err(second));
                }
                Err(first)
            }
        }
    }
}
