//! Handles by which other threads decide when a node runs.
//!
//! A handle belongs to no graph: it may be used before the graph is made, between its runs, and in several graphs. What
//! belongs to the graph is the condition, which shares the handle's state and does not keep it alive: when all handles
//! are dropped, nobody can change the state any more.

mod asynchronous;
mod boolean;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use asynchronous::AsyncHandle;
pub(super) use asynchronous::Notices;
pub use boolean::BooleanHandle;
pub(super) use boolean::Gate;

use crate::context::Waker;
use crate::driver::Listeners;
use crate::error::{Error, Result};

/// The handles and the conditions that share a state.
#[derive(Debug)]
struct Sharers {
    handles: AtomicUsize,
    conditions: AtomicUsize,
    /// Whether there was ever a condition.
    had_condition: AtomicBool,
    listeners: Listeners,
}

impl Sharers {
    /// One handle.
    fn new() -> Self {
        Self {
            handles: AtomicUsize::new(1),
            conditions: AtomicUsize::new(0),
            had_condition: AtomicBool::new(false),
            listeners: Listeners::default(),
        }
    }

    fn add_handle(&self) {
        self.handles.fetch_add(1, Ordering::Relaxed);
    }

    /// A handle is dropped. Dropping the last one wakes the schedulers: their nodes wait in vain.
    fn remove_handle(&self) {
        if self.handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.listeners.raise();
        }
    }

    /// Whether all handles are dropped. Everything that they did is visible then.
    fn is_abandoned(&self) -> bool {
        self.handles.load(Ordering::Acquire) == 0
    }

    fn add_condition(&self) {
        self.conditions.fetch_add(1, Ordering::Relaxed);
        self.had_condition.store(true, Ordering::Relaxed);
    }

    fn remove_condition(&self) {
        self.conditions.fetch_sub(1, Ordering::Relaxed);
    }

    /// An error if the handle's graphs were all dropped.
    fn check(&self, handle: &'static str) -> Result<()> {
        if self.had_condition.load(Ordering::Relaxed)
            && self.conditions.load(Ordering::Relaxed) == 0
        {
            let problem = "its graph was dropped, so no node waits for it; make the next graph before the handle \
                           is used, or keep the graph";
            return Err(Error::Handle { handle, problem });
        }
        Ok(())
    }
}

/// The registration of a condition at its handles, for the length of a run.
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

/// Why a condition whose handles are gone does not hold.
const ABANDONED: &str = "all its handles were dropped";
