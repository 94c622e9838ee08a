//! The greedy scheduler: it runs the nodes in their static order, on the caller's thread.
//!
//! `AnyNode::tick` (`operator/node.rs`) runs one tick of a node. An error of a hook has its node, hook and tick when
//! it gets here; [`run`] returns it to the user's program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use super::report::Report;
use super::stall;
use crate::driver::race::RaceWatch;
use crate::error::{Error, Result};
use crate::graph::{AnyNode, Graph, NodeStatus, Readiness};
use crate::platform::Platform;
use crate::stream::{Point, Wakeup};
use crate::turns;

/// How many passes query the awaited streams without a pause: some 20 µs on a GPU. It is a count and not a time, as
/// the next one, so that a run on the simulator depends on its seed alone.
const SPIN_PASSES: u32 = 100;

/// How many passes query the awaited streams before the thread sleeps: some 10 ms on a GPU. Waking up costs 40 to 270
/// µs there (`tests/benches/wake_up.rs`), most of it for the processor to leave its sleep state, so sleeping is for
/// waits that are much longer. Before, the thread yields to others of the machine between its queries.
const PASSES_BEFORE_SLEEP: u32 = 15_000;

/// Runs a graph: the method `run` that `graph!` writes calls this.
///
/// A run goes on until no node can run any more, or an operator ends it. It ends well when all sources are done and
/// their messages are consumed, and the [`Report`] says so. Messages that still wait for a node that is done are
/// dropped, and the report counts them. A run in which a node is stuck ends with [`Error::Stalled`]: a source has
/// ticks left and no room, or a message waits that its node should take and does not.
///
/// While a node waits for a stream, the other nodes run.
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
    let stop = Arc::new(AtomicBool::new(false));
    let mut races = RaceWatch::new(platform.driver());
    let mut done =
        start(&mut nodes, &stop).and_then(|()| passes(&mut nodes, &platform, &stop, &mut races));
    // Before the nodes are stopped, which drops the messages that wait and runs hooks.
    let at_end = statuses(&mut nodes);
    if done.is_ok() && !races.look() && !stop.load(Ordering::Acquire) {
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
        Ok(()) if followed.is_empty() => return Ok(Report::new(&at_end, &statuses(&mut nodes))),
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

fn start(nodes: &mut [&mut dyn AnyNode], stop: &Arc<AtomicBool>) -> Result<()> {
    nodes.iter_mut().try_for_each(|node| node.start(stop))
}

fn passes(
    nodes: &mut [&mut dyn AnyNode],
    platform: &Platform,
    stop: &AtomicBool,
    races: &mut RaceWatch,
) -> Result<()> {
    let mut wakeup = Wakeup::new(platform.streams());
    let mut after: SmallVec<[Point; 8]> = SmallVec::new();
    let mut idle_passes = 0;
    while !stop.load(Ordering::Acquire) {
        let mut ran = false;
        after.clear();
        // Read before the points are queried, so that a point that is reached in between wakes the thread.
        let seen = (idle_passes >= PASSES_BEFORE_SLEEP).then(|| wakeup.raised());
        for node in nodes.iter_mut() {
            match node.readiness()? {
                Readiness::Ready => ran |= node.tick()?,
                Readiness::AfterStream(point) => after.push(point),
                Readiness::Blocked | Readiness::Done => {}
            }
        }
        if platform.is_watched() && races.look() {
            return Ok(());
        }
        idle_passes = if ran { 0 } else { idle_passes + 1 };
        if ran {
            continue;
        } else if after.is_empty() {
            return Ok(());
        }
        match seen {
            None if turns::yield_turn() => {}
            None if idle_passes <= SPIN_PASSES => std::hint::spin_loop(),
            None => std::thread::yield_now(),
            // After each wake-up all points are queried again: a wake-up may be early, but none is lost.
            Some(seen) => wakeup.sleep(seen, &after)?,
        }
    }
    Ok(())
}
