//! The greedy scheduler: the nodes in their static order, on the caller's thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use crate::driver::race::RaceWatch;
use crate::error::{Error, Result};
use crate::graph::{AnyNode, Graph, Readiness};
use crate::platform::Platform;
use crate::stream::{Point, Wakeup};
use crate::turns;

/// How often streams are asked without a pause: some 20 µs on a GPU. A count and not a time, here and below,
/// so that the simulator stays a function of its seed.
const SPIN: u32 = 100;

/// How often they are asked before the thread sleeps: some 10 ms on a GPU. To be woken costs 40 to 270 µs
/// there (`tests/benches/wake_up.rs`), most of it a processor's way out of its own sleep, so that it is for
/// waits that are long against that. Until then others of the machine run in between, if they want to.
const ASK: u32 = 15_000;

/// Runs a graph until no node can run any more, or an operator asked for the end. So it ends when all
/// sources are done and what they sent was consumed; and also when a node waits for a message that
/// nobody will send, as behind two sources of different counts. Messages that wait then are dropped, and
/// a warning in the log names them.
///
/// While a node waits for a stream, all others that can run do.
///
/// A graph may be run again. Its operators keep their state, but a `count` and
/// [`ExecutionContext::tick`](crate::ExecutionContext::tick) begin at 0 in each run.
///
/// # Errors
/// The first error of an operator or of the device, or [`Error::Races`] with all races that were found, with those that followed while the graph was
/// being stopped. Everything is released: no message is left in a queue.
pub fn run(graph: &mut dyn Graph) -> Result<()> {
    let platform = graph.platform().clone();
    let mut nodes = graph.nodes();
    let stop = Arc::new(AtomicBool::new(false));
    let mut races = RaceWatch::new(platform.driver());
    let done =
        start(&mut nodes, &stop).and_then(|()| passes(&mut nodes, &platform, &stop, &mut races));
    if done.is_ok() && !races.look() && !stop.load(Ordering::Acquire) {
        for node in &mut nodes {
            for port in node.waiting() {
                tracing::warn!(
                    node = node.name(),
                    port,
                    "the run ended before this message was received"
                );
            }
        }
    }
    let mut followed = Vec::new();
    for node in nodes.iter_mut().rev() {
        followed.extend(node.stop().err());
    }
    // Also after an error: what was queued must not run on while its operators are being dropped by
    // the caller. After a sticky error nothing waits.
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
        Ok(()) if followed.is_empty() => return Ok(()),
        Ok(()) => followed.remove(0),
    };
    if followed.is_empty() {
        return Err(cause);
    }
    Err(Error::Run { cause: Box::new(cause), followed })
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
    let mut asked = 0;
    while !stop.load(Ordering::Acquire) {
        let mut ran = false;
        after.clear();
        // Before the points are asked, so that none is reached in between unnoticed.
        let seen = (asked >= ASK).then(|| wakeup.raised());
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
        asked = if ran { 0 } else { asked + 1 };
        if ran {
            continue;
        } else if after.is_empty() {
            return Ok(());
        }
        match seen {
            None if turns::yield_turn() => {}
            None if asked <= SPIN => std::hint::spin_loop(),
            None => std::thread::yield_now(),
            // Whatever wakes it, all are asked again: a wake-up can be early, but not be lost.
            Some(seen) => wakeup.sleep(seen, &after)?,
        }
    }
    Ok(())
}
