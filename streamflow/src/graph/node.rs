//! A node: an operator, its ports, its context, and when it runs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::context::{ExecutionContext, Streams};
use crate::error::{Error, Result};
use crate::operator::{Compute, Operator};
use crate::platform::{Platform, device};
use crate::port::{Handled, Ports};
use crate::stream::{CudaStreamPool, Point, StreamPool};

/// Where a node's streams come from.
#[derive(Debug, Clone, Copy)]
pub enum NodeStreams<'a> {
    /// `#[streams(POOL)]`.
    Pool(&'a StreamPool),
    /// Nothing was said: a pool of its own without a maximum, on device 0. Its streams are made when
    /// they are asked for, so an operator of host data has none.
    Default,
    /// Nothing was said, and the graph has a default green context: a pool of its own that is described
    /// so.
    Own(&'a CudaStreamPool),
    /// `#[streams(none)]`: the stream of the first message that it receives.
    None,
}

/// What `graph!` says about a node beside its operator.
#[derive(Debug, Clone, Copy)]
pub struct NodeOptions<'a> {
    /// Where its streams come from.
    pub streams: NodeStreams<'a>,
    /// `#[when(count(n))]`: how often it runs.
    pub count: Option<u64>,
    /// `#[when(stream_done(port))]`: the inputs whose streams must be done before it runs.
    pub stream_done: &'static [&'static str],
    /// Whether the graph has but one stream, so that no other ever needs an event.
    pub alone: bool,
}

/// Whether a node can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It can as soon as the device has got this far.
    AfterStream(Point),
    /// A message is missing, or room for one.
    Blocked,
    /// It will not run again.
    Done,
}

/// An operator within a graph.
pub struct Node<O: Operator> {
    /// The operator.
    pub operator: O,
    /// Its ports.
    pub ports: O::Ports,
    cx: ExecutionContext,
    count: Option<u64>,
    stream_done: &'static [&'static str],
    alone: bool,
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
    Ok(Node {
        operator,
        ports,
        cx: ExecutionContext::new(platform, name, on, streams, O::STREAM_NAMES.len()),
        count: options.count,
        stream_done: options.stream_done,
        alone: options.alone,
        started: false,
    })
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
    /// The inputs in front of which messages wait.
    fn waiting(&mut self) -> Vec<&'static str>;
    /// Calls `stop` if `start` was called, and drops all messages that wait.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick.
    fn stop(&mut self) -> Result<()>;
    /// Blocks until all work of its streams is complete.
    ///
    /// # Errors
    /// The driver's; an error of earlier work is reported here.
    fn synchronize_blocking(&self) -> Result<()>;
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
        let mut all_required = true;
        let mut inputs = 0;
        let mut waiting = 0;
        let mut required = 0;
        let mut points: Option<Point> = None;
        let mut failed = None;
        let (platform, stream_done) = (self.cx.platform(), self.stream_done);
        self.ports.inputs(&mut |input| {
            inputs += 1;
            required += usize::from(!input.is_optional());
            if !input.has_message() {
                all_required &= input.is_optional();
                return;
            }
            waiting += 1;
            if points.is_none()
                && stream_done.contains(&input.name())
                && let Some(point) = input.sent()
            {
                match platform.is_complete(point) {
                    Ok(true) => {}
                    Ok(false) => points = Some(point),
                    Err(error) => failed = Some(error),
                }
            }
        });
        if let Some(error) = failed {
            return Err(self.failed("readiness", error));
        }
        // With optional inputs alone it runs for any message, since it would run for ever for none.
        if !all_required || (inputs > 0 && required == 0 && waiting == 0) {
            return Ok(Readiness::Blocked);
        }
        let mut room = true;
        self.ports.outputs(&mut |output| room &= output.has_room());
        Ok(match points {
            _ if !room => Readiness::Blocked,
            Some(point) => Readiness::AfterStream(point),
            None => Readiness::Ready,
        })
    }

    fn start(&mut self, stop: &Arc<AtomicBool>) -> Result<()> {
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
        self.ports.inputs(&mut |input| waiting.extend(input.has_message().then(|| input.name())));
        waiting
    }

    fn stop(&mut self) -> Result<()> {
        let done = if std::mem::take(&mut self.started) {
            self.hook("stop", |operator, _, cx| operator.stop(cx))
        } else {
            Ok(())
        };
        self.ports.inputs(&mut |input| input.clear());
        done
    }

    fn synchronize_blocking(&self) -> Result<()> {
        self.cx.synchronize_blocking().map_err(|error| self.failed("synchronize", error))
    }
}

impl<O: Compute> Node<O> {
    /// Calls `compute`. What it emitted stays in the outputs; of a tick that failed, nothing does.
    /// Whether it changed anything.
    pub(crate) fn tick_unpublished(&mut self) -> Result<bool> {
        self.ports.outputs(&mut |output| output.cancel());
        let mut done = self.hook("compute", |operator, ports, cx| {
            let io = O::__io(ports, cx);
            operator.compute(io, cx)
        });
        let mut untouched = None;
        // An operator without inputs makes messages, so it is never asked whether it changed something.
        let (mut inputs, mut changed) = (0, self.cx.is_finished());
        self.ports.inputs(&mut |input| {
            inputs += 1;
            match input.finish() {
                Handled::Taken => changed = true,
                Handled::Left => {}
                Handled::Untouched if input.is_optional() => {}
                Handled::Untouched => untouched = untouched.or(Some(input.name())),
            }
        });
        if let (Ok(()), Some(port)) = (&done, untouched) {
            let error = Error::Unhandled { node: self.cx.node().to_owned(), port };
            done = Err(self.failed("compute", error));
        }
        match &done {
            Ok(()) => self.ports.outputs(&mut |output| changed |= output.has_pending()),
            Err(_) => self.ports.outputs(&mut |output| output.cancel()),
        }
        self.cx.count_tick();
        done.map(|()| changed || inputs == 0)
    }
}

impl<O: Operator> Node<O> {
    /// Calls a hook with the device bound, and closes what it queued however it ends.
    fn hook(
        &mut self,
        name: &'static str,
        call: impl FnOnce(&mut O, &mut O::Ports, &ExecutionContext) -> Result<()>,
    ) -> Result<()> {
        let Self { operator, ports, cx, alone, .. } = self;
        let done = cx.enter(name).and_then(|()| {
            let called = catch_unwind(AssertUnwindSafe(|| call(operator, ports, cx)));
            let result = called.unwrap_or_else(|panic| Err(Error::panicked(&*panic)));
            let closed = cx.close(*alone);
            result.and(closed)
        });
        cx.leave();
        done.map_err(|error| self.failed(name, error))
    }

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
