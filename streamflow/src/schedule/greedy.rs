//! The greedy scheduler: it runs the nodes in their static order, on the caller's thread.
//!
//! `AnyNode::tick` (`operator/node.rs`) runs one tick of a node. An error of a hook has its node, hook and tick when
//! it gets here; [`run`] returns it to the user's program.

use std::sync::Arc;

use super::idle::Idle;
use super::report::Report;
use super::{stall, statistics};
use crate::context::{Command, RunControl};
use crate::driver::race::RaceWatch;
use crate::error::{Error, Result};
use crate::graph::{AnyNode, Graph, NodeStatus, Progress, Readiness, Waits};
use crate::operator::Succession;
use crate::platform::Platform;

/// Runs a graph: the method `run` that `graph!` writes calls this.
///
/// A run goes on until no node can run any more, or an operator ends it. It ends well when all sources are done and
/// their messages are consumed, and the [`Report`] says so. Messages that still wait for a node that is done are
/// dropped, and the report counts them. A run in which a node is stuck ends with [`Error::Stalled`]: a source has
/// ticks left and no room, or a message waits that its node should take and does not.
///
/// While a node waits for a stream, the other nodes run. When all of them wait, the scheduler queries what they wait for
/// for a short time ([`PlatformOptions::spin`](crate::PlatformOptions::spin)), and then its thread sleeps until that can
/// have changed. A source that has nothing to send is run again about once in a millisecond.
///
/// A graph may be run again. Its operators keep their state, but a `count` and
/// [`ExecutionContext::tick`](crate::ExecutionContext::tick) begin at 0 in each run.
///
/// # Errors
/// The first error of an operator or of the device; [`Error::Races`] with all races that were found; or
/// [`Error::Stalled`], when no node can run although one should. If more errors followed while the graph was being
/// stopped, they are all in an [`Error::Run`]. Everything is released: no message is left in a queue.
pub fn run(graph: &mut dyn Graph) -> Result<Report> {
    let platform = graph.platform().clone();
    let mut nodes = graph.nodes();
    if platform.has_statistics() {
        statistics::keep(&mut nodes);
    }
    let control = Arc::new(RunControl::default());
    let mut races = RaceWatch::new(platform.driver());
    let mut done = start(&mut nodes, &control)
        .and_then(|()| passes(&mut nodes, &platform, &control, &mut races));
    // Before the nodes are stopped, which drops the messages that wait and runs hooks.
    let at_end = statuses(&mut nodes);
    if done.is_ok() && !races.look() && control.command() != Command::Stop {
        let chains = stall::find(&at_end);
        if !chains.is_empty() {
            done = Err(Error::Stalled { chains });
        }
    }
    let mut followed = Vec::new();
    for node in nodes.iter_mut().rev() {
        followed.extend(node.stop().err());
    }
    // Also after an error: the device must not go on with queued work while the caller drops the operators. After a
    // sticky error no work is executed, so there is none to wait for.
    for node in &mut nodes {
        if platform.driver().sticky_error().is_none() {
            followed.extend(node.synchronize_blocking().err());
        }
    }
    if races.look() {
        followed.insert(0, Error::Races(races.take()));
    }
    let cause = match done {
        Err(cause) => cause,
        Ok(()) if followed.is_empty() => {
            return Ok(Report::new(&at_end, &statuses(&mut nodes), platform.clock()));
        }
        Ok(()) => followed.remove(0),
    };
    if followed.is_empty() {
        return Err(cause);
    }
    Err(Error::Run { cause: Box::new(cause), followed })
}

fn statuses(nodes: &mut [&mut dyn AnyNode]) -> Vec<NodeStatus> {
    nodes.iter_mut().map(|node| node.status()).collect()
}

fn start(nodes: &mut [&mut dyn AnyNode], run: &Arc<RunControl>) -> Result<()> {
    nodes.iter_mut().try_for_each(|node| node.start(run))
}

fn passes(
    nodes: &mut [&mut dyn AnyNode],
    platform: &Platform,
    run: &RunControl,
    races: &mut RaceWatch,
) -> Result<()> {
    let mut idle = Idle::new(platform, run);
    let mut waits = Waits::default();
    let measured = platform.has_statistics().then(Succession::begin);
    let interrupt = || measured.iter().for_each(Succession::interrupt);
    loop {
        match run.command() {
            Command::Run => {}
            Command::Pause => {
                idle.pause(run);
                interrupt();
                continue;
            }
            Command::Stop => return Ok(()),
        }
        waits.clear();
        // Before the conditions are checked, so that a change in between ends the sleep.
        idle.begin_pass();
        let ran = pass(nodes, &mut waits)?;
        if platform.is_watched() {
            if races.look() {
                return Ok(());
            }
            interrupt();
        }
        if ran {
            idle.end();
        } else if waits.is_empty() || idle.looks_for_work() && !has_work(nodes) {
            return Ok(());
        } else {
            idle.wait(&waits)?;
            interrupt();
        }
    }
}

/// Runs each node that is ready, once. Returns whether that changed anything.
#[inline]
fn pass(nodes: &mut [&mut dyn AnyNode], waits: &mut Waits) -> Result<bool> {
    let mut ran = false;
    for node in nodes.iter_mut() {
        match node.readiness(waits)? {
            Readiness::Ready => match node.tick()? {
                Progress::Changed => ran = true,
                Progress::Unchanged => {}
                Progress::Empty => waits.to_poll(),
            },
            Readiness::Waiting | Readiness::Blocked | Readiness::Done => {}
        }
    }
    Ok(ran)
}

/// Whether a node has something to do, now or later.
fn has_work(nodes: &mut [&mut dyn AnyNode]) -> bool {
    nodes.iter_mut().any(|node| node.has_work())
}
