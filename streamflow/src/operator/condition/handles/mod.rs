//! Handles by which other threads decide when a node runs.
//!
//! A handle belongs to no graph: it may be used before the graph is made, between runs, and in several graphs. The node's
//! condition belongs to the graph, and shares the handle's state. The condition does not count as a handle: when all handles are
//! dropped, nothing can change the state any more.

mod asynchronous;
mod boolean;
mod sharers;

pub use asynchronous::AsyncHandle;
pub(super) use asynchronous::Notices;
pub use boolean::BooleanHandle;
pub(super) use boolean::Gate;

use sharers::Sharers;

use crate::context::Waker;
use crate::error::{Error, Result};

impl Sharers {
    /// Returns an error if all graphs that used the handle were dropped.
    fn check(&self, handle: &'static str) -> Result<()> {
        if self.is_left() {
            let problem = "its graph was dropped, so no node waits for it; make the next graph before the handle \
                           is used, or keep the graph";
            return Err(Error::Handle { handle, problem });
        }
        Ok(())
    }
}

/// The registration of a condition's waker at its handle, during a run. The handle then wakes the scheduler.
#[derive(Debug, Default)]
struct Listening(Option<Waker>);

impl Listening {
    fn begin(&mut self, sharers: &Sharers, waker: &Waker) {
        self.end(sharers);
        sharers.listeners.add(waker.signal());
        self.0 = Some(waker.clone());
    }

    fn end(&mut self, sharers: &Sharers) {
        if let Some(waker) = self.0.take() {
            sharers.listeners.remove(waker.signal());
        }
    }
}

/// The reason in reports why a condition does not hold after all its handles were dropped.
const ABANDONED: &str = "all its handles were dropped";
