//! The greedy scheduler: the nodes in their static order, on the caller's thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::graph::{AnyNode, Graph, Readiness};
use crate::platform::Platform;

/// How often streams are asked before the thread blocks: some 20 µs on a GPU. A count and not a time,
/// so that the simulator stays a function of its seed.
const ASK: u32 = 100;

/// Runs a graph until no node can run any more: all sources are done and all messages consumed, or an
/// operator asked for the end.
///
/// While a node waits for a stream, all others that can run do.
///
/// # Errors
/// The first error of an operator or of the device, with those that followed while the graph was
/// being stopped. Everything is released: no message is left in a queue.
pub fn run(graph: &mut dyn Graph) -> Result<()> {
    let platform = graph.platform().clone();
    let mut nodes = graph.nodes();
    let stop = Arc::new(AtomicBool::new(false));
    let done = start(&mut nodes, &stop).and_then(|()| passes(&mut nodes, &platform, &stop));
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

fn passes(nodes: &mut [&mut dyn AnyNode], platform: &Platform, stop: &AtomicBool) -> Result<()> {
    let mut asked = 0;
    loop {
        let mut ran = false;
        let mut after = None;
        for node in nodes.iter_mut() {
            match node.readiness()? {
                Readiness::Ready => {
                    node.tick()?;
                    ran = true;
                }
                Readiness::AfterStream(point) => after = after.or(Some(point)),
                Readiness::Blocked | Readiness::Done => {}
            }
        }
        if stop.load(Ordering::Acquire) {
            return Ok(());
        }
        asked = if ran { 0 } else { asked + 1 };
        match after {
            _ if ran => {}
            None => return Ok(()),
            Some(point) if asked > ASK => {
                platform.synchronize(point)?;
                asked = 0;
            }
            Some(_) => std::hint::spin_loop(),
        }
    }
}
