//! The parameters of one node, as the node itself and the code of `#[operator]` use them.

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

/// The handle of the parameters of an operator `O`. `#[operator]` writes the handle and this implementation.
pub trait OperatorParams<O>: Clone + Send + Sync + 'static {
    /// Whether the operator has parameters.
    const ANY: bool = true;
    /// Makes the handle from the operator's fields.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`](crate::Error::ParamOutOfRange).
    fn of_operator(operator: &O, maker: &mut ParamMaker) -> Result<Self>;
    /// Makes the parameters of a node, and adds them to the parameters of its graph.
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
    /// Calls `exchange` for each parameter, with the operator's field of that parameter.
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

/// Makes the parameters of one node.
pub struct ParamMaker {
    state: Arc<NodeState>,
    params: Vec<Arc<dyn AnyParam>>,
}

impl ParamMaker {
    fn new(node: &str) -> Self {
        Self { state: Arc::new(NodeState::new(node)), params: Vec::new() }
    }

    /// Makes the node's next parameter, from its name and from the value of its field.
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

/// A visitor of an operator's parameters, which does one task for each parameter and its field.
pub struct Exchange<'a> {
    task: Task<'a>,
    /// The first error that the task has met.
    done: Result<()>,
}

enum Task<'a> {
    /// Find the values that were set and not taken over. `found` gets an entry for each parameter, `None` if it has no such
    /// value.
    Find { found: &'a mut Vec<Option<New>> },
    /// Take over the values that `Find` has found, before the tick `tick`.
    TakeOver { state: &'a NodeState, tick: u64, found: vec::IntoIter<Option<New>> },
    /// Make each parameter's value equal to its field, since the program may have changed the field between runs.
    Follow,
    /// Copy each parameter's value into its field, in an operator that replaces a failed one.
    Restore,
    /// Check that no hook has assigned a field.
    Check,
}

impl Exchange<'_> {
    /// Does the task for a parameter and its field.
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

/// The parameters of a node, as the node has them.
pub struct NodeParams<P> {
    handle: P,
    /// The state that the node's parameters share. `None` if the operator has no parameters.
    state: Option<Arc<NodeState>>,
    /// Whether no tick has succeeded yet: in this run, or since an operator replaced a failed one.
    is_first: bool,
}

impl<P> NodeParams<P> {
    /// Returns the handle that sets the parameters.
    pub(crate) fn handle(&self) -> &P {
        &self.handle
    }

    /// Takes over the values that were set since the last run. The node calls this before `start`, so `start` has the values.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`](crate::Error::ParamOutOfRange), for a field that the program has changed.
    pub(crate) fn begin_run<O>(&mut self, operator: &mut O) -> Result<()>
    where
        P: OperatorParams<O>,
    {
        self.is_first = true;
        // For an operator without parameters, `ANY` is `false`, and the compiler removes the call and its code.
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

    /// Takes over the values that were set. The node calls this before each tick.
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

    /// Returns whether the tick that has just succeeded is the operator's first: in this run, or since the operator replaced a
    /// failed one.
    #[inline]
    pub(crate) fn take_first(&mut self) -> bool {
        std::mem::take(&mut self.is_first)
    }

    /// Checks that no hook has assigned a parameter. The node calls this after `start`, after the first tick of an operator and
    /// after `stop`, and not after other ticks, since the check writes the values as text.
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
        // The values of one file are stored under this lock. So this tick finds either all of them or none.
        let held = locked(&state.changes);
        state.begin_taking();
        turns::point("the parameters of a node will be read");
        let task = Task::Find { found: &mut found };
        self.handle.each(operator, &mut Exchange { task, done: Ok(()) });
        drop(held);
        // The second task copies the new values and drops the fields' old ones. That is the user's code, so it runs without the
        // lock.
        let task = Task::TakeOver { state, tick, found: found.into_iter() };
        let taking = Taking(state);
        self.handle.each(operator, &mut Exchange { task, done: Ok(()) });
        mem::forget(taking);
    }

    /// Copies the parameters' values into an operator that replaces a failed one.
    pub(crate) fn restore<O>(&mut self, operator: &mut O)
    where
        P: OperatorParams<O>,
    {
        self.is_first = true;
        if P::ANY {
            self.handle.each(operator, &mut Exchange { task: Task::Restore, done: Ok(()) });
        }
    }

    /// Returns the values that this run has taken over.
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

/// A guard against panics of the user's code while values are taken over. After a panic, its drop marks the state as changed, so
/// that the node finds the values that were not taken over again.
struct Taking<'a>(&'a NodeState);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.mark_changed();
    }
}
