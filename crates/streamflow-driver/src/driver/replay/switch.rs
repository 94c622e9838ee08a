//! The switch: while it is on, calls go through the state; while it is off, directly to the driver below.
//!
//! # The invariant
//!
//! While the switch is off, no call needs the state, and no call makes it wrong: no run replays, no call is held back, each
//! launch of a graph is complete, no event holds a record of a launch, and each stream counts as one that something may have
//! been sent to. So a call costs a relaxed load. The first launch of a run asks the driver whether a stream has work, and
//! orders itself after the streams that have: an order costs the device a record and a wait for each stream.
//!
//! The switch goes on where a run begins its first pass. It goes off once the last run has ended and all launches are
//! complete ([`State::rest`](super::state::State::rest)): at the end of that run, or at a later call that asks again. A run
//! that gives up has ended. The switch changes only under the lock of the state.
//!
//! While a run replays, a call takes one look at the state. Between passes it is made directly if its stream comes after all
//! launches that have work of it; and beside a pass of another thread if no pass has had a call of its stream
//! ([`State::is_beside`](super::state::State::is_beside)). So the look of a graph that doesn't replay, beside one that does,
//! costs the lock of the state and a search of its stream, about 1 % of a tick of four operators with kernels on an H200. A
//! mark for each stream and event that is read without the lock would save that. Such marks need a table of atomics with
//! collisions, and each proof below once more for each mark, for less than law 20 asks of a second path.
//!
//! A record or a wait beside a pass is made with the state locked. While the device has no room for it, the pass waits, too.
//!
//! # A call of another thread while the switch goes on
//!
//! The call has found the switch off and may not be made yet. The run does not wait for it, since a call can block: on a full
//! queue, or until a device is idle. The call is in order all the same:
//!
//! - A thread knows of a pass only by a message or a lock, and so it sees the switch on. A call that was begun before depends on
//!   nothing of the pass.
//! - A kernel, a copy or a fill is queued by the thread that has the stream: `CudaStream` is not `Sync`. A pass can use this
//!   stream only after it was handed over, and so after the call.
//! - Several threads may make one stream wait, and allocate and free on it: the one of a memory pool. Each call that queues
//!   something looks at the switch again when it is made, and notes that something was sent to its stream. If a launch has
//!   recorded the stream, or asked for its work, before the call, the call sees the switch, since the driver below takes the
//!   calls for a stream one after the other; else the launch comes after the call.
//! - A thread may record, or synchronise, a stream while another thread holds back work of it. The recording thread stores the
//!   number of the record, and then reads the switch; the run sets the switch, and then reads the number for the work that it
//!   queues. In between, each thread makes a sequentially consistent fence. So the call finds the switch on, or the run counts
//!   on a later record: rule 2 of `stream::order` in `streamflow`, with a promise of [`Driver`](crate::driver::Driver).
//!
//! The same holds for a call that is beside all passes when a pass begins, or when a pass makes its first call of the stream. A
//! record and a wait are then made under the lock of the state, and the pass waits for that. A call that finds the switch on
//! although it is off by now goes through the state, and that is right at any time.

use crate::sync::{AtomicBool, Ordering, fence};

/// The switch of a driver.
#[derive(Debug, Default)]
pub(super) struct Switch(AtomicBool);

impl Switch {
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        // Acquire: a thread that sees the switch off reads all that was written before the last launch was found complete.
        self.0.load(Ordering::Acquire)
    }

    /// Turns the switch on: a run begins to replay. The state is locked.
    pub(super) fn turn_on(&self) {
        self.0.store(true, Ordering::Relaxed);
        // The fence is before the run reads the number of a record.
        fence(Ordering::SeqCst);
    }

    /// Turns the switch off. The state is at rest, and locked.
    pub(super) fn turn_off(&self) {
        self.0.store(false, Ordering::Release);
    }
}
