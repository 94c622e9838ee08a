//! The greedy scheduler: it runs the nodes in their static order, on one thread.
//!
//! `AnyNode::step` (`operator/node.rs`) runs one tick of a node. An error of a hook has its node, hook and tick when
//! it gets here; [`run`](super::run()) returns it to the user's program.
//!
//! A panic of a hook goes on through `step` and is caught by [`caught`], once for all passes of a run, since a place
//! that catches panics costs time in each tick. The [`Position`] says whose panic it was.

use super::nodes::Nodes;
use crate::error::{Result, caught_as_error};
use crate::graph::{Step, Waits};
use crate::time::Timestamp;

/// What a pass over the nodes has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// A node has run and changed something, or a command ended the pass early.
    Ran,
    Nothing,
    /// The time of the run is over.
    TimeOver,
}

/// How far a pass has come.
#[derive(Debug)]
pub(super) struct Position {
    /// The node that runs, or is the next to run.
    node: usize,
    /// What the nodes before it have done.
    done: Pass,
}

impl Position {
    /// A pass begins.
    pub(super) const BEGIN: Self = Self { node: 0, done: Pass::Nothing };

    /// Whether no node has run in this pass.
    pub(super) fn is_at_begin(&self) -> bool {
        self.node == 0
    }

    /// The pass ends.
    fn end(&mut self, pass: Pass) -> Result<Pass> {
        *self = Self::BEGIN;
        Ok(pass)
    }
}

/// Goes on with a pass, which runs each node that is ready once. It ends early when a command pauses or stops the run, or
/// at the moment `until`. `next` is called with each node before its step.
#[inline]
pub(super) fn pass(
    nodes: Nodes<'_, '_>,
    at: &mut Position,
    until: Option<Timestamp>,
    waits: &mut Waits,
    next: impl Fn(usize),
) -> Result<Pass> {
    while let Some(node) = nodes.get_mut(at.node) {
        next(at.node);
        let step = node.step(waits, until).map_err(|error| *error)?;
        if step == Step::Changed {
            at.done = Pass::Ran;
        } else if step != Step::Nothing {
            return at.end(if step == Step::TimeOver { Pass::TimeOver } else { Pass::Ran });
        }
        at.node += 1;
    }
    at.end(at.done)
}

/// Calls a function that makes passes, again after each panic of a node that its policy permits. The function goes on at
/// the position.
///
/// # Errors
/// Those of the function; the panic of a node, with node, hook and tick.
pub(super) fn caught<R>(
    nodes: Nodes<'_, '_>,
    mut passes: impl FnMut(Nodes<'_, '_>, &mut Position, &mut Waits) -> Result<R>,
    waits: &mut Waits,
) -> Result<R> {
    let mut at = Position::BEGIN;
    loop {
        let panic = match caught_as_error(|| passes(nodes, &mut at, waits)) {
            Ok(done) => return done,
            Err(panic) => panic,
        };
        let Some(node) = nodes.get_mut(at.node) else { return Err(*panic) };
        if node.panicked(panic, waits).map_err(|error| *error)? == Step::Changed {
            at.done = Pass::Ran;
        }
        at.node += 1;
    }
}
