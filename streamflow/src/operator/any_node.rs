//! `AnyNode`: the trait by which schedulers call nodes, whatever their operators are.

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

/// A node as schedulers see it, without the type of its operator.
pub trait AnyNode: Send {
    /// Returns the node's name in the graph.
    fn name(&self) -> &str;
    /// Returns the name of the node's operator.
    fn operator(&self) -> &'static str;
    /// Returns the name of the worker that `#[worker(name)]` sets; `None` without that attribute. No other thread than this
    /// worker runs the node.
    fn worker(&self) -> Option<&'static str> {
        None
    }
    /// Returns whether the operator is `#[operator(stays)]`: only the thread of the run, the caller of `run` or the thread that
    /// `spawn` makes, calls the operator's hooks. A node that stays has no [`worker`](Self::worker).
    fn stays(&self) -> bool {
        false
    }
    /// Runs a tick if the node is ready for one: calls `compute` and sends the emitted messages. If the node waits for an event
    /// outside of the graph, adds the event to `waits`. Begins no tick if the run is paused or ending, or if the time is `until`
    /// or later.
    ///
    /// # Errors
    /// The operator's error, with node, hook and tick; [`Error::Unhandled`]; an error of the driver when it queries a stream.
    /// After an error, nothing was sent. The error is boxed, so that the result is small and returns in registers.
    fn step(&mut self, waits: &mut Waits, until: Option<Timestamp>) -> Result<Step, Box<Error>>;
    /// Returns whether the node can run, now or later, without any other node: it is a source that is not done, or it has the
    /// messages for a tick. A run ends when no node has work.
    fn has_work(&mut self) -> bool;
    /// Makes the node's next ticks call `flush`, if its operator has that hook. Edges with the numbers in `keep` keep their
    /// messages.
    #[doc(hidden)]
    fn begin_flush(&mut self, keep: &[usize]) {
        let _ = keep;
    }
    /// Makes the edges with these numbers, which lead to the node's inputs, give way until the end of the run: each drops the
    /// messages for which it has no room. The caller has exclusive access to this node; other nodes may run.
    #[doc(hidden)]
    fn give_way(&mut self, edges: &[usize]) {
        let _ = edges;
    }
    /// Begins a run: resets all counts, and sets the number by which messages name this node as their origin.
    fn set_number(&mut self, number: NonZeroU32);
    /// Makes the histograms for the statistics of the run that begins now. `paths` has the paths that end at this node; `None` if
    /// the node is no sink.
    fn keep_statistics(&mut self, paths: Option<&NodePaths>);
    /// Returns the text of the condition `same_sequence`, by which the node runs only for messages with equal sequence numbers,
    /// if there is one.
    #[doc(hidden)]
    fn pairs(&self) -> Option<&'static str> {
        None
    }
    /// Sets for each input whether a tick compares the sequence numbers of its messages with those of other inputs: see
    /// `graph/joined.rs`.
    #[doc(hidden)]
    fn compare(&mut self, inputs: &[bool]) {
        let _ = inputs;
    }
    /// Returns the part of the node's state that other threads may read.
    fn cell(&self) -> &Arc<NodeCell>;
    /// Limits how many more ticks a node without inputs does in this run; `None` removes the limit. Returns whether the node has
    /// no inputs.
    fn limit(&mut self, ticks: Option<u64>) -> bool;
    /// Checks the values in the node's conditions, as a count or a number of messages, after all edges were connected.
    ///
    /// # Errors
    /// [`Error::ImpossibleCondition`] for a condition that can never hold.
    fn bind_conditions(&mut self) -> Result<()>;
    /// Returns the rule by which the node's pool assigns internal streams, if the pool sets one.
    #[doc(hidden)]
    fn assign(&self) -> Option<Assign> {
        None
    }
    /// Returns the facts about the node that a plan of the streams needs; `None` for a node that `graph!` did not make.
    #[doc(hidden)]
    fn facts(&mut self) -> Option<NodeFacts> {
        None
    }
    /// Gives the node its part of a plan of the streams. The runtime calls this before all hooks.
    #[doc(hidden)]
    fn set_planned(&mut self, planned: Planned) {
        drop(planned);
    }
    /// Calls the operator's `start` hook. `run` controls the run of the whole graph.
    ///
    /// # Errors
    /// The operator's error, with node, hook and tick.
    fn start(&mut self, run: &Arc<RunControl>) -> Result<()>;
    /// Returns the state of the node, for reports. The call allocates.
    fn status(&mut self) -> NodeStatus;
    /// Calls the operator's `stop` hook if `start` was called, and drops all messages that wait for the node.
    ///
    /// # Errors
    /// The operator's error, with node, hook and tick.
    fn stop(&mut self) -> Result<()>;
    /// Blocks the host until all work on the node's streams, and on the streams that copy its messages to other devices, is
    /// complete.
    ///
    /// # Errors
    /// The driver's errors. They include errors of work that was queued earlier.
    fn synchronize_blocking(&mut self) -> Result<()>;
}
