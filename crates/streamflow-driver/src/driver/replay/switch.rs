//! The switch of a replaying driver. While it is on, each call goes through the state; while it is off, each call goes
//! directly to the driver below.
//!
//! # The invariant
//!
//! While the switch is off, no call needs the state, and no call makes the state wrong: no run replays, no call is held
//! back, each launch of a graph is complete, no event's latest record is inside of a launch, and each stream is marked as
//! one to which work may have been sent. So a call only costs one load more. The first launch of a run queries each of its
//! streams, and waits for those that have unfinished work. An idle stream needs no record and no wait.
//!
//! The switch is turned on when a run begins its first pass. It is turned off after the last run has ended and all launches
//! are complete ([`State::rest`](super::state::State::rest)): at the end of that run, or at a later call that queries the
//! launches again. A run that stops replaying counts as ended. The switch changes only under the lock of the state.
//!
//! While a run replays, each call locks the state once. Between passes a call goes directly to the driver below if its
//! stream already comes after all launches that have work of the stream. During a pass of another thread a call goes there
//! if no pass has had a call of its stream ([`State::is_beside`](super::state::State::is_beside)). So while one graph
//! replays, each call of another graph costs the lock of the state and a search for its stream: about 1 % of a tick of four
//! operators with kernels on an H200. A flag for each stream and event, read without the lock, would save that. But such
//! flags need a table of atomics with collisions, and each proof below a second time, and they gain less than law 20 demands
//! of a second path.
//!
//! A record or a wait that depends on no pass is made with the state locked. If the call blocks because the device's queue
//! is full, the thread of the pass waits for the lock meanwhile.
//!
//! # A call of another thread while the switch goes on
//!
//! Another thread may have read that the switch is off, and not have called the driver below yet, when a run turns the
//! switch on. The run does not wait for that call, since a call can block: on a full queue, or until a device is idle. The
//! order is right all the same:
//!
//! - A thread learns of a pass only by a message or a lock, and then sees the switch on. So a call that saw the switch off
//!   depends on no work of the pass.
//! - A kernel, a copy or a fill is queued by the thread that owns the stream: `CudaStream` is not `Sync`. A pass of another
//!   thread can use the stream only after its owner has handed the stream over, and so after the call.
//! - Several threads may make the stream of a memory pool wait, and allocate and free on it. Each call that queues work
//!   reads the switch again after the driver below has returned, and then marks its stream as one to which work was sent.
//!   The driver below takes the calls for a stream one after the other. If a launch records or queries the stream before the
//!   call is taken, the call sees the switch on; else the launch comes after the call.
//! - A thread may record, or synchronise, a stream while another thread holds back work of that stream. The recording thread
//!   stores the number of the record, and then reads the switch; the run sets the switch, and then reads the number for the
//!   work that it queues. Between its two steps, each thread makes a sequentially consistent fence. So the call finds the
//!   switch on, or the run counts on a later record: rule 2 of `stream::order` in `streamflow`, with a promise of
//!   [`Driver`](crate::driver::Driver).
//!
//! The same holds for a call that depends on no pass at the moment when a pass begins, or when a pass makes its first call
//! of that stream. A record or a wait of this kind is made under the lock of the state, and the pass waits for the lock. A
//! call that has read the switch as on goes through the state, even if the switch is off by then. That is right at any time.

use crate::sync::{AtomicBool, Ordering, fence};

/// The switch of a driver: whether its calls go through the replayer's state.
#[derive(Debug, Default)]
pub(super) struct Switch(AtomicBool);

impl Switch {
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        // Acquire: a thread that sees the switch off also sees all memory that was written before the last launch was found
        // complete.
        self.0.load(Ordering::Acquire)
    }

    /// Turns the switch on, when a run begins to replay. The caller has locked the state.
    pub(super) fn turn_on(&self) {
        self.0.store(true, Ordering::Relaxed);
        // The run reads numbers of records only after this fence (see the module's documentation).
        fence(Ordering::SeqCst);
    }

    /// Turns the switch off. The caller has locked the state, and `State::rest` has returned `true`.
    pub(super) fn turn_off(&self) {
        self.0.store(false, Ordering::Release);
    }
}
