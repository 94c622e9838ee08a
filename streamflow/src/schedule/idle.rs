//! The waits of a scheduler when no node can run: it spins for a short time, and then its thread sleeps.
//!
//! A spin finds a finished stream as soon as a loop of queries by hand does, and needs a processor core. A sleeping thread
//! costs nothing, and wakes up 25 to 250 µs later than a spin (`tests/benches/wake_up.rs`, with the recorded run in
//! `tests/gpu-results`). The processor needs most of that time to leave its sleep state: a bare futex takes 6 to 28 µs
//! there. So the spin is bounded.
//!
//! No wake-up is lost: the thread reads the signal's count before the nodes check their conditions, and whoever changes a
//! condition raises the signal afterwards. So a change that the checks did not see raises the signal after its count was
//! read, and the thread does not sleep.
//!
//! With a simulated clock nothing here depends on real time, so that a seed repeats a run.

use std::time::Duration;

use crate::context::{Command, RunControl};
use crate::error::Result;
use crate::graph::Waits;
use crate::platform::Platform;
use crate::stream::Wakeup;
use crate::time::Timestamp;
use crate::turns;

/// The number of queries before a scheduler's thread sleeps, without regard to time, if the driver executes work
/// only inside of calls (`works_alone` is `false`). Only a host function that waits for another thread takes more
/// queries.
const QUERIES_BEFORE_SLEEP: u32 = 15_000;

/// After each of the first queries, this many, the thread only spins. After later queries it yields its core.
const SPINS_BEFORE_YIELD: u32 = 100;

/// The longest duration of a sleep that only a signal is to end. If none has come by then, the scheduler sleeps again.
pub(super) const LONG: Duration = Duration::from_secs(3600);

/// The next action of a thread that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// The thread checks again at once.
    Again,
    /// The thread has moved a simulated clock, and checks again.
    Advanced,
    /// The thread sleeps, at most for so long.
    Sleep(Duration),
}

/// The state of a scheduler between two nodes that run.
pub(super) struct Idle<'a> {
    platform: &'a Platform,
    wakeup: Wakeup,
    /// Whether the scheduler must query the device for its work to go on.
    must_query: bool,
    /// The number of passes in a row that have changed nothing.
    passes: u32,
    /// The end of the first of these passes, by a real clock.
    since: Option<Timestamp>,
    /// The count of the signal before this pass.
    seen: u64,
    /// Whether time has passed since the nodes were last checked for work.
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

    /// Begins a pass: reads the signal.
    #[inline]
    pub(super) fn begin_pass(&mut self) {
        if self.passes > 0 {
            self.seen = self.wakeup.raised();
        }
    }

    /// Ends the wait: a node has run.
    #[inline]
    pub(super) fn end(&mut self) {
        self.passes = 0;
    }

    /// Whether the nodes may have run out of work since the last call: they ran, or time has passed.
    pub(super) fn looks_for_work(&mut self) -> bool {
        std::mem::take(&mut self.has_waited) || self.passes == 0
    }

    /// Waits until something that the nodes wait for can have changed. Returns `false` if nothing is left that could
    /// change it; only an explored test knows that, from its list of threads.
    pub(super) fn wait(&mut self, waits: &Waits) -> Result<bool> {
        match self.rest(waits, true) {
            Rest::Again | Rest::Advanced => Ok(true),
            Rest::Sleep(at_most) => self.sleep(waits, at_most),
        }
    }

    /// Decides how the thread waits; if it is not to sleep yet, spins a bit first. `may_advance`: no other thread runs
    /// a node, so a simulated clock may move.
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
            // In the first pass the signal was not read.
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
        // No spin with a simulated clock: the clock stands still meanwhile, so the spin would never end.
        let may_spin = !is_turn && !queries && !clock.is_simulated();
        if may_spin && now.since(since) < self.platform.spin() {
            std::hint::spin_loop();
            return Rest::Again;
        }
        let due = due.filter(|_| may_advance || !clock.is_simulated());
        Rest::Sleep(due.map_or(LONG, |due| due.since(now)))
    }

    /// Sleeps, as [`rest`](Self::rest) has said.
    pub(super) fn sleep(&mut self, waits: &Waits, at_most: Duration) -> Result<bool> {
        self.has_waited = true;
        self.wakeup.sleep(self.seen, waits.points(), at_most)
    }

    /// Sleeps until the command is no longer to pause. Returns `false` if no thread is left that could change the command.
    pub(super) fn pause(&mut self, run: &RunControl) -> bool {
        self.passes = 0;
        let seen = self.wakeup.raised();
        run.command() != Command::Pause || run.signal().sleep(seen, LONG)
    }
}
