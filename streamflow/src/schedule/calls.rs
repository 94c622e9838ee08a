//! The methods of a graph that run it on the caller's thread: `run`, `run_for`, `tick` and `end_run`.

use super::choice::chosen;
use super::limit::RunFor;
use super::replay::Replay;
use super::report::Report;
use super::run::Run;
use crate::error::{Error, Result};
use crate::graph::{Graph, RunState};
use crate::time::Timestamp;

/// Runs a graph: the method `run` that `graph!` writes calls this.
///
/// A run goes on until no node can run any more, or an operator ends it. A run ends well when all sources are done and
/// their messages are consumed, and the [`Report`] says so. Messages that still wait for a node that is done are
/// dropped, and the report counts them. A run with a stuck node ends with [`Error::Stalled`]: a source has
/// ticks left and no room, or a message waits that its node should take and does not.
///
/// While a node waits for a stream, the other nodes run. When all of them wait, the scheduler queries the streams and
/// moments that they wait for, for a short time ([`PlatformBuilder::spin`](crate::platform::PlatformBuilder::spin)),
/// and then its thread sleeps until one of these can have changed. A source that has had nothing to send for 64 ticks in a row
/// is run again after a microsecond, and then after twice that, up to a millisecond.
///
/// A graph may be run again. Its operators keep their state, but a `count` and
/// [`ExecutionContext::tick`](crate::ExecutionContext::tick) begin at 0 in each run. A run that [`tick`] has begun is not
/// begun again: it goes on to its end.
///
/// # Errors
/// The first error of an operator or of the device; [`Error::Races`] with all races that were found; or
/// [`Error::Stalled`], when no node can run although one should. If more errors followed while the graph was being
/// stopped, they are all in an [`Error::Run`]. Everything is released: no message is left in a queue.
pub fn run(graph: &mut dyn Graph) -> Result<Report> {
    to_end(graph, None)
}

/// Runs a graph for a number of ticks or for a time: the method `run_for` that `graph!` writes calls this.
///
/// With a number of ticks, each node without inputs does at most that many, and the other nodes then consume the messages sent.
/// With a time, counted from the end of the `start` hooks, no node begins a tick after it has passed, and the run ends as by a
/// stop. A hook that runs at that moment is not interrupted, but its [`sleep`](crate::ExecutionContext::sleep) ends. Messages
/// that wait for a node that has reached the limit, or that wait when the time is over, are dropped, and the report counts them.
///
/// The run ends earlier if it would without the limit. In a run that [`tick`] has begun, the limit counts from now.
///
/// # Errors
/// As for [`run`]; [`Error::RunLimit`] for 0 ticks, a time of 0, and a number of ticks if each node has an input. Then
/// nothing was run.
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

/// The outcome of a `tick` of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stepped {
    /// A node has run.
    Ran,
    /// No node could run, or those that ran had nothing to do: each waits for a stream, a moment or another thread.
    Waiting {
        /// The earliest moment that a node waits for, by the platform's clock, if one waits for a moment.
        until: Option<Timestamp>,
    },
    /// The run is over: no node can run any more, or an operator has stopped the graph.
    Over,
}

/// Makes one pass over the nodes of a graph: each node that is ready ticks once. The call does not wait. The method
/// `tick` that `graph!` writes calls this.
///
/// The first call begins a run, with the `start` hooks. [`end_run`], [`run`] or [`run_for`] ends it; [`tick`] does so after
/// an error. A graph that is dropped before the end of its run does not call its `stop` hooks; its messages and its
/// memory are released as always, after the work that uses them.
///
/// # Errors
/// As for [`run`], but a run that has stalled is [`Stepped::Over`], and `end_run` returns the error. After an error the run
/// has ended, with the `stop` hooks, and the next call begins another.
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

/// Ends a run that [`tick`] has begun: the method `end_run` that `graph!` writes calls this. If the run is not over, it is
/// stopped.
///
/// # Errors
/// [`Error::NotStepped`] if there is no such run; [`Error::Stalled`]; the errors of the `stop` hooks and of the device.
pub fn end_run(graph: &mut dyn Graph) -> Result<Report> {
    let stepped: Option<Box<Run>> = graph.__streamflow_run().and_then(RunState::take);
    let run = stepped.ok_or(Error::NotStepped)?;
    run.end(&mut graph.nodes(), Ok(()), None)
}
