//! A node: an operator with its ports, its context and its conditions. `runner.rs` has the part of the node that does not depend
//! on the operator's type.
//!
//! Nodes, contexts, ports and edges have the fields that a tick uses first, from the start of a cache line, and the slot of an
//! edge of capacity 1 is next to its counts. For a task of a chain of 500 this saves 8.6 of 30 misses of a cache of 32 KiB and
//! 8.7 of 11.5 misses of a cache of 1 MiB, counted by cachegrind on `overhead -- chains`.

mod make;

use std::any::Any;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::{fmt, mem};

pub(crate) use make::node;
use make::{Names, facts};

use super::any_node::AnyNode;
use super::factory::OperatorFactory;
use super::facts::NodeFacts;
use super::readiness::{Progress, Readiness, Step};
use super::runner::{Hooks, NodeRunner, Work};
use super::statistics::NodePaths;
use super::status::NodeStatus;
use super::waits::Waits;
use super::{Compute, Flushed, Operator, visits};
use crate::context::{ExecutionContext, NodeCell, Planned, RunControl};
use crate::error::{Error, Failure, Result, caught_as_error};
use crate::message::{Handled, InputState};
use crate::param::{NodeParams, OperatorParams, ParamChanges};
use crate::port::Ports;
use crate::stream::Assign;
use crate::time::Timestamp;

/// A node: an operator in a graph.
// The fields are in this order, from the start of a cache line, so that the ports and the start of the runner, which each tick
// uses, are close together in memory.
#[repr(C, align(64))]
pub struct Node<O: Operator> {
    /// The operator and its ports.
    pub parts: Parts<O>,
    runner: NodeRunner,
}

/// The part of a node that depends on its operator's type.
#[repr(C)]
pub struct Parts<O: Operator> {
    /// The operator's ports.
    pub ports: O::Ports,
    /// The operator.
    pub operator: O,
    params: NodeParams<O::Params>,
}

impl<O: Operator + 'static> Node<O> {
    /// Sets the closure by which the node makes fresh operators, for `#[on_failure(restart(…))]`.
    pub(super) fn restart_by(&mut self, mut again: OperatorFactory<O>) {
        self.runner.set_replacement(Box::new(move |parts| {
            let Some(parts) = parts.downcast_mut::<Parts<O>>() else {
                return Err(Failure::msg("the operator has another type"));
            };
            let mut fresh = again()?;
            parts.params.restore(&mut fresh);
            let failed = mem::replace(&mut parts.operator, fresh);
            // The failed operator was stopped before. If its `Drop` panics, the panic is printed, and the fresh operator runs
            // nevertheless.
            let _panicked = caught_as_error(|| drop(failed));
            Ok(())
        }));
    }
}

/// Returns the error for a graph that could not be made, because one of its nodes could not.
#[must_use]
pub fn not_made(failed: Option<Error>) -> Error {
    failed.unwrap_or_else(|| Error::Other(Failure::msg("a node was not made, without an error")))
}

/// Calls a function that is not inlined, so that its variables don't enlarge the caller's stack frame.
#[inline(never)]
pub fn in_own_frame<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// Evaluates an expression of the user's code, which the macros write as the body of the closure `expression`.
///
/// # Errors
/// The errors of the expression.
#[inline]
pub fn evaluate<R>(
    expression: impl FnOnce() -> std::result::Result<R, Failure>,
) -> std::result::Result<R, Failure> {
    expression()
}

impl<O: Compute + Send + 'static> AnyNode for Node<O> {
    fn name(&self) -> &str {
        self.runner.cx.node()
    }

    fn operator(&self) -> &'static str {
        O::NAME
    }

    fn worker(&self) -> Option<&'static str> {
        self.runner.worker()
    }

    fn stays(&self) -> bool {
        O::STAYS
    }

    fn step(&mut self, waits: &mut Waits, until: Option<Timestamp>) -> Result<Step, Box<Error>> {
        let Self { parts, runner } = self;
        let done = caught_as_error(|| runner.step(parts, waits, until));
        done.unwrap_or_else(|panic| runner.end_panicked_step(parts, panic, waits))
    }

    fn has_work(&mut self) -> bool {
        self.runner.has_work(&mut self.parts)
    }

    fn begin_flush(&mut self, keep: &[usize]) {
        self.parts.ports.inputs(&mut |input| input.keep(keep));
        self.runner.begin_flush();
    }

    fn give_way(&mut self, edges: &[usize]) {
        self.parts.ports.inputs(&mut |input| input.give_way(edges));
    }

    fn bind_conditions(&mut self) -> Result<()> {
        self.runner.bind_conditions(&mut self.parts)
    }

    fn assign(&self) -> Option<Assign> {
        self.runner.cx.pool()?.assign()
    }

    fn facts(&mut self) -> Option<NodeFacts> {
        let declared = Names { streams: O::STREAM_NAMES, inputs: O::INPUTS, outputs: O::OUTPUTS };
        Some(facts(&self.runner, &mut self.parts.ports, O::NAME, O::STREAMS, &declared))
    }

    fn set_planned(&mut self, planned: Planned) {
        self.runner.cx.set_planned(planned);
    }

    fn set_number(&mut self, number: NonZeroU32) {
        self.begin_run();
        self.runner.cx.set_number(number);
    }

    fn keep_statistics(&mut self, paths: Option<&NodePaths>) {
        self.runner.keep_statistics(paths);
    }

    fn pairs(&self) -> Option<&'static str> {
        self.runner.pairs()
    }

    fn compare(&mut self, inputs: &[bool]) {
        let mut compares = inputs.iter();
        self.parts.ports.inputs(&mut |input| input.compare(compares.next() == Some(&true)));
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
        self.runner.start(&mut self.parts, run)
    }

    fn status(&mut self) -> NodeStatus {
        self.runner.status(&mut self.parts)
    }

    fn stop(&mut self) -> Result<()> {
        self.runner.stop(&mut self.parts)
    }

    fn synchronize_blocking(&mut self) -> Result<()> {
        self.runner.synchronize_blocking(&mut self.parts)
    }
}

impl<O: Compute + Send + 'static> Node<O> {
    /// Begins a run: resets all counts.
    pub(crate) fn begin_run(&mut self) {
        self.runner.begin_run(&mut self.parts);
    }

    /// Returns whether the node can run now. If it waits for an event outside of the graph, adds the event to `waits`.
    pub(crate) fn readiness(&mut self, waits: &mut Waits) -> Result<Readiness, Box<Error>> {
        self.runner.readiness(&mut self.parts, waits)
    }

    /// Calls `compute` in a tick. The messages that it emits stay in the outputs and are not sent; after a failed tick they are
    /// dropped.
    pub(crate) fn tick_unpublished(&mut self) -> Result<()> {
        self.runner.tick_unpublished(&mut self.parts)
    }

    /// Calls `flush` in a tick, unless the flush is over. The emitted messages stay in the outputs; after a failed tick they are
    /// dropped.
    pub(crate) fn flush_unpublished(&mut self) -> Result<Flushed> {
        self.runner.flush_unpublished(&mut self.parts)
    }

    /// Returns whether `flush` was called in this run. If so, no further tick of the run calls `compute`.
    pub(crate) fn has_begun_flush(&self) -> bool {
        self.runner.has_begun_flush()
    }

    /// Returns the handle that sets the operator's parameters.
    pub(crate) fn params(&self) -> &O::Params {
        self.parts.params.handle()
    }

    /// Drops the messages that were emitted and not sent.
    pub(crate) fn cancel(&mut self) -> Result<()> {
        self.runner.cancel(&mut self.parts)
    }
}

impl<O: Compute + 'static> Parts<O> {
    /// Checks, after a hook, that the hook has not assigned a value to a parameter's field.
    fn check_params(&mut self) -> Result<(), Failure> {
        // Without this condition, code without effect would be compiled for each type of operator that has no parameters.
        if O::Params::ANY {
            self.params.check_unassigned(&mut self.operator)?;
        }
        Ok(())
    }
}

impl<O: Compute + 'static> Hooks for Parts<O> {
    fn begin_run(&mut self) -> Result<()> {
        self.params.begin_run(&mut self.operator)
    }

    fn start(&mut self, cx: &ExecutionContext) -> Result<(), Failure> {
        self.operator.start(O::__streamflow_stream_names(cx), cx)?;
        self.check_params()
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<(), Failure> {
        self.operator.stop(cx)?;
        self.check_params()
    }

    #[inline(always)]
    fn has_room(&mut self) -> bool {
        let mut room = true;
        self.ports.outputs(&mut visits::room(&mut room));
        room
    }

    #[inline(always)]
    fn messages(&mut self) -> InputState {
        let mut state = if O::INPUTS.is_empty() { InputState::Present } else { InputState::Absent };
        self.ports.inputs(&mut visits::state(&mut state));
        state
    }

    fn tick(&mut self, runner: &mut NodeRunner, publish: bool) -> Result<Progress, Box<Error>> {
        runner.tick(self, publish)
    }

    fn ports(&mut self) -> &mut dyn Ports {
        &mut self.ports
    }

    fn flushes(&self) -> bool {
        O::FLUSHES
    }

    fn flush(&mut self, is_first: bool, cx: &ExecutionContext) -> Result<Flushed, Failure> {
        self.params.take_over(&mut self.operator, cx.tick())?;
        let flushed = self.operator.__streamflow_flush(&mut self.ports, is_first, cx)?;
        self.check_params()?;
        Ok(flushed)
    }

    fn has_inputs(&self) -> bool {
        !O::INPUTS.is_empty()
    }

    fn changes(&self) -> ParamChanges {
        self.params.changes()
    }

    fn any(&mut self) -> &mut dyn Any {
        self
    }
}

impl<O: Compute + 'static> Work for Parts<O> {
    #[inline(always)]
    fn compute(&mut self, cx: &ExecutionContext) -> Result<(), Failure> {
        self.params.take_over(&mut self.operator, cx.tick())?;
        let computed = self.operator.compute(O::__streamflow_io(&mut self.ports, cx), cx);
        if O::Params::ANY && computed.is_ok() && self.params.take_first() {
            return self.check_params();
        }
        computed
    }

    #[inline(always)]
    fn finish(&mut self) -> Handled {
        let mut handled = Handled::Left;
        self.ports.inputs(&mut visits::finish(&mut handled));
        handled
    }

    #[inline(always)]
    fn publish(&mut self) -> bool {
        let mut emitted = false;
        self.ports.outputs(&mut visits::publish(&mut emitted));
        emitted
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
