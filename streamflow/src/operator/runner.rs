//! What is done around an operator's hooks. It does not know the operator's type, so that it is compiled
//! once, and stays in the processor's cache from one node to the next.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::options::Readiness;
use crate::context::ExecutionContext;
use crate::driver::DriverError;
use crate::error::{Error, Result, caught_as_error, drop_all};
use crate::message::Handled;
use crate::port::{ReceivingEnd, SendingEnd};
use crate::stream::Point;

/// An error is large, and hooks run in every tick: in here it lies elsewhere, so that success moves none.
pub(super) type HookResult = Result<(), Box<Error>>;

/// What of a node depends on its operator's type: the hooks, with their ports made for them, and what each tick
/// asks of all ports together.
pub(super) trait Hooks {
    fn start(&mut self, cx: &ExecutionContext) -> HookResult;
    fn compute(&mut self, cx: &ExecutionContext) -> HookResult;
    fn stop(&mut self, cx: &ExecutionContext) -> HookResult;
    /// Ends a tick of the inputs: drops what they received. What it did with them: of an operator without
    /// inputs, which makes messages, [`Handled::Taken`].
    fn finish(&mut self) -> Handled;
    /// Hands what the tick emitted to the edges. Whether it emitted anything.
    fn publish(&mut self) -> bool;
    /// Visits the inputs in order of declaration.
    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn ReceivingEnd));
    /// Visits the outputs in order of declaration.
    fn outputs(&mut self, visit: &mut dyn FnMut(&mut dyn SendingEnd));
}

/// A node without its operator and ports, which each call is given.
pub(super) struct NodeRunner {
    pub(super) cx: ExecutionContext,
    count: Option<u64>,
    /// By input, in the order of declaration: whether `stream_done` names it. Empty if none is named.
    awaited: Box<[bool]>,
    /// Whether an edge may refuse a message, and so fail the tick. Known when it was started.
    may_fault: bool,
    started: bool,
}

impl NodeRunner {
    pub(super) fn new(cx: ExecutionContext, count: Option<u64>, awaited: Box<[bool]>) -> Self {
        Self { cx, count, awaited, may_fault: false, started: false }
    }

    /// Whether it will not run again.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.cx.is_finished() || self.count.is_some_and(|count| self.cx.tick() >= count)
    }

    /// Whether it waits for streams.
    #[inline]
    pub(super) fn awaits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Whether the streams that it waits for are done.
    pub(super) fn after_streams(&self, hooks: &mut dyn Hooks) -> Result<Readiness> {
        match self.unfinished(hooks) {
            Ok(Some(point)) => Ok(Readiness::AfterStream(point)),
            Ok(None) => Ok(Readiness::Ready),
            Err(error) => Err(*self.failed("readiness", Box::new(error))),
        }
    }

    pub(super) fn start(&mut self, hooks: &mut dyn Hooks, stop: &Arc<AtomicBool>) -> Result<()> {
        let mut begins = Ok(());
        hooks.inputs(&mut |input| {
            if begins.is_ok() {
                begins = input.check_start();
            }
        });
        begins?;
        self.may_fault = false;
        hooks.outputs(&mut |output| self.may_fault |= output.may_fault());
        self.cx.begin(stop);
        self.started = true;
        self.hook("start", |cx| hooks.start(cx)).map_err(|error| *error)
    }

    pub(super) fn tick(&mut self, hooks: &mut dyn Hooks) -> Result<bool> {
        self.compute(hooks, true).map_err(|error| self.undo(hooks, *error))
    }

    /// Calls `compute`. What it emitted stays in the outputs; of a tick that failed, nothing does.
    pub(super) fn tick_unpublished(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        self.compute(hooks, false).map(drop).map_err(|error| self.undo(hooks, *error))
    }

    /// Calls `compute`, ends the tick of the inputs, and hands what was emitted to the edges, if it is to be.
    /// Whether the tick changed anything.
    #[inline]
    fn compute(&mut self, hooks: &mut dyn Hooks, publish: bool) -> Result<bool, Box<Error>> {
        let done = self.hook("compute", |cx| hooks.compute(cx));
        let may_fault = self.may_fault;
        // Messages are dropped here, and what they do then is the user's, too.
        let ended = caught_as_error(|| {
            let handled = hooks.finish();
            if done.is_err() || handled == Handled::Untouched {
                return Ok((handled, false));
            }
            if may_fault && let Some(full) = full(hooks) {
                return Err(full);
            }
            Ok((handled, publish && hooks.publish()))
        });
        done?;
        let emitted = match ended {
            Ok(Ok((Handled::Left, emitted))) => emitted | self.cx.is_finished(),
            Ok(Ok((Handled::Taken, _))) => true,
            Ok(Ok((Handled::Untouched, _))) => return Err(self.unhandled(hooks)),
            Ok(Err(error)) | Err(error) => return Err(self.failed("compute", error)),
        };
        self.cx.count_tick();
        Ok(emitted)
    }

    /// Of a tick that failed nothing is sent.
    #[cold]
    #[inline(never)]
    fn undo(&self, hooks: &mut dyn Hooks, error: Error) -> Error {
        // If dropping a message panics, that has told itself; `error` came first.
        let _second = self.cancel(hooks);
        self.cx.count_tick();
        error
    }

    /// Drops what was emitted and not handed to the edges.
    pub(super) fn cancel(&self, hooks: &mut dyn Hooks) -> Result<()> {
        let cancelled = drop_all(|| hooks.outputs(&mut |output| output.cancel()));
        cancelled.map_err(|error| *self.failed("compute", error))
    }

    pub(super) fn stop(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let done = if std::mem::take(&mut self.started) {
            self.hook("stop", |cx| hooks.stop(cx))
        } else {
            Ok(())
        };
        // Messages are dropped here, and what they do then is the user's, too.
        let cleared = drop_all(|| hooks.inputs(&mut |input| input.clear()));
        done.and(cleared.map_err(|error| self.failed("stop", error))).map_err(|error| *error)
    }

    pub(super) fn synchronize_blocking(&mut self, hooks: &mut dyn Hooks) -> Result<()> {
        let mut done = self.cx.synchronize_blocking();
        hooks.outputs(&mut |output| {
            let copied = output.synchronize_blocking();
            if done.is_ok() {
                done = copied;
            }
        });
        done.map_err(|error| *self.failed("synchronize", Box::new(error)))
    }

    /// Calls a hook with the device bound, and closes what it queued however it ends.
    fn hook(
        &mut self,
        name: &'static str,
        call: impl FnOnce(&ExecutionContext) -> HookResult,
    ) -> HookResult {
        let entered = self.cx.enter(name);
        let cx = &self.cx;
        let done = match entered {
            Err(error) => Err(driver(error)),
            Ok(()) => {
                let called = caught_as_error(|| call(cx));
                let closed = cx.close();
                match called {
                    Ok(Ok(())) => closed.map_err(driver),
                    Ok(Err(error)) | Err(error) => Err(error),
                }
            }
        };
        cx.leave();
        done.map_err(|error| self.failed(name, error))
    }

    /// The first of the awaited inputs' messages whose device data is not ready. From the first call on
    /// it is decided which messages the tick receives, so that none comes in between unawaited, and no
    /// queue's policy drops one for a later one for ever.
    fn unfinished(&self, hooks: &mut dyn Hooks) -> Result<Option<Point>> {
        let Self { awaited, cx, .. } = self;
        let (mut awaited, mut found) = (awaited.iter(), Ok(None));
        hooks.inputs(&mut |input| {
            if awaited.next() != Some(&true) {
                return;
            }
            input.stage(&mut |point| {
                if let Ok(None) = found {
                    let complete = cx.platform().is_complete(point);
                    found = complete.map(|complete| (!complete).then_some(point));
                }
            });
        });
        found
    }

    #[cold]
    #[inline(never)]
    fn unhandled(&self, hooks: &mut dyn Hooks) -> Box<Error> {
        let (node, mut untouched) = (self.cx.node().to_owned(), None);
        hooks.inputs(&mut |input| {
            if input.finish() == Handled::Untouched {
                untouched = untouched.or(Some(input.name()));
            }
        });
        let port = untouched.unwrap_or_default();
        self.failed("compute", Box::new(Error::Unhandled { node, port }))
    }

    #[cold]
    #[inline(never)]
    fn failed(&self, hook: &'static str, cause: Box<Error>) -> Box<Error> {
        let (node, tick) = (self.cx.node().to_owned(), self.cx.tick());
        Box::new(Error::Operator { node, hook, tick, cause })
    }
}

#[cold]
#[inline(never)]
fn driver(error: DriverError) -> Box<Error> {
    Box::new(error.into())
}

/// The error about the first edge that has no room for what was emitted, and whose policy is to fail. Its
/// consumer may have made room since the operator was found ready, and then there is none.
#[cold]
fn full(hooks: &mut dyn Hooks) -> Option<Box<Error>> {
    let mut full = None;
    hooks.outputs(&mut |output| full = full.take().or_else(|| output.full()));
    full.map(Box::new)
}
