//! A node: an operator with its ports, its context and its conditions. `runner.rs` has the part that does not depend
//! on the operator's type.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::options::{NodeOptions, NodeStreams, Readiness};
use super::runner::{HookResult, Hooks, NodeRunner};
use super::status::{NodeStatus, PortStatus};
use super::{Compute, Operator};
use crate::context::{ExecutionContext, Streams};
use crate::error::{Error, Result};
use crate::message::{Handled, InputState};
use crate::platform::{Platform, device};
use crate::port::{PortInfo, Ports, ReceivingEnd, SendingEnd};
use crate::stream::CudaStreamPool;

/// An operator in a graph.
pub struct Node<O: Operator> {
    /// The operator.
    pub operator: O,
    /// Its ports.
    pub ports: O::Ports,
    runner: NodeRunner,
}

/// Calls a function in a stack frame of its own, so that its variables don't enlarge the caller's frame.
#[inline(never)]
pub fn apart<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// Makes a node of an operator and its ports, connected or not. It is in a box, so that the stack holds its address
/// only.
///
/// # Errors
/// [`Error::CountZero`]; the platform's, if it has no such device or can't make the streams.
pub(crate) fn node<O: Operator>(
    name: &str,
    operator: O,
    ports: O::Ports,
    platform: &Platform,
    options: NodeOptions<'_>,
) -> Result<Box<Node<O>>> {
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
    let cx =
        ExecutionContext::new(platform, name, on, streams, O::STREAM_NAMES, options.single_stream);
    let runner = NodeRunner::new(cx, options.count, awaited);
    Ok(Box::new(Node { operator, ports, runner }))
}

/// The node as schedulers see it. `graph!` names the operator's type in the call, so that rustc reports a missing
/// `compute` there.
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
    /// The driver's, when it queries how far a stream is.
    fn readiness(&mut self) -> Result<Readiness>;
    /// Calls `start`. `stop` is the flag that ends the run of the whole graph.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick.
    fn start(&mut self, stop: &Arc<AtomicBool>) -> Result<()>;
    /// Calls `compute` and sends the messages that it emitted. `false` if the tick changed nothing: it took no
    /// message and sent none, so the next tick would do the same.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick; [`Error::Unhandled`]. Then nothing was sent.
    fn tick(&mut self) -> Result<bool>;
    /// What the node is doing, for reports. It allocates.
    fn status(&mut self) -> NodeStatus;
    /// Calls `stop` if `start` was called, and drops all waiting messages.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick.
    fn stop(&mut self) -> Result<()>;
    /// Blocks until all work is complete on its streams, and on those that copy its messages to other devices.
    ///
    /// # Errors
    /// The driver's; an error of earlier work is reported here.
    fn synchronize_blocking(&mut self) -> Result<()>;
}

impl<O: Compute> AnyNode for Node<O> {
    fn name(&self) -> &str {
        self.runner.cx.node()
    }

    fn operator(&self) -> &'static str {
        O::NAME
    }

    fn readiness(&mut self) -> Result<Readiness> {
        if self.runner.is_done() {
            return Ok(Readiness::Done);
        }
        if !self.can_run() {
            return Ok(Readiness::Blocked);
        }
        if !self.runner.awaits_streams() {
            return Ok(Readiness::Ready);
        }
        let (runner, mut hooks) = self.split();
        runner.stream_readiness(&mut hooks)
    }

    fn start(&mut self, stop: &Arc<AtomicBool>) -> Result<()> {
        let (runner, mut hooks) = self.split();
        runner.start(&mut hooks, stop)
    }

    fn tick(&mut self) -> Result<bool> {
        let (runner, mut hooks) = self.split();
        runner.tick(&mut hooks)
    }

    fn status(&mut self) -> NodeStatus {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        self.ports.inputs(&mut |input| {
            let (name, optional, edges) = (input.name(), input.is_optional(), input.edges());
            inputs.push(PortStatus { name, optional, edges });
        });
        self.ports.outputs(&mut |output| {
            let (name, edges) = (output.name(), output.edges());
            outputs.push(PortStatus { name, optional: false, edges });
        });
        self.runner.status(inputs, outputs)
    }

    fn stop(&mut self) -> Result<()> {
        let (runner, mut hooks) = self.split();
        runner.stop(&mut hooks)
    }

    fn synchronize_blocking(&mut self) -> Result<()> {
        let (runner, mut hooks) = self.split();
        runner.synchronize_blocking(&mut hooks)
    }
}

impl<O: Compute> Node<O> {
    /// Calls `compute`. The messages that it emitted stay in the outputs, unless the tick failed.
    pub(crate) fn tick_unpublished(&mut self) -> Result<()> {
        let (runner, mut hooks) = self.split();
        runner.tick_unpublished(&mut hooks)
    }

    /// Drops the messages that were emitted and not published.
    pub(crate) fn cancel(&mut self) -> Result<()> {
        let (runner, mut hooks) = self.split();
        runner.cancel(&mut hooks)
    }

    /// Whether the inputs have the messages that the operator needs, and the outputs have room.
    fn can_run(&mut self) -> bool {
        // An operator with optional inputs alone runs for any message. Without a message it would run for ever.
        let mut state = if O::INPUTS.is_empty() { InputState::Present } else { InputState::Absent };
        self.ports.inputs(&mut |input| state = state.max(input.state()));
        let mut room = true;
        self.ports.outputs(&mut |output| room &= output.has_room());
        state == InputState::Present && room
    }

    fn split(&mut self) -> (&mut NodeRunner, Parts<'_, O>) {
        let Self { operator, ports, runner } = self;
        (runner, Parts { operator, ports })
    }
}

/// The part of a node that depends on its operator's type.
struct Parts<'a, O: Operator> {
    operator: &'a mut O,
    ports: &'a mut O::Ports,
}

impl<O: Compute> Hooks for Parts<'_, O> {
    fn start(&mut self, cx: &ExecutionContext) -> HookResult {
        self.operator.start(O::__stream_names(cx), cx).map_err(Box::new)
    }

    fn compute(&mut self, cx: &ExecutionContext) -> HookResult {
        self.operator.compute(O::__io(self.ports, cx), cx).map_err(Box::new)
    }

    fn stop(&mut self, cx: &ExecutionContext) -> HookResult {
        self.operator.stop(cx).map_err(Box::new)
    }

    fn finish(&mut self) -> Handled {
        let mut handled = if O::INPUTS.is_empty() { Handled::Taken } else { Handled::Left };
        self.ports.inputs(&mut |input| handled = handled.max(input.finish()));
        handled
    }

    fn publish(&mut self) -> bool {
        let mut emitted = false;
        self.ports.outputs(&mut |output| emitted |= output.publish());
        emitted
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn ReceivingEnd)) {
        self.ports.inputs(visit);
    }

    fn outputs(&mut self, visit: &mut dyn FnMut(&mut dyn SendingEnd)) {
        self.ports.outputs(visit);
    }
}

impl<O: Operator> fmt::Debug for Node<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("name", &self.runner.cx.node())
            .field("operator", &O::NAME)
            .finish()
    }
}
