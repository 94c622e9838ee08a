//! The switch: while it is on, calls go through the state; while it is off, directly to the driver below.
//!
//! # The invariant
//!
//! While the switch is off, no call needs the state, and no call makes it wrong: no run replays, no call is held back, each
//! launch of a graph is complete, no event holds a record of a launch, and each stream counts as one that work may have been sent
//! to. So a call costs one load more. The first launch of a run queries each of its streams, and comes after those that have
//! work: a stream that has none saves the device a record and a wait.
//!
//! The switch goes on where a run begins its first pass. It goes off once the last run has ended and all launches are complete
//! ([`State::rest`](super::state::State::rest)): at the end of that run, or at a later call that queries the launches again. A
//! run that gives up replaying counts as ended. The switch changes only under the lock of the state.
//!
//! While a run replays, each call locks the state once. Between passes the call goes directly to the driver below if its stream
//! already comes after all launches that have work of the stream. During a pass of another thread the call goes there if no pass
//! has had a call of its stream ([`State::is_beside`](super::state::State::is_beside)). So where one graph replays, each call of
//! another one costs the lock of the state and a search for its stream: about 1 % of a tick of four operators with kernels on an
//! H200. A flag for each stream and event, read without the lock, would save that. Such flags need a table of atomics with
//! collisions, and each proof below a second time, and they gain less than law 20 demands of a second path.
//!
//! A record or a wait beside a pass is made with the state locked. While the device's queue has no room for this call, the pass
//! waits, too.
//!
//! # A call of another thread while the switch goes on
//!
//! Another thread has read that the switch is off, but may not have called the driver below yet. The run does not wait for this
//! call, since a call can block: on a full queue, or until a device is idle. The call is in order all the same:
//!
//! - A thread learns of a pass only by a message or a lock, and then sees the switch on. So a call that saw the switch off
//!   depends on nothing of the pass.
//! - A kernel, a copy or a fill is queued by the thread that owns the stream: `CudaStream` is not `Sync`. A pass of another
//!   thread can use the stream only after its owner has handed it over, and so after the call.
//! - Several threads may make the stream of a memory pool wait, and allocate and free on it. Each call that queues work reads the
//!   switch again after the driver below has returned, and then notes that work was sent to its stream. If a launch has recorded
//!   or queried the stream before the call, the call sees the switch on, since the driver below takes the calls for a stream one
//!   after the other; else the launch comes after the call.
//! - A thread may record, or synchronise, a stream while another thread holds back work of it. The recording thread stores the
//!   number of the record, and then reads the switch; the run sets the switch, and then reads the number for the work that it
//!   queues. In between, each thread makes a sequentially consistent fence. So the call finds the switch on, or the run counts
//!   on a later record: rule 2 of `stream::order` in `streamflow`, with a promise of [`Driver`](crate::driver::Driver).
//!
//! The same holds for a call that is beside all passes at the moment when a pass begins, or makes its first call of that stream.
//! A record and a wait are then made under the lock of the state, and the pass waits for that. A call that has read the switch as
//! on, though the switch is off by now, goes through the state. The way through the state is right at any time.

use crate::sync::{AtomicBool, Ordering, fence};

/// The switch of a driver.
#[derive(Debug, Default)]
pub(super) struct Switch(AtomicBool);

impl Switch {
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        // Acquire: a thread that sees the switch off sees all memory that was written before the last launch was found complete.
        self.0.load(Ordering::Acquire)
    }

    /// Turns the switch on, where a run begins to replay. The caller has the lock of the state.
    pub(super) fn turn_on(&self) {
        self.0.store(true, Ordering::Relaxed);
        // The run reads numbers of records only after this fence (see above).
        fence(Ordering::SeqCst);
    }

    /// Turns the switch off. The caller has the lock of the state, and `State::rest` has returned `true`.
    pub(super) fn turn_off(&self) {
        self.0.store(false, Ordering::Release);
    }
}
