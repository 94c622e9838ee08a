//! Replay: a pass over a graph of operators that repeats the driver calls of an earlier pass is replaced by one launch of a
//! CUDA graph.
//!
//! [`Replaying`] wraps a driver. A platform of `streamflow` has a `Replaying` directly above CUDA or the simulator, below
//! the race checker and all other layers. While no run replays, the layer adds a relaxed load and a branch to each call, and
//! twice that to a call that queues work (`switch.rs`).
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

/// A driver that can replay passes as graphs. See the [module](self).
pub struct Replaying<D: Driver> {
    below: D,
    /// On while calls may be held back, or an event's latest record may be inside of a graph's launch.
    switch: Switch,
    tick: Arc<ReplayedTick>,
    /// The number of the node whose hook is running in the pass.
    node: AtomicU64,
    lost: Lost,
    /// The number of the thread that is inside of a call which has locked the state; 0 if no thread is.
    caller: AtomicU64,
    state: Lock<State>,
}

impl Replaying<SharedDriver> {
    /// Wraps a driver that also has other owners, such as a recorder whose log a test reads.
    pub fn over(below: Arc<dyn Driver>) -> Self {
        Self::new(SharedDriver(below))
    }

    /// As [`without`](Self::without), for a driver that also has other owners.
    ///
    /// # Safety
    /// As for [`without`](Self::without).
    #[doc(hidden)]
    pub unsafe fn over_without(below: Arc<dyn Driver>, omission: Omission) -> Self {
        // SAFETY: the caller's contract is the same.
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

    /// As [`new`](Self::new), with one rule left out, so that a test can show that the rule is needed.
    ///
    /// # Safety
    /// Without the rule, work may be replayed with the parameters of another pass, or before work that it must come after.
    /// Such work may use memory that other work writes, or that is free. So the driver below must be the simulator, which
    /// finds and refuses such a use; or each pass must use the same memory, in an order that does not depend on the rule.
    #[doc(hidden)]
    pub unsafe fn without(below: D, omission: Omission) -> Self {
        let replaying = Self::new(below);
        replaying.state.lock().omission = Some(omission);
        replaying
    }

    /// The driver below this layer.
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
        // After a sticky error the driver refuses calls, so this layer's graphs, streams and events are not destroyed.
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

/// A rule of the [module](self), or a part of a rule, that a driver leaves out in a test.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omission {
    /// Leaves out setting changed parameters before a launch.
    Parameters,
    /// Leaves out copying the parameters of the calls held back so far to the trace of the lane that the cursor moves to.
    TakenOver,
    /// Leaves out the comparison of accesses.
    Accesses,
    /// Leaves out the comparison of grids and blocks.
    Grid,
    /// Leaves out the comparison of kernels.
    Kernel,
    /// Leaves out the comparison of streams.
    Streams,
    /// Leaves out the comparison of the records that waits are for.
    Waits,
    /// Leaves out the comparison of lengths: a segment that has only the first calls of a lane's trace is replayed as the
    /// whole trace.
    Length,
    /// Leaves out the graph's edges between different streams of a trace.
    Edges,
    /// Leaves out rule 1: calls that are sent to a stream don't wait for the launches with work of that stream.
    SentAfterLaunches,
    /// Leaves out a part of rule 1: calls that are sent to a stream don't wait for a launch whose segment only made a wait
    /// on that stream, for a record from outside of the segment.
    WaitsBeside,
    /// Leaves out rule 2: a wait for a record inside of a launch is not made to wait for the launch.
    WaitsForLaunches,
    /// Leaves out a part of rule 3: only the latest lane is queried for the completion of its launches.
    EarlierLaunches,
    /// Leaves out a part of rule 3: a record inside of a launch counts as complete at once.
    Answers,
    /// Leaves out a part of rule 4: a launch does not wait for work that was sent to a stream of the trace.
    SentBefore,
    /// Leaves out a part of rule 4: a launch does not wait for the records from outside of the segment that the segment waits
    /// for.
    RecordsOutside,
    /// Leaves out a part of rule 4: if a segment waits for a record and then records the same event, the wait is taken to be
    /// for the new record.
    RecordedAgain,
    /// As `RecordedAgain`, in a segment whose held-back calls are sent one by one.
    RecordedAgainSent,
    /// Leaves out the loss of the driver: after a held-back call has failed, the driver goes on accepting calls.
    Lost,
    /// Leaves out a part of rule 4: later launches of other lanes don't wait for work that a launch waits for.
    OtherLanes,
    /// Leaves out a part of rule 4: a launch does not wait for work that was sent to a stream while no run replayed.
    SentMeanwhile,
    /// Leaves out a part of rule 2: an event that was recorded while no run replayed counts as holding its earlier record,
    /// inside of a launch.
    RecordedMeanwhile,
    /// Leaves out a part of rule 4: a launch does not wait for a call that another thread was making when the run began.
    Meanwhile,
    /// Leaves out rule 5: a launch does not wait for earlier launches of other lanes that access the same memory.
    Conflicts,
    /// Leaves out rule 6: a lane is still launched after memory that it uses was given back.
    GivenBack,
    /// Leaves out sending held-back calls before a call of another thread that may depend on them.
    Threads,
    /// Leaves out the check of a wait's event: a wait for an event that other code made is held back.
    ForeignEvents,
    /// Leaves out sending held-back calls before a host function.
    HostFunctions,
    /// Leaves out sending held-back calls before a library's call that may not be captured.
    Libraries,
    /// Leaves out the comparison of the plans of library calls.
    Plans,
    /// Leaves out the comparison of the values of library calls.
    Values,
    /// Leaves out sending held-back calls before a query or a synchronisation.
    Answered,
}
