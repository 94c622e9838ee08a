//! The trait by which schedulers call nodes.

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
    /// The node's name in the graph.
    fn name(&self) -> &str;
    /// The name of the node's operator.
    fn operator(&self) -> &'static str;
    /// The worker named by `#[worker(name)]`. No other thread then runs the node.
    fn worker(&self) -> Option<&'static str> {
        None
    }
    /// Whether the operator is `#[operator(stays)]`: only the thread that runs the graph, the caller of `run` or the
    /// thread that `spawn` makes, calls its hooks. A node that stays has no [`worker`](Self::worker).
    fn stays(&self) -> bool {
        false
    }
    /// Runs a tick if the node is ready for one: calls `compute` and sends the emitted messages. If the node waits for
    /// an event outside of the graph, adds that event to `waits`. Begins no tick when the run is paused or ends, and
    /// none at the moment `until` or later.
    ///
    /// # Errors
    /// The operator's error, with node, hook and tick; [`Error::Unhandled`]; an error of the driver when it queries a
    /// stream. After an error, nothing was sent. The error is in a box: a small result returns in registers.
    fn step(&mut self, waits: &mut Waits, until: Option<Timestamp>) -> Result<Step, Box<Error>>;
    /// Whether the node has work, now or later, without any other node: it is a source that is not done, or it has the
    /// messages for a tick. A run ends when no node has work.
    fn has_work(&mut self) -> bool;
    /// Makes the next ticks call `flush`, if the node has an operator to call. The edges in `keep` keep their messages.
    #[doc(hidden)]
    fn begin_flush(&mut self, keep: &[usize]) {
        let _ = keep;
    }
    /// Makes these edges to the node's inputs drop messages for which they have no room, until the run has ended. The
    /// caller holds this node; other nodes may run.
    #[doc(hidden)]
    fn give_way(&mut self, edges: &[usize]) {
        let _ = edges;
    }
    /// Begins a run: resets all counts, and gives the node its number as an origin of messages.
    fn set_number(&mut self, number: NonZeroU32);
    /// Makes the histograms for the statistics of the run that begins now. `paths` are the paths that end at this node;
    /// `None` if the node is no sink.
    fn keep_statistics(&mut self, paths: Option<&NodePaths>);
    /// The text of the condition that lets the node run only for messages with equal sequence numbers, if there is one.
    #[doc(hidden)]
    fn pairs(&self) -> Option<&'static str> {
        None
    }
    /// Sets for each input whether a tick compares its messages with those of other inputs: see `graph/joined.rs`.
    #[doc(hidden)]
    fn compare(&mut self, inputs: &[bool]) {
        let _ = inputs;
    }
    /// The state of the node that other threads see.
    fn cell(&self) -> &Arc<NodeCell>;
    /// Limits the further ticks of a node without inputs in this run; `None` removes the limit. Returns whether the
    /// node has no inputs.
    fn limit(&mut self, ticks: Option<u64>) -> bool;
    /// Checks the values of the node's conditions, when all edges are connected.
    ///
    /// # Errors
    /// [`Error::ImpossibleCondition`] for a condition that can never hold.
    fn bind_conditions(&mut self) -> Result<()>;
    /// The way in which the node's pool assigns internal streams, if the pool sets one.
    #[doc(hidden)]
    fn assign(&self) -> Option<Assign> {
        None
    }
    /// The facts about the node that a plan needs; `None` for a node that `graph!` did not make.
    #[doc(hidden)]
    fn facts(&mut self) -> Option<NodeFacts> {
        None
    }
    /// Gives the node its place in a plan. Called before all hooks.
    #[doc(hidden)]
    fn set_planned(&mut self, planned: Planned) {
        drop(planned);
    }
    /// Calls `start`. `run` controls the run of the whole graph.
    ///
    /// # Errors
    /// The operator's error, with node, hook and tick.
    fn start(&mut self, run: &Arc<RunControl>) -> Result<()>;
    /// The state of the node, for reports. The call allocates.
    fn status(&mut self) -> NodeStatus;
    /// Calls `stop` if `start` was called, and drops all waiting messages.
    ///
    /// # Errors
    /// The operator's error, with node, hook and tick.
    fn stop(&mut self) -> Result<()>;
    /// Blocks until all work is complete on the node's streams, and on the streams that copy its messages to other devices.
    ///
    /// # Errors
    /// The driver's errors; an error of earlier work is reported here.
    fn synchronize_blocking(&mut self) -> Result<()>;
}
