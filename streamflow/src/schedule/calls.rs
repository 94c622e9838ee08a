//! The methods of a graph that run it on the caller's thread: `run`, `run_for`, `tick` and `end_run`.

use super::choice::chosen;
use super::limit::RunFor;
use super::replay::Replay;
use super::report::Report;
use super::run::Run;
use crate::error::{Error, Result};
use crate::graph::{Graph, RunState};
use crate::time::Timestamp;

/// Runs a graph to its end. The method `run` that `graph!` writes calls this function.
///
/// A run goes on until no node can run any more, or an operator ends it. It ends without an error when all sources are done and
/// the messages that nodes need are consumed; the [`Report`] says so. Messages that still wait for a node that is done are
/// dropped, and the report counts them. A run with a stuck node ends with [`Error::Stalled`]: for example, a source has ticks
/// left and its edge has no room, or a node does not take a message that it should take.
///
/// While a node waits for a stream, the other nodes run. When all nodes wait, the scheduler queries the streams and the clock for
/// a short time ([`PlatformBuilder::spin`](crate::platform::PlatformBuilder::spin)). Then its thread sleeps until one of the
/// awaited events may have happened. A source that has had nothing to send for 64 ticks in a row is run again after a
/// microsecond, and then after twice that time, up to a millisecond.
///
/// A graph may be run again. Its operators keep their state, but a `count` and
/// [`ExecutionContext::tick`](crate::ExecutionContext::tick) begin at 0 in each run. If calls of [`tick`] have begun a run, this
/// function continues that run to its end.
///
/// # Errors
/// The first error of an operator or of the device; [`Error::Races`] with all races that were found; or [`Error::Stalled`], if no
/// node can run although one should. If more errors followed while the graph was being stopped, all of them are in an
/// [`Error::Run`]. After an error, too, all messages are dropped from the queues.
pub fn run(graph: &mut dyn Graph) -> Result<Report> {
    to_end(graph, None)
}

/// Runs a graph for a number of ticks or for a time. The method `run_for` that `graph!` writes calls this function.
///
/// With a number of ticks, each node without inputs does at most that many ticks, and the other nodes then consume the messages
/// that were sent. A time is counted from the end of the `start` hooks. When it has passed, no node begins a tick any more, and
/// the run ends as after a stop. A hook that runs at that moment is not interrupted, but its
/// [`sleep`](crate::ExecutionContext::sleep) ends. Messages that then wait, or that wait for a node whose ticks are done, are
/// dropped, and the report counts them.
///
/// The run ends earlier if it would end earlier without the limit. If calls of [`tick`] have begun the run, the limit counts from
/// this call.
///
/// # Errors
/// The errors of [`run`]; [`Error::RunLimit`] for 0 ticks, for a time of 0, and for a number of ticks if every node has an input.
/// After an `Error::RunLimit` nothing was run.
pub fn run_for(graph: &mut dyn Graph, limit: RunFor) -> Result<Report> {
    limit.check(&mut graph.nodes())?;
    to_end(graph, Some(limit))
}

fn to_end(graph: &mut dyn Graph, limit: Option<RunFor>) -> Result<Report> {
    let (platform, name, workers) =
        (graph.platform().clone(), graph.__streamflow_name(), chosen(graph)?);
    platform.begin_use()?;
    let replay = Replay::of(graph)?;
    let stepped: Option<Box<Run>> = graph.__streamflow_run().and_then(RunState::take);
    let mut nodes = graph.nodes();
    let mut run = match stepped {
        Some(run) => *run,
        None => Run::new(&mut nodes, &platform, name, replay),
    };
    run.set_workers(workers);
    run.finish(&mut nodes, limit, None)
}

/// The result of one call of a graph's `tick`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stepped {
    /// At least one node has run.
    Ran,
    /// No node could run, or the nodes that ran had nothing to do. Each node waits for a stream, a moment or another thread.
    Waiting {
        /// The earliest moment for which a node waits, by the platform's clock; `None` if no node waits for a moment.
        until: Option<Timestamp>,
    },
    /// The run is over: no node can run any more, or an operator has stopped the graph.
    Over,
}

/// Makes one pass over the nodes of a graph: each node that is ready does one tick. The function does not wait. The method `tick`
/// that `graph!` writes calls it.
///
/// The first call begins a run by calling the `start` hooks. [`end_run`], [`run`] or [`run_for`] ends the run; after an error,
/// [`tick`] itself ends it. If a graph is dropped before the end of such a run, its `stop` hooks are not called. Its messages and
/// its memory are released as always, after the work that uses them.
///
/// # Errors
/// The errors of [`run`], except that a stalled run returns [`Stepped::Over`], and `end_run` then returns the error. After an
/// error the run has ended, with its `stop` hooks, and the next call begins another run.
pub fn tick(graph: &mut dyn Graph) -> Result<Stepped> {
    let (platform, name) = (graph.platform().clone(), graph.__streamflow_name());
    let stepped: Option<Box<Run>> = graph.__streamflow_run().and_then(RunState::take);
    if stepped.is_none() {
        platform.begin_use()?;
    }
    let replay = if stepped.is_none() { Replay::of(graph)? } else { None };
    let Some(state) = graph.__streamflow_run() else {
        return Err(Error::NotStepped);
    };
    let mut nodes = state.take_list();
    graph.__streamflow_nodes(&mut nodes);
    let mut run =
        stepped.unwrap_or_else(|| Box::new(Run::new(&mut nodes, &platform, name, replay)));
    match run.step(&mut nodes) {
        Ok(stepped) => {
            let stepped = match stepped {
                Some(true) => Stepped::Ran,
                Some(false) => Stepped::Waiting { until: run.waits.earliest() },
                None => Stepped::Over,
            };
            let list = RunState::emptied(nodes);
            if let Some(state) = graph.__streamflow_run() {
                state.put(run, list);
            }
            Ok(stepped)
        }
        Err(error) => run.end(&mut nodes, Err(error), None).map(|_| Stepped::Over),
    }
}

/// Ends a run that calls of [`tick`] have begun. If the run is not over, it is stopped. The method `end_run` that `graph!` writes
/// calls this function.
///
/// # Errors
/// [`Error::NotStepped`] if no call of `tick` has begun a run; [`Error::Stalled`]; the errors of the `stop` hooks and of the
/// device.
pub fn end_run(graph: &mut dyn Graph) -> Result<Report> {
    let stepped: Option<Box<Run>> = graph.__streamflow_run().and_then(RunState::take);
    let run = stepped.ok_or(Error::NotStepped)?;
    run.end(&mut graph.nodes(), Ok(()), None)
}
