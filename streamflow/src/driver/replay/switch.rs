//! Whether calls go through the state, or directly to the driver below.
//!
//! # Off
//!
//! While the switch is off, no call needs the state, and no call makes it wrong: no run replays, no call is held back, each
//! launch of a graph is complete, no event holds a record of a launch, and each stream counts as one that something was sent
//! to. So a call costs a relaxed load and is made directly.
//!
//! The switch goes on where a run begins its first pass. It goes off where the last run has ended, once all launches are
//! complete ([`State::rest`](super::state::State::rest)): at the end of that run, or at a later call. Both happen under the
//! lock of the state.
//!
//! # A call of another thread while the switch goes on
//!
//! Such a call has found the switch off and may not be made yet. The run does not wait for it, since a call can block: on a
//! full queue, or until a device is idle. The call is in order all the same:
//!
//! - Whatever a thread knows of a pass, it knows from a message or by a lock. So it sees that the switch is on, and a call
//!   that was begun before depends on nothing of the pass.
//! - A kernel, a copy or a fill is queued by the thread that has the stream: `CudaStream` is not `Sync`. The pass uses this
//!   stream only after it was handed over, and so after the call.
//! - Several threads make one stream wait, and free memory on it: that on which a pool frees. Each call that queues something
//!   looks at the switch again when it is made, and notes that something was sent to its stream. If a launch has asked for
//!   that stream's work before the call, the call sees the switch, since the driver below takes the calls for a stream one
//!   after the other; else the launch comes after the call.
//! - Another thread than that of the pass may record its stream. The number of the record is stored first, and then the switch
//!   is read; the run sets the switch first, and then reads the number for what it queues. A sequentially consistent fence
//!   is between the two steps of both threads. So the thread finds the switch on, or the run sees the number and counts on
//!   a later record: rule 2 of [`stream::order`](crate::stream), and a promise that [`Driver`](crate::driver::Driver) has
//!   from its callers.
//!
//! A call that finds the switch on although it is off by now goes through the state, which is right at any time.

use crate::sync::{AtomicBool, Ordering, fence};

/// The switch of a driver.
#[derive(Debug, Default)]
pub(super) struct Switch(AtomicBool);

impl Switch {
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// A run begins to replay. The state is locked.
    pub(super) fn turn_on(&self) {
        self.0.store(true, Ordering::Relaxed);
        // Before the run reads the number of a record.
        fence(Ordering::SeqCst);
    }

    /// The state is at rest, and locked.
    pub(super) fn turn_off(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
