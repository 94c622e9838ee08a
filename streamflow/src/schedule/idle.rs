//! How a scheduler waits when no node can run: its thread spins for a short time, and then sleeps.
//!
//! A spinning thread finds a finished stream as soon as a loop of queries written by hand does, but it uses a processor core. A
//! sleeping thread uses no core, and wakes up 25 to 250 µs later than a spinning one (`tests/benches/wake_up.rs`, with the
//! recorded run in `tests/gpu-results`). Most of that time is what the processor needs to leave its sleep state: waking a bare
//! futex takes 6 to 28 µs there. So the spin has a limit.
//!
//! No wake-up is lost. The thread reads the signal's count before the nodes check their conditions, and whoever changes a
//! condition raises the signal afterwards. So if the checks did not see a change, the signal was raised after its count was read,
//! and the thread does not sleep.
//!
//! With a simulated clock, nothing in this file depends on real time, so a run with the same seed is the same run.

use std::time::Duration;

use crate::context::{Command, RunControl};
use crate::error::Result;
use crate::graph::Waits;
use crate::platform::Platform;
use crate::stream::Wakeup;
use crate::time::Timestamp;
use crate::turns;

/// How many queries a scheduler's thread makes before it sleeps, however long they take, if the driver executes work only inside
/// of calls (`works_alone` is `false`). Work needs more queries only if a host function waits for another thread.
const QUERIES_BEFORE_SLEEP: u32 = 15_000;

/// After each of the first queries, this many of them, the thread only spins. After later queries it yields its core.
const SPINS_BEFORE_YIELD: u32 = 100;

/// The longest duration of a sleep that only a signal should end. If no signal has come by then, the scheduler sleeps again.
pub(super) const LONG: Duration = Duration::from_secs(3600);

/// What a waiting thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The thread checks the conditions again at once.
    Again,
    /// The thread has advanced a simulated clock, and checks the conditions again.
    Advanced,
    /// The thread sleeps, at most for this duration.
    Sleep(Duration),
}

/// The state of a scheduler that waits until a node can run.
pub(super) struct Idle<'a> {
    platform: &'a Platform,
    wakeup: Wakeup,
    /// Whether the device's work goes on only while the scheduler queries the device.
    must_query: bool,
    /// The number of passes in a row in which no node has changed anything.
    passes: u32,
    /// The moment at which the first of the passes that `passes` counts ended, by a real clock.
    since: Option<Timestamp>,
    /// The count of the signal that was read at the beginning of this pass.
    seen: u64,
    /// Whether the thread has slept, or has advanced a simulated clock, since the last check whether any node has work.
    has_waited: bool,
}

impl<'a> Idle<'a> {
    pub(super) fn new(platform: &'a Platform, run: &RunControl) -> Self {
        Self {
            platform,
            wakeup: Wakeup::new(platform.streams(), run.signal(), run.nodes().len()),
            must_query: !platform.driver().observer().works_alone(),
            passes: 0,
            since: None,
            seen: 0,
            has_waited: false,
        }
    }

    /// Begins a pass. Reads the signal's count, if the pass before has changed nothing.
    #[inline]
    pub(super) fn begin_pass(&mut self) {
        if self.passes > 0 {
            self.seen = self.wakeup.raised();
        }
    }

    /// Ends the wait, since a node has run.
    #[inline]
    pub(super) fn end(&mut self) {
        self.passes = 0;
    }

    /// Whether the nodes may have run out of work since the last call: a node has run, or time has passed.
    pub(super) fn looks_for_work(&mut self) -> bool {
        std::mem::take(&mut self.has_waited) || self.passes == 0
    }

    /// Waits until an event may have happened for which a node waits. Returns `false` if no thread is left that could cause one;
    /// only an explored test knows this, by its list of threads.
    pub(super) fn wait(&mut self, waits: &Waits) -> Result<bool> {
        match self.rest(waits, true) {
            Rest::Again | Rest::Advanced => Ok(true),
            Rest::Sleep(at_most) => self.sleep(waits, at_most),
        }
    }

    /// Decides how the thread waits, and spins for a moment if it is not to sleep yet. `may_advance` says that no other thread
    /// runs a node, so that a simulated clock may advance.
    pub(super) fn rest(&mut self, waits: &Waits, may_advance: bool) -> Rest {
        self.passes += 1;
        if self.passes == 1 {
            self.since = None;
        }
        let is_turn = turns::yield_turn();
        if waits.is_at_once() {
            return Rest::Again;
        }
        let queries = self.must_query && !waits.points().is_empty();
        if self.passes == 1 || queries && self.passes < QUERIES_BEFORE_SLEEP {
            // In the first pass the signal's count was not read, so the thread must not sleep.
            if !is_turn && self.passes <= SPINS_BEFORE_YIELD {
                std::hint::spin_loop();
            } else if !is_turn {
                std::thread::yield_now();
            }
            return Rest::Again;
        }
        let clock = self.platform.clock();
        let now = clock.now();
        let due = waits.earliest();
        if waits.points().is_empty()
            && may_advance
            && let Some(due) = due
            && clock.advance_to(due)
        {
            self.has_waited = true;
            return Rest::Advanced;
        }
        let since = *self.since.get_or_insert(now);
        // With a simulated clock there is no spin: the clock does not advance during a spin, so the spin would never end.
        let may_spin = !is_turn && !queries && !clock.is_simulated();
        if may_spin && now.since(since) < self.platform.spin() {
            std::hint::spin_loop();
            return Rest::Again;
        }
        let due = due.filter(|_| may_advance || !clock.is_simulated());
        Rest::Sleep(due.map_or(LONG, |due| due.since(now)))
    }

    /// Sleeps for the duration that [`rest`](Self::rest) has returned, or until an event may have happened.
    pub(super) fn sleep(&mut self, waits: &Waits, at_most: Duration) -> Result<bool> {
        self.has_waited = true;
        self.wakeup.sleep(self.seen, waits.points(), at_most)
    }

    /// Sleeps until the command is not `Pause` any more. Returns `false` if no thread is left that could change the command.
    pub(super) fn pause(&mut self, run: &RunControl) -> bool {
        self.passes = 0;
        let seen = self.wakeup.raised();
        run.command() != Command::Pause || run.signal().sleep(seen, LONG)
    }
}
