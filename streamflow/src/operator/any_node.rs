//! The calls that a scheduler makes of a node.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::facts::NodeFacts;
use super::readiness::Step;
use super::statistics::NodePaths;
use super::status::NodeStatus;
use super::waits::Waits;
use crate::context::{NodeCell, Planned, RunControl};
use crate::error::{Error, Result};
use crate::stream::Assign;
use crate::time::Timestamp;

/// A node as schedulers see it.
pub trait AnyNode: Send {
    /// Its name in the graph.
    fn name(&self) -> &str;
    /// Its operator's name.
    fn operator(&self) -> &'static str;
    /// The worker that its `#[worker(name)]` names. Then no other thread runs it.
    fn worker(&self) -> Option<&'static str> {
        None
    }
    /// Whether its operator is `#[operator(stays)]`: the thread that runs the graph, the caller of `run` or the thread
    /// that `spawn` makes, calls its hooks. No such node has a [`worker`](Self::worker).
    fn stays(&self) -> bool {
        false
    }
    /// Runs a tick, if it is ready for one: calls `compute` and sends the messages that it emitted. If it waits for
    /// something outside of the graph, it adds that to `waits`. It begins no tick when the run is paused or ends, and
    /// none at the moment `until` or later.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick; [`Error::Unhandled`]; the driver's, when it queries how far a stream
    /// is. Then nothing was sent. They are in a box, since a small result returns in registers.
    fn step(&mut self, waits: &mut Waits, until: Option<Timestamp>) -> Result<Step, Box<Error>>;
    /// Whether it has something to do, now or later, without any other node: it is a source that is not done, or it has
    /// the messages for a tick. A run ends when no node has.
    fn has_work(&mut self) -> bool;
    /// From now on its ticks call `flush`, if it has an operator to call. Edges with these numbers keep their messages.
    #[doc(hidden)]
    fn begin_flush(&mut self, keep: &[usize]) {
        let _ = keep;
    }
    /// From now on, until the run has ended, those edges to its inputs that have these numbers drop messages for which they
    /// have no room. The caller has this node; others may run.
    #[doc(hidden)]
    fn give_way(&mut self, edges: &[usize]) {
        let _ = edges;
    }
    /// Begins a run, in which nothing was counted yet, and numbers the node in it, as the origin of messages.
    fn set_number(&mut self, number: NonZeroU32);
    /// Keeps statistics in the run that begins now: makes the histograms. `paths` are those that end here, if the node is a
    /// sink.
    fn keep_statistics(&mut self, paths: Option<&NodePaths>);
    /// The condition that lets the node run for messages with equal numbers alone, as it is written, if it has one.
    #[doc(hidden)]
    fn pairs(&self) -> Option<&'static str> {
        None
    }
    /// Says for each of its inputs whether a tick compares their messages with those of others: see `graph/joined.rs`.
    #[doc(hidden)]
    fn compare(&mut self, inputs: &[bool]) {
        let _ = inputs;
    }
    /// The state of the node that other threads see.
    fn cell(&self) -> &Arc<NodeCell>;
    /// Limits the ticks that it does in this run from now on, if it is a node without inputs; `None` ends that. Returns
    /// whether it is such a node.
    fn limit(&mut self, ticks: Option<u64>) -> bool;
    /// Checks the values of its conditions, when all edges are connected.
    ///
    /// # Errors
    /// [`Error::ImpossibleCondition`], for one that can never hold.
    fn bind_conditions(&mut self) -> Result<()>;
    /// How its pool assigns internal streams, if that says so.
    #[doc(hidden)]
    fn assign(&self) -> Option<Assign> {
        None
    }
    /// The facts that a plan needs; `None` for a node that `graph!` did not make.
    #[doc(hidden)]
    fn facts(&mut self) -> Option<NodeFacts> {
        None
    }
    /// Gives it a place in a plan. No hook was called yet.
    #[doc(hidden)]
    fn set_planned(&mut self, planned: Planned) {
        drop(planned);
    }
    /// Calls `start`. `run` controls the run of the whole graph.
    ///
    /// # Errors
    /// The operator's, with node, hook and tick.
    fn start(&mut self, run: &Arc<RunControl>) -> Result<()>;
    /// The state of the node, for reports. The call allocates.
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
