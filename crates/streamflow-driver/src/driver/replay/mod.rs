//! Replay: where a pass over a graph repeats its driver calls, they become one launch of a CUDA graph.
//!
//! [`Replaying`] wraps a driver. A platform of `streamflow` has it directly above CUDA or the simulator, below the race
//! checker and all other layers. While no run replays, the layer adds a relaxed load and a branch to each call, and twice that
//! to a call that queues work (`switch.rs`).
//!
#![doc = include_str!("README.md")]

mod answer;
mod bound;
mod captures;
mod cursor;
mod edges;
mod ending;
mod entry;
mod fingerprint;
mod follow;
mod footprint;
mod known;
mod lane;
mod layer;
mod library;
mod lost;
mod marks;
mod mode;
mod next;
mod objects;
mod observer;
mod outside;
mod pass;
mod sending;
mod shared_driver;
mod state;
mod switch;
#[cfg(all(test, not(loom)))]
mod tests;
mod trace;

use std::fmt;
use std::sync::Arc;

pub use super::passes::{Reason, ReplayReport, ReplayRun, ReplayedTick, Replays};
pub use shared_driver::SharedDriver;

use self::lost::Lost;
use self::state::State;
use self::switch::Switch;
use super::{Driver, report_in_drop};
use crate::lock::Lock;
use crate::sync::AtomicU64;

/// A driver that can replay passes. See the [module](self).
pub struct Replaying<D: Driver> {
    below: D,
    /// On while a call may be held back, or an event may hold a record that a graph's launch stands for.
    switch: Switch,
    tick: Arc<ReplayedTick>,
    /// The node with the hook that runs in the pass.
    node: AtomicU64,
    lost: Lost,
    /// The number of the thread whose call has locked the state; 0 for none.
    caller: AtomicU64,
    state: Lock<State>,
}

impl Replaying<SharedDriver> {
    /// Wraps a driver that has other owners, too, such as a recorder whose log a test reads.
    pub fn over(below: Arc<dyn Driver>) -> Self {
        Self::new(SharedDriver(below))
    }

    /// As [`without`](Self::without), over a driver that has other owners, too.
    ///
    /// # Safety
    /// As for [`without`](Self::without).
    #[doc(hidden)]
    pub unsafe fn over_without(below: Arc<dyn Driver>, omission: Omission) -> Self {
        // SAFETY: the caller vouches for the same.
        unsafe { Self::without(SharedDriver(below), omission) }
    }
}

impl<D: Driver> Replaying<D> {
    /// Wraps a driver.
    pub fn new(below: D) -> Self {
        let state = State::default();
        Self {
            below,
            switch: Switch::default(),
            tick: Arc::default(),
            node: AtomicU64::new(0),
            lost: state.lost.clone(),
            caller: AtomicU64::new(0),
            state: Lock::new(state),
        }
    }

    /// As [`new`](Self::new), with one rule left out: a test shows so that the rule is needed.
    ///
    /// # Safety
    /// Work may be replayed with the parameters of another pass, or before work that it must come after. So it may use memory
    /// that other work writes, or that is free. The driver below must be the simulator, since that finds and refuses such a use;
    /// or each pass must use the same memory, in an order that does not depend on the rule.
    #[doc(hidden)]
    pub unsafe fn without(below: D, omission: Omission) -> Self {
        let replaying = Self::new(below);
        replaying.state.lock().omission = Some(omission);
        replaying
    }

    /// The driver below.
    pub fn below(&self) -> &D {
        &self.below
    }

    #[inline]
    fn is_on(&self) -> bool {
        self.switch.is_on()
    }
}

impl<D: Driver> Drop for Replaying<D> {
    fn drop(&mut self) {
        // After a sticky error the graphs, streams and events of this layer are not destroyed.
        if self.sticky_error().is_none() {
            let state = self.state.get_mut();
            let failed = state.failed.take().map_or(Ok(()), Err);
            report_in_drop("a driver that replays is dropped", failed);
            state.destroy(&self.below);
        }
    }
}

impl<D: Driver> fmt::Debug for Replaying<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replaying").field("below", &self.below).finish_non_exhaustive()
    }
}

/// A rule of the [module](self), or a part of one, that a test leaves out.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omission {
    /// Parameters that have changed are not set.
    Parameters,
    /// Where the cursor moves to another lane, that lane's trace does not get the parameters of the calls held back so far.
    TakenOver,
    /// Accesses are not compared.
    Accesses,
    /// Grids and blocks are not compared.
    Grid,
    /// Kernels are not compared.
    Kernel,
    /// Streams are not compared.
    Streams,
    /// The record that a wait is for is not compared.
    Waits,
    /// A segment that has only the first calls of a lane's trace is replayed as the whole trace.
    Length,
    /// A trace has no edges between its streams.
    Edges,
    /// Leaves out rule 1.
    SentAfterLaunches,
    /// Leaves out rule 1, for streams that only wait.
    WaitsBeside,
    /// Leaves out rule 2.
    WaitsForLaunches,
    /// Rule 3: only the latest lane is asked whether its launches are complete.
    EarlierLaunches,
    /// Rule 3: a record of a launch counts as complete at once.
    Answers,
    /// Leaves out rule 4 for work that was sent to a stream of the trace.
    SentBefore,
    /// Leaves out rule 4 for records from outside.
    RecordsOutside,
    /// Rule 4: records from outside of the segment, of events that the segment records again.
    RecordedAgain,
    /// As `RecordedAgain`, in a segment whose held-back calls are sent one by one.
    RecordedAgainSent,
    /// After a held-back call that fails, the driver goes on taking calls.
    Lost,
    /// Leaves out rule 4 for the other lanes.
    OtherLanes,
    /// Leaves out rule 4 for work that was sent while no run replayed.
    SentMeanwhile,
    /// Leaves out rule 2 for events that were recorded while no run replayed.
    RecordedMeanwhile,
    /// Rule 4, for a call that another thread was making when a run began.
    Meanwhile,
    /// Leaves out rule 5.
    Conflicts,
    /// Leaves out rule 6.
    GivenBack,
    /// Held-back calls are not sent before a call of another thread that may depend on them.
    Threads,
    /// A wait for an event that other code made is held back.
    ForeignEvents,
    /// Held-back calls are not sent before a host function.
    HostFunctions,
    /// Held-back calls are not sent before a library's call that may not be captured.
    Libraries,
    /// The plans of calls of libraries are not compared.
    Plans,
    /// The values of calls of libraries are not compared.
    Values,
    /// Held-back calls are not sent before a query or a synchronisation.
    Answered,
}
