//! All parameters of a node.

use std::sync::Arc;
use std::{mem, vec};

use super::Param;
use super::cell::{AnyParam, New, ParamCell};
use super::graph::{GraphParams, NoParams};
use super::limits::Limits;
use super::log::{ParamChange, ParamChanges};
use super::state::NodeState;
use crate::error::Result;
use crate::lock::locked;
use crate::turns;

/// The parameters of an operator `O`, as its handle: `#[operator]` writes it.
pub trait OperatorParams<O>: Clone + Send + Sync + 'static {
    /// Whether the operator has parameters.
    const ANY: bool = true;
    /// Makes the parameters from the operator's fields.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`](crate::Error::ParamOutOfRange).
    fn of_operator(operator: &O, maker: &mut ParamMaker) -> Result<Self>;
    /// Makes the parameters of a node, and adds them to those of its graph.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`](crate::Error::ParamOutOfRange).
    #[doc(hidden)]
    fn of_node(operator: &O, node: &str, graph: &GraphParams) -> Result<NodeParams<Self>> {
        let mut maker = ParamMaker::new(node);
        let handle = Self::of_operator(operator, &mut maker)?;
        let state = maker.state;
        graph.add(state.clone(), handle.clone(), maker.params);
        Ok(NodeParams { handle, state: Some(state), is_first: true })
    }
    /// Passes each parameter to `exchange`, with its field.
    fn each(&self, operator: &mut O, exchange: &mut Exchange<'_>);
}

impl<O> OperatorParams<O> for NoParams {
    const ANY: bool = false;

    fn of_operator(_: &O, _: &mut ParamMaker) -> Result<Self> {
        Ok(Self)
    }

    fn of_node(_: &O, _: &str, _: &GraphParams) -> Result<NodeParams<Self>> {
        Ok(NodeParams { handle: Self, state: None, is_first: true })
    }

    fn each(&self, _: &mut O, _: &mut Exchange<'_>) {}
}

/// Makes the parameters of a node.
pub struct ParamMaker {
    state: Arc<NodeState>,
    params: Vec<Arc<dyn AnyParam>>,
}

impl ParamMaker {
    fn new(node: &str) -> Self {
        Self { state: Arc::new(NodeState::new(node)), params: Vec::new() }
    }

    /// Makes the next parameter, from its name and its field.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`](crate::Error::ParamOutOfRange).
    pub fn make<T: Param>(
        &mut self,
        name: &'static str,
        value: &T,
        limits: Option<Limits<T>>,
    ) -> Result<ParamCell<T>> {
        let cell = ParamCell::new(&self.state, name, value, limits)?;
        self.params.push(cell.erase());
        Ok(cell)
    }
}

/// A visitor of an operator's parameters: does a task for each parameter and its field.
pub struct Exchange<'a> {
    task: Task<'a>,
    /// The first error.
    done: Result<()>,
}

enum Task<'a> {
    /// Find the values that were set: an entry for each parameter.
    Find { found: &'a mut Vec<Option<New>> },
    /// Take over the values that were found, in this tick.
    TakeOver { state: &'a NodeState, tick: u64, found: vec::IntoIter<Option<New>> },
    /// Make each value equal to its field: a program may have changed the field between runs.
    Follow,
    /// Copy each value into its field, of a fresh operator.
    Restore,
    /// Check that no hook has assigned a field.
    Check,
}

impl Exchange<'_> {
    /// Performs the action on a parameter and its field.
    pub fn param<T: Send + Sync + 'static>(&mut self, cell: &ParamCell<T>, field: &mut T) {
        match &mut self.task {
            Task::Find { found } => found.push(cell.new_value()),
            Task::TakeOver { state, tick, found } => {
                let new = found.next().flatten();
                if let Some((parameter, value)) = new.and_then(|new| cell.take_over(new, field)) {
                    let node = state.node.clone();
                    let change = ParamChange { node, parameter, tick: *tick, value };
                    locked(&state.changes).push(change);
                }
            }
            Task::Follow if self.done.is_ok() => self.done = cell.follow(field),
            Task::Follow => {}
            Task::Restore => cell.restore(field),
            Task::Check if self.done.is_ok() => self.done = cell.check_unassigned(field),
            Task::Check => {}
        }
    }
}

/// The parameters of a node, for the node itself.
pub struct NodeParams<P> {
    handle: P,
    /// `None` if there are no parameters.
    state: Option<Arc<NodeState>>,
    /// Whether no tick has succeeded yet, in this run or since a fresh operator took the place of a failed one.
    is_first: bool,
}

impl<P> NodeParams<P> {
    /// The handle that sets the parameters.
    pub(crate) fn handle(&self) -> &P {
        &self.handle
    }

    /// Takes over the values that were set since the last tick. Called before `start`, so that `start` has them.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`](crate::Error::ParamOutOfRange), for a field that the program has changed.
    pub(crate) fn begin_run<O>(&mut self, operator: &mut O) -> Result<()>
    where
        P: OperatorParams<O>,
    {
        self.is_first = true;
        // The condition keeps useless code from being compiled for each type of operator without parameters.
        if P::ANY { self.take_over_first(operator) } else { Ok(()) }
    }

    fn take_over_first<O>(&self, operator: &mut O) -> Result<()>
    where
        P: OperatorParams<O>,
    {
        let Some(state) = &self.state else { return Ok(()) };
        *locked(&state.changes) = ParamChanges::default();
        self.exchange(state, operator, 0);
        let mut follow = Exchange { task: Task::Follow, done: Ok(()) };
        self.handle.each(operator, &mut follow);
        follow.done
    }

    /// Takes over the values that were set. Called before each tick.
    ///
    /// # Errors
    /// [`Error::ParamAssigned`](crate::Error::ParamAssigned): a hook has assigned a field that was to be overwritten.
    #[inline]
    pub(crate) fn take_over<O>(&self, operator: &mut O, tick: u64) -> Result<()>
    where
        P: OperatorParams<O>,
    {
        if P::ANY
            && let Some(state) = &self.state
            && state.has_changed()
        {
            self.check_unassigned(operator)?;
            self.exchange(state, operator, tick);
        }
        Ok(())
    }

    /// Returns whether the tick that has succeeded is the operator's first, in this run or since it took the place of a
    /// failed operator.
    #[inline]
    pub(crate) fn take_first(&mut self) -> bool {
        std::mem::take(&mut self.is_first)
    }

    /// Checks that no hook has assigned a parameter. Called after `start`, after the first tick of an operator and
    /// after `stop`. Not called after other ticks, since the check writes the values as text.
    ///
    /// # Errors
    /// [`Error::ParamAssigned`](crate::Error::ParamAssigned).
    #[cold]
    #[inline(never)]
    pub(crate) fn check_unassigned<O>(&self, operator: &mut O) -> Result<()>
    where
        P: OperatorParams<O>,
    {
        let mut check = Exchange { task: Task::Check, done: Ok(()) };
        self.handle.each(operator, &mut check);
        check.done
    }

    #[cold]
    #[inline(never)]
    fn exchange<O>(&self, state: &NodeState, operator: &mut O, tick: u64)
    where
        P: OperatorParams<O>,
    {
        let mut found = Vec::new();
        // The values of one file are stored under this lock, so they are found together.
        let held = locked(&state.changes);
        state.begin_taking();
        turns::point("the parameters of a node will be read");
        let task = Task::Find { found: &mut found };
        self.handle.each(operator, &mut Exchange { task, done: Ok(()) });
        drop(held);
        // Copies the values and drops those of the fields: both are the user's code, and run outside of the lock.
        let task = Task::TakeOver { state, tick, found: found.into_iter() };
        let taking = Taking(state);
        self.handle.each(operator, &mut Exchange { task, done: Ok(()) });
        mem::forget(taking);
    }

    /// Gives a fresh operator the values that were set.
    pub(crate) fn restore<O>(&mut self, operator: &mut O)
    where
        P: OperatorParams<O>,
    {
        self.is_first = true;
        if P::ANY {
            self.handle.each(operator, &mut Exchange { task: Task::Restore, done: Ok(()) });
        }
    }

    /// The values that this run has taken over.
    pub(crate) fn changes(&self) -> ParamChanges {
        self.state.as_ref().map(|state| locked(&state.changes).clone()).unwrap_or_default()
    }
}

impl<P> Drop for NodeParams<P> {
    fn drop(&mut self) {
        if let Some(state) = &self.state {
            state.mark_dropped();
        }
    }
}

/// A guard against panics of a parameter's code while values are taken over: when it is dropped then, the values that
/// were not taken over stay new.
struct Taking<'a>(&'a NodeState);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.mark_changed();
    }
}
