//! Replay: a pass over a graph whose calls repeat becomes one launch of a CUDA graph.
//!
//! [`Replaying`] wraps a driver. The platforms of `streamflow` have it
//! directly above CUDA or the simulator, below the race checker and all other layers: those see each call, as it was
//! asked for. While no run replays, a call costs a relaxed load and a branch more, and twice that if it queues something
//! (`switch.rs`).
//!
//! # A segment
//!
//! The greedy scheduler marks the begin and the end of a pass. The calls that its thread makes meanwhile form *segments*:
//! a segment ends where the pass ends, and where the host asks or waits for something. The calls of a segment form a
//! *trace*. A trace has launches, copies that don't block, fills, recycled memory, records, waits for records of the same
//! segment, and calls of libraries that may be captured. Two traces are equal if they have the same calls of the same nodes
//! in the same order: kind, stream, kernel, grid, block, shared memory, the number of parameters, and each access with its
//! address. A call of a library is compared by its plan, its values and its accesses (`captures.rs`). A record is compared by
//! its stream, and a wait by the place of its record in the trace: which event of a stream's ring holds the record changes
//! nothing. A wait that the same stream has made in the same hook, for the same record, is no call of the trace: it changes no
//! order. A wait for a record from outside of the segment is no part of the trace. It is kept beside it, and orders the whole
//! segment.
//!
//! A trace that comes a second time becomes an executable graph, with a stream of its own: a *lane*. The next segment is
//! held back as long as it is equal to the trace of a lane. If it ends with that trace, the lane's graph is launched. If a
//! call differs, or the segment ends earlier, the held-back calls are sent one by one in their order. Since addresses are
//! compared, each rotation of buffers gets its own lane, and the graphs of ticks in flight overlap.
//!
//! A segment *follows* the lane that came next the last time: a call is compared with the one at the cursor, and nothing of
//! it is kept. When it differs, the segment follows another lane that begins in the same way, or it is sent from the trace.
//!
//! # Parameters
//!
//! The bytes of a kernel's parameters are no part of this comparison. Where they differ, the trace takes over the new ones,
//! and the node gets them before the graph is launched ([`Driver::set_graph_kernel`]). CUDA applies that to later launches
//! of the executable graph alone, so earlier ones that are still queued keep theirs. A parameter has no padding, and its
//! unused bytes are zero, so that equal values have equal bytes.
//!
//! That is sound for each parameter, whatever it means. What orders launches is the memory that they access, and all of that
//! is stated as accesses, by the contract of [`Launch`](super::Launch): they are compared with their addresses, so that a
//! graph's edges, and rules 4 and 5 below, stay right. A slice's address is that of its access and so can't differ alone. A
//! number that a kernel takes for an address, as code with `unsafe` may pass it, changes like each other number: its caller
//! has stated the access, or has broken the contract with and without replay.
//!
//! # What orders a graph
//!
//! Within a graph the edges are those of the calls: the order of each stream, and the waits. Around it:
//!
//! 1. A call that is sent to a stream comes after all launches so far that have work of that stream, or a wait of it beside
//!    their trace.
//! 2. A call that waits for a record of a launch comes after all launches so far.
//! 3. An answer that a record of a launch, or a stream with work in it, is complete means that this launch and all launches
//!    before it are complete. So what the host concludes from one stream about another one stays true.
//! 4. Work that was sent to a stream of a trace, and each record from outside that it waits for, comes before the launch
//!    and before all later launches of every lane: a later trace of the stream may rely on a wait of an earlier one.
//! 5. A launch comes after the earlier launches of other lanes that access the same memory, if one of the two writes, and
//!    after those whose records it waits for. Launches of one lane are in order.
//! 6. A graph is launched no more once memory that it names is given back: freed, or disowned. CUDA ties a graph's copies and
//!    fills to the allocations of their memory, if that is page-locked or of `cuMemAlloc`, as adopted memory may be. Later
//!    memory at the same address gets a graph of its own. For memory of a stream-ordered pool (`cuMemAllocAsync`) the rule is
//!    stricter than CUDA on an H200 with driver 580, as the simulator is: the contract of a driver does not say how memory was
//!    made.
//!
//! Work that shares no memory may so overtake work of an earlier launch on the same stream. Nobody can see that: all
//! memory that work touches is declared, by the contract of [`Launch`](super::Launch), and code whose state is not
//! declared is never replayed. That is code of modules, which can have variables, and a library's call that does not say that
//! it may be captured.
//!
//! # What ends holding back
//!
//! All held-back calls are sent before a call that does not belong to a trace: a library's that may not be captured, a host
//! function, an allocation or a free, a copy that blocks, a stream or event that other code made or that has options, a stream
//! whose handle was given to other code, another device; then the rest of the pass goes as without replay. So it does when
//! another thread makes a call that may depend on what is held back. The end of the pass, a query and a synchronisation end the
//! segment, so that its calls are sent, by one launch or one by one, before the answer.
//!
//! A call of another thread is *beside* the pass if no pass has had a call of its stream, and the event that it waits for or
//! asks for holds a record that was sent. Nothing that is held back is before such a call: work depends on work of another
//! stream by a record alone, and its memory is in order by the contract of [`Launch`](super::Launch). An event that a held-back
//! wait is for is not recorded beside the pass, since the wait would be for the later record. A wait for the whole device is
//! never beside a pass.
//!
//! A held-back call that fails when it is sent returns its error, with the operator that asked for it, to the call that
//! made it be sent, and again at the end of the pass: the run fails. It had succeeded for its caller, who may have passed
//! on its data, so the driver is lost: each later call is refused, as after an error of the device. A launch of a graph that
//! fails has queued nothing: its calls are sent one by one, and the graph is launched no more.
//! So it is when a kernel of the graph can't get its parameters; the log names the kernel and the operator.
//!
//! Each rule has a test in `driver/replay/tests`, which fails without it: see [`Omission`].

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

/// A driver whose passes can be replayed. See the [module](self).
pub struct Replaying<D: Driver> {
    below: D,
    /// Whether calls may be held back, and records be those of a graph's launch.
    switch: Switch,
    tick: Arc<ReplayedTick>,
    /// The node whose hook runs in the pass.
    node: AtomicU64,
    lost: Lost,
    /// The thread whose call has the state; 0 if none has.
    caller: AtomicU64,
    state: Lock<State>,
}

impl Replaying<SharedDriver> {
    /// Wraps a driver that others hold, too, as a recorder whose log is read.
    pub fn over(below: Arc<dyn Driver>) -> Self {
        Self::new(SharedDriver(below))
    }

    /// As [`without`](Self::without), over such a driver.
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

    /// As [`new`](Self::new), without one of the rules, so that tests can show that it is needed.
    ///
    /// # Safety
    /// Work may be replayed with the parameters of another pass, or before what it must come after. So it may use memory that
    /// other work writes, or that is free. The driver below is the simulator, which finds and refuses such a use; or the work
    /// uses the same memory in each pass, in an order that does not depend on the rule.
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
        // After a sticky error nothing is given back.
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

/// A rule of the [module](self) that a test leaves out.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omission {
    /// Parameters that have changed are not set.
    Parameters,
    /// A trace that is followed from some call on takes over no parameters of the calls before.
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
    /// A segment that ends earlier than the trace is taken for it.
    Length,
    /// A trace has no edges between its streams.
    Edges,
    /// Rule 1.
    SentAfterLaunches,
    /// Rule 1, for streams that only wait.
    WaitsBeside,
    /// Rule 2.
    WaitsForLaunches,
    /// Rule 3: only the latest lane is asked.
    EarlierLaunches,
    /// Rule 3: a record of a launch is taken for complete.
    Answers,
    /// Rule 4: work that was sent to a stream of the trace.
    SentBefore,
    /// Rule 4: records from outside.
    RecordsOutside,
    /// Rule 4: records from outside whose event the segment records again.
    RecordedAgain,
    /// The same, where the held-back calls are sent.
    RecordedAgainSent,
    /// A held-back call that fails leaves the driver as it is.
    Lost,
    /// Rule 4, for the other lanes.
    OtherLanes,
    /// Rule 4, for what was sent while no run replayed.
    SentMeanwhile,
    /// Rule 2, for what was recorded while no run replayed.
    RecordedMeanwhile,
    /// Rule 4, for a call of another thread that a run does not see when it begins.
    Meanwhile,
    /// Rule 5.
    Conflicts,
    /// Rule 6.
    GivenBack,
    /// Held-back calls are not sent before another thread's.
    Threads,
    /// A wait for an event that other code made is held back.
    ForeignEvents,
    /// Held-back calls are not sent before a host function.
    HostFunctions,
    /// Held-back calls are not sent before a library's that may not be captured.
    Libraries,
    /// The plans of calls of libraries are not compared.
    Plans,
    /// The values of calls of libraries are not compared.
    Values,
    /// Held-back calls are not sent before a query or a synchronisation.
    Answered,
}
