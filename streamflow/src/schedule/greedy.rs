//! The greedy scheduler: the nodes in their static order, on the caller's thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::race::RaceReports;
use crate::error::{Error, Result};
use crate::graph::{AnyNode, Graph, Readiness};
use crate::platform::Platform;
use crate::stream::Point;

/// How often streams are asked before the thread blocks: some 20 µs on a GPU. A count and not a time,
/// so that the simulator stays a function of its seed.
const ASK: u32 = 100;

/// Runs a graph until no node can run any more, or an operator asked for the end. So it ends when all
/// sources are done and what they sent was consumed; and also when a node waits for a message that
/// nobody will send, as behind two sources of different counts. Messages that wait then are dropped, and
/// a warning in the log names them.
///
/// While a node waits for a stream, all others that can run do.
///
/// # Errors
/// The first error of an operator or of the device, or [`Error::Races`] with all races that were found, with those that followed while the graph was
/// being stopped. Everything is released: no message is left in a queue.
pub fn run(graph: &mut dyn Graph) -> Result<()> {
    let platform = graph.platform().clone();
    let mut nodes = graph.nodes();
    let stop = Arc::new(AtomicBool::new(false));
    let mut races = RaceReports::default();
    let done =
        start(&mut nodes, &stop).and_then(|()| passes(&mut nodes, &platform, &stop, &mut races));
    if done.is_ok() && races.is_empty() && !stop.load(Ordering::Acquire) {
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
    for node in &nodes {
        if platform.driver().sticky_error().is_none() {
            followed.extend(node.synchronize_blocking().err());
        }
    }
    races.extend(platform.take_races());
    if !races.is_empty() {
        followed.insert(0, Error::Races(races));
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
    races: &mut RaceReports,
) -> Result<()> {
    let mut asked = 0;
    while !stop.load(Ordering::Acquire) {
        let mut ran = false;
        let mut after: Option<Point> = None;
        let mut several = false;
        for node in nodes.iter_mut() {
            match node.readiness()? {
                Readiness::Ready => ran |= node.tick()?,
                Readiness::AfterStream(point) => {
                    several |= after.is_some_and(|other| other != point);
                    after = Some(point);
                }
                Readiness::Blocked | Readiness::Done => {}
            }
        }
        if platform.is_watched() {
            races.extend(platform.take_races());
            if !races.is_empty() {
                return Ok(());
            }
        }
        asked = if ran { 0 } else { asked + 1 };
        match after {
            _ if ran => {}
            None => return Ok(()),
            // To block for one of several could hold up what waits for the others.
            Some(point) if asked > ASK && !several => {
                platform.synchronize(point)?;
                asked = 0;
            }
            Some(_) if asked > ASK => std::thread::yield_now(),
            Some(_) => std::hint::spin_loop(),
        }
    }
    Ok(())
}
