//! A node: an operator with its ports, its context and its conditions. `runner.rs` has the part that does not depend
//! on the operator's type.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::{fmt, mem};

use super::again::Again;
use super::condition::Conditions;
use super::options::{NodeOptions, NodeStreams};
use super::readiness::{Progress, Readiness, Step};
use super::runner::{Hooks, NodeRunner};
use super::statistics::NodePaths;
use super::status::{NodeStatus, PortStatus};
use super::waits::Waits;
use super::{Compute, Operator};
use crate::context::{Activity, ExecutionContext, NodeCell, RunControl, Streams};
use crate::error::{Error, Failure, Result, caught_as_error};
use crate::message::{Handled, InputState};
use crate::param::NodeParams;
use crate::platform::{Platform, device};
use crate::port::{PortInfo, Ports, ReceivingEnd, SendingEnd};
use crate::stream::CudaStreamPool;
use crate::time::Timestamp;

/// An operator in a graph.
pub struct Node<O: Operator> {
    /// The operator.
    pub operator: O,
    /// Its ports.
    pub ports: O::Ports,
    params: NodeParams<O::Params>,
    /// Makes a fresh operator, for a node with `#[on_failure(restart(…))]`.
    again: Option<Again<O>>,
    runner: NodeRunner,
}

/// Lets a node make fresh operators.
#[must_use]
pub fn restarting<O: Operator>(mut node: Box<Node<O>>, again: Again<O>) -> Box<Node<O>> {
    node.again = Some(again);
    node
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
/// [`Error::CountZero`]; [`Error::ParamOutOfRange`]; the platform's, if it has no such device or can't make the streams.
pub(crate) fn node<O: Operator>(
    name: &str,
    operator: O,
    ports: O::Ports,
    platform: &Platform,
    options: NodeOptions<'_>,
) -> Result<Box<Node<O>>> {
    let graph_params = options.params;
    let names = Names { streams: O::STREAM_NAMES, inputs: O::INPUTS, outputs: O::OUTPUTS };
    let runner = runner(name, names, platform, options)?;
    let params = NodeParams::new(&operator, name, graph_params)?;
    Ok(Box::new(Node { operator, ports, params, again: None, runner }))
}

/// What an operator's type declares.
struct Names {
    streams: &'static [&'static str],
    inputs: &'static [PortInfo],
    outputs: &'static [PortInfo],
}

/// The part of [`node()`] that is compiled once, and not for each type of operator.
fn runner(
    name: &str,
    names: Names,
    platform: &Platform,
    options: NodeOptions<'_>,
) -> Result<NodeRunner> {
    if options.count == Some(0) {
        return Err(Error::CountZero { node: name.to_owned() });
    }
    let (streams, on) = match options.streams {
        NodeStreams::Pool(pool) if pool.is_default_stream() => (Streams::Default, pool.device()),
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
    let mut cx =
        ExecutionContext::new(platform, name, on, streams, names.streams, options.single_stream);
    if names.outputs.is_empty() {
        cx.set_silent();
    }
    // A tick of an operator without ports does its work outside of the graph, and one that a condition paces uses that up.
    let idle = match (names.inputs, names.outputs) {
        ([], []) => Progress::Changed,
        _ if is_paced(&options) => Progress::Changed,
        ([], _) => Progress::Empty,
        _ if runs_without_messages(&options) => Progress::Empty,
        _ => Progress::Unchanged,
    };
    let conditions = options.conditions.map(Box::new);
    Ok(NodeRunner::new(cx, options.count, conditions, idle, options.on_failure))
}

fn is_paced(options: &NodeOptions<'_>) -> bool {
    options.conditions.as_ref().is_some_and(Conditions::pace)
}

fn runs_without_messages(options: &NodeOptions<'_>) -> bool {
    options.conditions.as_ref().is_some_and(Conditions::runs_without_messages)
}

/// The node as schedulers see it. `graph!` names the operator's type in the call, so that rustc reports a missing
/// `compute` there.
pub fn any_node<O: Compute + Send + 'static>(node: &mut Node<O>) -> &mut dyn AnyNode {
    node
}

/// A node as schedulers see it.
pub trait AnyNode: Send {
    /// Its name in the graph.
    fn name(&self) -> &str;
    /// Its operator's name.
    fn operator(&self) -> &'static str;
    /// Runs a tick, if it is ready for one: calls `compute` and sends the messages that it emitted. If it waits for
    /// something outside of the graph, it adds that to `waits`. It begins no tick when the run is paused or ends, and
    /// none at the moment `until` or later. A panic of the operator goes on to the caller, who calls `panicked`.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick; [`Error::Unhandled`]; the driver's, when it queries how far a stream
    /// is. Then nothing was sent. They are in a box, since a small result returns in registers.
    fn step(&mut self, waits: &mut Waits, until: Option<Timestamp>) -> Result<Step, Box<Error>>;
    /// Ends a [`step`](Self::step) that has panicked with this error: after a panic of the operator or of a message, it
    /// does what `step` does after an error of the operator.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick; the panic as it is, if it has another cause.
    #[doc(hidden)]
    fn panicked(&mut self, panic: Box<Error>, waits: &mut Waits) -> Result<Step, Box<Error>> {
        let _ = waits;
        Err(panic)
    }
    /// Whether it has something to do, now or later, without any other node: it is a source that is not done, or it has
    /// the messages for a tick. A run ends when no node has.
    fn has_work(&mut self) -> bool;
    /// Keeps statistics in the run that begins now: numbers the node, as the origin of messages, and makes the
    /// histograms. `paths` are those that end here, if the node is a sink.
    fn keep_statistics(&mut self, number: NonZeroU32, paths: Option<&NodePaths>);
    /// What other threads see of it.
    fn cell(&self) -> &Arc<NodeCell>;
    /// Limits the ticks that it does in this run from now on, if it is a node without inputs; `None` ends that. Returns
    /// whether it is such a node.
    fn limit(&mut self, ticks: Option<u64>) -> bool;
    /// Checks the values of its conditions, when all edges are connected.
    ///
    /// # Errors
    /// [`Error::ImpossibleCondition`], for one that can never hold.
    fn bind_conditions(&mut self) -> Result<()>;
    /// Calls `start`. `run` controls the run of the whole graph.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick.
    fn start(&mut self, run: &Arc<RunControl>) -> Result<()>;
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

impl<O: Compute + Send + 'static> AnyNode for Node<O> {
    fn name(&self) -> &str {
        self.runner.cx.node()
    }

    fn operator(&self) -> &'static str {
        O::NAME
    }

    fn step(&mut self, waits: &mut Waits, until: Option<Timestamp>) -> Result<Step, Box<Error>> {
        if !self.runner.is_plain() || until.is_some() {
            return self.step_with_extras(waits, until);
        }
        // What `step_with_extras` does, without what few nodes have.
        let idle = if self.runner.is_done() {
            Activity::Done
        } else if !self.can_run() {
            Activity::Blocked
        } else if !self.runner.cx.permits_ticks() {
            return Ok(Step::Interrupted);
        } else {
            let (runner, mut hooks) = self.split();
            return match runner.tick_plain(&mut hooks) {
                Ok(Progress::Changed) => Ok(Step::Changed),
                done => self.end_unusual(done, waits),
            };
        };
        self.runner.cx.show(idle);
        Ok(Step::Nothing)
    }

    fn panicked(&mut self, panic: Box<Error>, waits: &mut Waits) -> Result<Step, Box<Error>> {
        let (runner, mut hooks) = self.split();
        let progress = runner.panicked(&mut hooks, panic)?;
        self.stepped(progress, waits)
    }

    fn has_work(&mut self) -> bool {
        !self.runner.is_done()
            && match self.messages() {
                InputState::Present => true,
                InputState::Absent => self.runner.has_own_end(),
                InputState::Missing => false,
            }
    }

    fn bind_conditions(&mut self) -> Result<()> {
        if !self.runner.has_conditions() {
            return Ok(());
        }
        let (inputs, outputs) = self.port_statuses();
        self.runner.bind_conditions(&inputs, &outputs)
    }

    fn keep_statistics(&mut self, number: NonZeroU32, paths: Option<&NodePaths>) {
        self.runner.keep_statistics(number, paths);
    }

    fn cell(&self) -> &Arc<NodeCell> {
        self.runner.cx.cell()
    }

    fn limit(&mut self, ticks: Option<u64>) -> bool {
        if O::INPUTS.is_empty() {
            self.runner.limit(ticks);
        }
        O::INPUTS.is_empty()
    }

    fn start(&mut self, run: &Arc<RunControl>) -> Result<()> {
        let (runner, mut hooks) = self.split();
        runner.start(&mut hooks, run)
    }

    fn status(&mut self) -> NodeStatus {
        let (inputs, outputs) = self.port_statuses();
        self.runner.status(inputs, outputs, self.params.changes())
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
    /// Whether it can run now. If it waits for something outside of the graph, it adds that to `waits`.
    #[inline]
    pub(crate) fn readiness(&mut self, waits: &mut Waits) -> Result<Readiness, Box<Error>> {
        if self.runner.is_done() {
            return Ok(Readiness::Done);
        }
        if !self.can_run() {
            self.runner.set_lacking(0);
            return Ok(Readiness::Blocked);
        }
        if self.runner.is_plain() { Ok(Readiness::Ready) } else { self.is_let(waits) }
    }

    /// As `step`, for all nodes and runs.
    #[inline(never)]
    fn step_with_extras(
        &mut self,
        waits: &mut Waits,
        until: Option<Timestamp>,
    ) -> Result<Step, Box<Error>> {
        let idle = match self.readiness(waits)? {
            Readiness::Ready => None,
            Readiness::Waiting => Some(Activity::Waiting),
            Readiness::Blocked => Some(Activity::Blocked),
            Readiness::Done => Some(Activity::Done),
        };
        if let Some(activity) = idle {
            self.runner.show_idle(activity);
            return Ok(Step::Nothing);
        }
        if !self.runner.cx.permits_ticks() {
            return Ok(Step::Interrupted);
        }
        if let Some(end) = until
            && self.runner.cx.now() >= end
        {
            return Ok(Step::TimeOver);
        }
        let (runner, mut hooks) = self.split();
        let progress = runner.tick_with_extras(&mut hooks)?;
        self.stepped(progress, waits)
    }

    /// Ends a tick without extras that has failed, or that changed nothing.
    #[inline(never)]
    fn end_unusual(
        &mut self,
        done: Result<Progress, Box<Error>>,
        waits: &mut Waits,
    ) -> Result<Step, Box<Error>> {
        if matches!(done, Ok(Progress::Unchanged)) {
            return Ok(Step::Nothing);
        }
        let (runner, mut hooks) = self.split();
        let progress = runner.end_unusual(&mut hooks, done)?;
        self.stepped(progress, waits)
    }

    /// Whether a node with messages and room can run now: an earlier tick and the conditions decide.
    #[inline(never)]
    fn is_let(&mut self, waits: &mut Waits) -> Result<Readiness, Box<Error>> {
        self.runner.set_lacking(0);
        if let Some(due) = self.runner.poll_due()
            && (O::INPUTS.is_empty() || self.messages() == InputState::Absent)
            && self.runner.cx.now() < due
        {
            waits.until(due);
            return Ok(Readiness::Waiting);
        }
        if self.runner.has_failed() {
            let (runner, mut hooks) = self.split();
            if !runner.recover(&mut hooks, waits)? {
                return Ok(Readiness::Waiting);
            }
        }
        if !self.runner.has_conditions() {
            return Ok(Readiness::Ready);
        }
        self.runner.check_conditions(&mut self.ports, waits)
    }

    /// Calls `compute`. The messages that it emitted stay in the outputs, unless the tick failed.
    pub(crate) fn tick_unpublished(&mut self) -> Result<()> {
        let (runner, mut hooks) = self.split();
        runner.tick_unpublished(&mut hooks)
    }

    /// The handle that sets the operator's parameters.
    pub(crate) fn params(&self) -> &O::Params {
        self.params.handle()
    }

    /// Drops the messages that were emitted and not published.
    pub(crate) fn cancel(&mut self) -> Result<()> {
        let (runner, mut hooks) = self.split();
        runner.cancel(&mut hooks)
    }

    /// Whether the inputs have the messages that the operator needs, and the outputs have room.
    fn can_run(&mut self) -> bool {
        let mut room = true;
        self.ports.outputs(&mut |output| room &= output.has_room());
        room && self.has_messages()
    }

    fn has_messages(&mut self) -> bool {
        match self.messages() {
            InputState::Present => true,
            InputState::Absent => self.runner.runs_without_messages(),
            InputState::Missing => false,
        }
    }

    /// The inputs and the outputs. It allocates.
    fn port_statuses(&mut self) -> (Vec<PortStatus>, Vec<PortStatus>) {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        self.ports.inputs(&mut |input| {
            let (name, optional, edges) = (input.name(), input.is_optional(), input.edges());
            inputs.push(PortStatus { name, optional, has_emitted: false, edges });
        });
        self.ports.outputs(&mut |output| {
            let (name, edges) = (output.name(), output.edges());
            let has_emitted = output.has_emitted();
            outputs.push(PortStatus { name, optional: false, has_emitted, edges });
        });
        (inputs, outputs)
    }

    /// Whether the inputs have the messages that the operator needs. An operator with optional inputs alone runs for any
    /// message. Without a message it would run for ever, unless a condition says when it runs.
    fn messages(&mut self) -> InputState {
        let mut state = if O::INPUTS.is_empty() { InputState::Present } else { InputState::Absent };
        self.ports.inputs(&mut |input| state = state.max(input.state()));
        state
    }

    #[inline]
    fn stepped(&mut self, progress: Progress, waits: &mut Waits) -> Result<Step, Box<Error>> {
        match progress {
            Progress::Changed => Ok(Step::Changed),
            Progress::Unchanged => Ok(Step::Nothing),
            Progress::Empty => self.was_empty(waits),
        }
    }

    /// A tick had nothing to send. What the node waits for now belongs to this pass.
    #[inline(never)]
    fn was_empty(&mut self, waits: &mut Waits) -> Result<Step, Box<Error>> {
        if self.readiness(waits)? == Readiness::Ready {
            waits.at_once();
        }
        Ok(Step::Nothing)
    }

    fn split(&mut self) -> (&mut NodeRunner, Parts<'_, O>) {
        let Self { operator, ports, params, again, runner } = self;
        (runner, Parts { operator, ports, params, again })
    }
}

/// The part of a node that depends on its operator's type.
struct Parts<'a, O: Operator> {
    operator: &'a mut O,
    ports: &'a mut O::Ports,
    params: &'a NodeParams<O::Params>,
    again: &'a mut Option<Again<O>>,
}

impl<O: Compute> Hooks for Parts<'_, O> {
    fn begin_run(&mut self) -> Result<(), Failure> {
        self.ports.outputs(&mut |output| output.begin_run());
        Ok(self.params.begin_run(self.operator)?)
    }

    fn replace(&mut self) -> Result<(), Failure> {
        let Some(again) = self.again else { return Ok(()) };
        let mut fresh = again()?;
        self.params.restore(&mut fresh);
        let failed = mem::replace(self.operator, fresh);
        // The operator has been stopped. A panic of its `Drop` has been printed, and the fresh one is not concerned.
        let _panicked = caught_as_error(|| drop(failed));
        Ok(())
    }

    fn start(&mut self, cx: &ExecutionContext) -> Result<(), Failure> {
        self.operator.start(O::__stream_names(cx), cx)
    }

    #[inline(always)]
    fn compute(&mut self, cx: &ExecutionContext) -> Result<(), Failure> {
        self.params.take_over(self.operator, cx.tick());
        self.operator.compute(O::__io(self.ports, cx), cx)
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<(), Failure> {
        self.operator.stop(cx)
    }

    #[inline(always)]
    fn finish(&mut self) -> Handled {
        let mut handled = Handled::Left;
        self.ports.inputs(&mut |input| handled = handled.max(input.finish()));
        handled
    }

    #[inline(always)]
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
