//! A node: an operator, its ports, its context, and when it runs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{NodeOptions, NodeStreams, Readiness};
use crate::context::{ExecutionContext, Streams};
use crate::error::{Error, Result};
use crate::operator::{Compute, Operator};
use crate::platform::{Platform, device};
use crate::port::{AnyInput, Emission, Handled, PortInfo, Ports};
use crate::stream::{CudaStreamPool, Point};

/// An operator within a graph.
pub struct Node<O: Operator> {
    /// The operator.
    pub operator: O,
    /// Its ports.
    pub ports: O::Ports,
    cx: ExecutionContext,
    count: Option<u64>,
    /// By input, in the order of declaration: whether `stream_done` names it. Empty if none is named.
    awaited: Box<[bool]>,
    started: bool,
}

/// Makes a node of an operator and its ports, connected or not.
///
/// # Errors
/// [`Error::CountZero`]; the platform's, when it has no such device or stream.
pub fn node<O: Operator>(
    name: &str,
    operator: O,
    ports: O::Ports,
    platform: &Platform,
    options: NodeOptions<'_>,
) -> Result<Node<O>> {
    let is_awaited = |port: &PortInfo| options.stream_done.contains(&port.name);
    let awaited = match options.stream_done {
        [] => Box::default(),
        _ => O::INPUTS.iter().map(is_awaited).collect(),
    };
    if options.count == Some(0) {
        return Err(Error::CountZero { node: name.to_owned() });
    }
    let (streams, on) = match options.streams {
        NodeStreams::Pool(pool) => (Streams::Pool(pool.clone()), pool.device()),
        NodeStreams::Default => {
            let pool = platform.stream_pool(name, &CudaStreamPool::new())?;
            (Streams::Pool(pool), device(0))
        }
        NodeStreams::Own(description) => {
            let pool = platform.stream_pool(name, description)?;
            (Streams::Pool(pool), description.get_device())
        }
        NodeStreams::None => (Streams::Adopt, device(0)),
    };
    let mut cx = ExecutionContext::new(platform, name, on, streams, O::STREAM_NAMES, options.alone);
    cx.set_inputs(O::INPUTS);
    Ok(Node { operator, ports, cx, count: options.count, awaited, started: false })
}

/// The node as schedulers see it. `graph!` names the operator's type in the call, so that rustc says
/// there that it has no `compute`.
pub fn any_node<O: Compute>(node: &mut Node<O>) -> &mut dyn AnyNode {
    node
}

/// A node as schedulers see it.
pub trait AnyNode: Send {
    /// Its name in the graph.
    fn name(&self) -> &str;
    /// Its operator's name.
    fn operator(&self) -> &'static str;
    /// Whether it can run now.
    ///
    /// # Errors
    /// The driver's, when it can't say how far a stream is.
    fn readiness(&mut self) -> Result<Readiness>;
    /// Calls `start`. `stop` is what asks the whole graph to end.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick.
    fn start(&mut self, stop: &Arc<AtomicBool>) -> Result<()>;
    /// Calls `compute` and sends what it emitted. `false` if the tick changed nothing: it took no
    /// message and sent none, so it would only do the same again.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick; [`Error::Unhandled`]. Nothing was sent then.
    fn tick(&mut self) -> Result<bool>;
    /// The inputs in front of which messages wait that are lost when the run ends.
    fn waiting(&mut self) -> Vec<&'static str>;
    /// Calls `stop` if `start` was called, and drops all messages that wait.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick.
    fn stop(&mut self) -> Result<()>;
    /// Blocks until all work of its streams is complete, and of those that copy what it sent to other
    /// devices.
    ///
    /// # Errors
    /// The driver's; an error of earlier work is reported here.
    fn synchronize_blocking(&mut self) -> Result<()>;
}

impl<O: Compute> AnyNode for Node<O> {
    fn name(&self) -> &str {
        self.cx.node()
    }

    fn operator(&self) -> &'static str {
        O::NAME
    }

    fn readiness(&mut self) -> Result<Readiness> {
        if self.cx.is_finished() || self.count.is_some_and(|count| self.cx.tick() >= count) {
            return Ok(Readiness::Done);
        }
        let (mut all_required, mut inputs, mut waiting, mut required) = (true, 0, 0, 0);
        self.ports.inputs(&mut |input| {
            inputs += 1;
            waiting += usize::from(input.has_message());
            if !input.is_optional() {
                required += 1;
                all_required &= input.has_all();
            }
        });
        // With optional inputs alone it runs for any message, since it would run for ever for none.
        if !all_required || (inputs > 0 && required == 0 && waiting == 0) {
            return Ok(Readiness::Blocked);
        }
        let mut room = true;
        self.ports.outputs(&mut |output| room &= output.has_room());
        if !room {
            return Ok(Readiness::Blocked);
        }
        let unfinished = if self.awaited.is_empty() { Ok(None) } else { self.unfinished() };
        match unfinished.map_err(|error| self.failed("readiness", error))? {
            Some(point) => Ok(Readiness::AfterStream(point)),
            None => Ok(Readiness::Ready),
        }
    }

    fn start(&mut self, stop: &Arc<AtomicBool>) -> Result<()> {
        let mut begins = Ok(());
        self.ports.inputs(&mut |input| {
            if begins.is_ok() {
                begins = input.check_start();
            }
        });
        begins?;
        self.cx.begin(stop);
        self.started = true;
        self.hook("start", |operator, _, cx| operator.start(O::__stream_names(cx), cx))
    }

    fn tick(&mut self) -> Result<bool> {
        let changed = self.tick_unpublished()?;
        self.ports.outputs(&mut |output| output.publish());
        Ok(changed)
    }

    fn waiting(&mut self) -> Vec<&'static str> {
        let mut waiting = Vec::new();
        self.ports.inputs(&mut |input| waiting.extend(input.would_lose().then(|| input.name())));
        waiting
    }

    fn stop(&mut self) -> Result<()> {
        let done = if std::mem::take(&mut self.started) {
            self.hook("stop", |operator, _, cx| operator.stop(cx))
        } else {
            Ok(())
        };
        // Messages are dropped here, and what they do then is the user's, too.
        let clear = || self.ports.inputs(&mut |input| input.clear());
        let cleared = catch_unwind(AssertUnwindSafe(clear));
        done.and(cleared.map_err(|panic| self.failed("stop", Error::panicked(&*panic))))
    }

    fn synchronize_blocking(&mut self) -> Result<()> {
        let mut done = self.cx.synchronize_blocking();
        self.ports.outputs(&mut |output| {
            let copied = output.synchronize_blocking();
            if done.is_ok() {
                done = copied;
            }
        });
        done.map_err(|error| self.failed("synchronize", error))
    }
}

impl<O: Compute> Node<O> {
    /// Calls `compute`. What it emitted stays in the outputs; of a tick that failed, nothing does.
    /// Whether it changed anything.
    pub(crate) fn tick_unpublished(&mut self) -> Result<bool> {
        let done = self.hook("compute", |operator, ports, cx| {
            let io = O::__io(ports, cx);
            operator.compute(io, cx)
        });
        let mut untouched = None;
        // An operator without inputs makes messages, so it is never asked whether it changed something.
        let (mut inputs, mut changed) = (0, self.cx.is_finished());
        let mut finish = |input: &mut dyn AnyInput| {
            inputs += 1;
            match input.finish() {
                Handled::Taken => changed = true,
                Handled::Left => {}
                Handled::Untouched if input.is_optional() => {}
                Handled::Untouched => untouched = untouched.or(Some(input.name())),
            }
        };
        // Messages are dropped here, and what they do then is the user's, too.
        let finished = catch_unwind(AssertUnwindSafe(|| self.ports.inputs(&mut finish)));
        if let Err(error) = done {
            return Err(self.undo(error));
        }
        if let Err(panic) = finished {
            return Err(self.undo(self.failed("compute", Error::panicked(&*panic))));
        }
        if let Some(port) = untouched {
            let error = Error::Unhandled { node: self.cx.node().to_owned(), port };
            return Err(self.undo(self.failed("compute", error)));
        }
        let mut full = None;
        self.ports.outputs(&mut |output| match output.emission() {
            Emission::Nothing => {}
            Emission::Fits => changed = true,
            Emission::TooMuch => {
                // Its consumer may make room just now, and then there is no error.
                changed = true;
                full = full.take().or_else(|| output.full());
            }
        });
        if let Some(full) = full {
            return Err(self.undo(self.failed("compute", full)));
        }
        self.cx.count_tick();
        Ok(changed || inputs == 0)
    }

    /// Of a tick that failed nothing is sent.
    #[cold]
    fn undo(&mut self, error: Error) -> Error {
        let cancel = || self.ports.outputs(&mut |output| output.cancel());
        // If dropping a message panics, that has told itself; `error` came first.
        let _second = catch_unwind(AssertUnwindSafe(cancel));
        self.cx.count_tick();
        error
    }
}

impl<O: Operator> Node<O> {
    /// Calls a hook with the device bound, and closes what it queued however it ends.
    fn hook(
        &mut self,
        name: &'static str,
        call: impl FnOnce(&mut O, &mut O::Ports, &ExecutionContext) -> Result<()>,
    ) -> Result<()> {
        let Self { operator, ports, cx, .. } = self;
        // An error is large, and a hook runs in every tick: one that succeeds moves none.
        let error = match cx.enter(name) {
            Err(error) => Some(error),
            Ok(()) => {
                let called = catch_unwind(AssertUnwindSafe(|| call(operator, ports, cx)));
                let closed = cx.close();
                match called {
                    Ok(Ok(())) => closed.err(),
                    Ok(Err(error)) => Some(error),
                    Err(panic) => Some(Error::panicked(&*panic)),
                }
            }
        };
        cx.leave();
        match error {
            None => Ok(()),
            Some(error) => Err(self.failed(name, error)),
        }
    }

    /// The first of the awaited inputs' messages whose device data is not ready. From the first call on
    /// it is decided which messages the tick receives, so that none comes in between unawaited, and no
    /// queue's policy drops one for a later one for ever.
    fn unfinished(&mut self) -> Result<Option<Point>> {
        let Self { ports, awaited, cx, .. } = self;
        let (mut awaited, mut found) = (awaited.iter(), Ok(None));
        ports.inputs(&mut |input| {
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
    fn failed(&self, hook: &'static str, cause: Error) -> Error {
        let (node, tick) = (self.cx.node().to_owned(), self.cx.tick());
        Error::Operator { node, hook, tick, cause: Box::new(cause) }
    }
}

impl<O: Operator> fmt::Debug for Node<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("name", &self.cx.node()).field("operator", &O::NAME).finish()
    }
}
