//! Law 16: A seed repeats a run, threads included.
//!
//! Turns: of the threads of a run, one goes on at a time, and an [`Order`] says which.
//!
//! So the order in which threads meet is a function of what the order was made from, as a seed. A thread
//! hands the turn on
//! - at each call of the simulator, before that takes its lock ([`Turns::step`]);
//! - where it finds a [`Lock`](crate::lock::Lock) taken, since the holder may be a thread that has handed on
//!   the turn in a call of the simulator; and where it would sleep or spin ([`rest`]);
//! - in debug builds at named [points](point) between two steps that belong together;
//! - where it waits for the end of another thread, and at its own.
//!
//! Nobody hands on a turn while it holds the simulator's lock, or another lock that puts threads to sleep:
//! whoever has the turn then would wait for it in vain. That one is [named](Trouble) after some time, and
//! the turns are over: all threads go on as the operating system lets them.
//!
//! This module knows nothing of the others, so that all of them can use it. A thread that takes part in no
//! run is not slowed down: there is one look at a thread-local variable in places that are cold.

#[cfg(test)]
pub(crate) mod hooks;
mod member;
mod pct;
mod seat;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use member::{Member, Members, Until};

pub(crate) use pct::Pct;
pub(crate) use seat::{
    Place, Seat, Thread, current, is_kept, is_stuck, keep, me, rest, takes_turns,
};

/// For how long a thread may have the turn without a word, before it is said to be blocked.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a thread that waits for its turn looks in that time whether the others go on.
const LOOKS: u32 = 16;

/// Tells runs apart. None has the number 0.
static RUNS: AtomicU64 = AtomicU64::new(1);

/// Decides whose turn it is. Threads are numbered from 0 in the order in which they were made.
pub(crate) trait Order: fmt::Debug + Send {
    /// Which of the `ready` threads, at least two in rising order, goes on. `current` is the one that has
    /// the turn, if it is among them.
    fn next(&mut self, current: Option<usize>, ready: &[usize]) -> usize;

    /// There are several threads again, after there was only one for a while.
    fn begin(&mut self);
}

/// A place in the code where another thread may get the turn. Not in release builds.
#[inline(always)]
pub(crate) fn point(_name: &'static str) {
    #[cfg(debug_assertions)]
    seat::point(_name);
    #[cfg(test)]
    hooks::reached(_name);
}

/// What is wrong with the threads of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A thread that takes no turns has called the simulator.
    Foreign {
        /// Its name, or its number.
        thread: String,
    },
    /// A thread with the turn waits for something that the run knows nothing of.
    Blocked {
        /// Its name, or where it was spawned.
        thread: String,
        /// What it did last.
        since: &'static str,
    },
}

impl Trouble {
    /// The thread that caused it.
    pub(crate) fn thread(&self) -> &str {
        match self {
            Self::Foreign { thread } | Self::Blocked { thread, .. } => thread,
        }
    }
}

impl Trouble {
    /// What it did, and what to do instead: goes on after its name.
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Foreign { .. } => "was not spawned by `streamflow::testing::scope`: a test that is explored \
                                     owns the threads that use its device, or it could not be repeated"
                .to_owned(),
            Self::Blocked { since, .. } => format!(
                "had the turn and did nothing since {since}: it is blocked by something outside of streamflow, \
                 while the other threads of this explored test wait for their turn; let it wait for the \
                 device, by `join`, or in a loop with `streamflow::testing::yield_now`"
            ),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread `{}` {}", self.thread(), self.problem())
    }
}

/// The threads of one run, and whose turn it is.
pub(crate) struct Turns {
    number: u64,
    patience: Duration,
    state: Mutex<State>,
    /// There are several threads. Without the lock, for runs with one.
    several: AtomicBool,
    /// The run has ended, or is in [`Trouble`].
    over: AtomicBool,
}

#[derive(Debug)]
struct State {
    order: Box<dyn Order>,
    members: Members,
    trouble: Option<Trouble>,
}

impl Turns {
    /// For one run.
    pub(crate) fn new(order: Box<dyn Order>) -> Arc<Self> {
        Self::with_patience(order, PATIENCE)
    }

    fn with_patience(order: Box<dyn Order>, patience: Duration) -> Arc<Self> {
        let state = State { order, members: Members::default(), trouble: None };
        Arc::new(Self {
            number: RUNS.fetch_add(1, Ordering::Relaxed),
            patience,
            state: Mutex::new(state),
            several: AtomicBool::new(false),
            over: AtomicBool::new(false),
        })
    }

    /// Makes the calling thread the first of the run, which lasts until the seat is dropped.
    pub(crate) fn enter(self: &Arc<Self>) -> Seat {
        self.add(thread_name(), 0).sit()
    }

    /// What is wrong, if something is. The first that was found.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.lock().trouble.clone()
    }

    /// How many threads there were.
    pub(crate) fn threads(&self) -> usize {
        self.lock().members.count()
    }

    /// To be called where the simulator is called, before it takes its lock.
    pub(crate) fn step(&self, call: &'static str) -> Result<(), Trouble> {
        if let Some(index) = seat::index_in(self.number) {
            self.advance(index, call, false);
            return Ok(());
        }
        if self.is_over() || seat::has_left(self.number) {
            return Ok(());
        }
        let trouble = Trouble::Foreign { thread: thread_name() };
        self.lock().trouble.get_or_insert(trouble.clone());
        Err(trouble)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn add(self: &Arc<Self>, name: String, scope: u64) -> Place {
        let mut state = self.lock();
        let State { order, members, .. } = &mut *state;
        if members.are_alone() {
            order.begin();
        }
        let index = members.add(name, scope);
        drop(state);
        if index > 0 {
            self.several.store(true, Ordering::Release);
        }
        Place::new(self.clone(), index)
    }

    /// The thread has made a step, or has nothing to do until others have. May hand on the turn.
    fn advance(&self, index: usize, what: &'static str, rests: bool) {
        if !self.several.load(Ordering::Acquire) || self.is_over() || is_kept() {
            return;
        }
        let mut state = self.lock();
        let State { order, members, .. } = &mut *state;
        members.step(index, what, rests);
        members.hand_on(order.as_mut());
        self.wait(state, index);
    }

    /// Hands on the turn until something holds.
    fn wait_until(&self, index: usize, until: Until) {
        if self.is_over() {
            return;
        }
        let mut state = self.lock();
        let State { order, members, .. } = &mut *state;
        members.wait_until(index, until);
        members.hand_on(order.as_mut());
        self.wait(state, index);
    }

    /// Sleeps until it is the thread's turn.
    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>, index: usize) {
        let wake = state.members.wake(index);
        let (mut moves, mut looks) = (state.members.moves(), 0);
        while !state.members.has_turn(index) && !self.is_over() {
            let waited = wake.wait_timeout(state, self.patience / LOOKS);
            let (after, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = after;
            if moves != state.members.moves() {
                (moves, looks) = (state.members.moves(), 0);
                continue;
            }
            looks += u32::from(timeout.timed_out());
            if looks > LOOKS && !state.members.has_turn(index) {
                let Member { name, last, .. } = state.members.current();
                let trouble = Trouble::Blocked { thread: name.clone(), since: last };
                state.trouble.get_or_insert(trouble);
                self.release(&state);
            }
        }
    }

    /// The thread is at its end.
    fn end(&self, index: usize) {
        let mut state = self.lock();
        let State { order, members, .. } = &mut *state;
        if index == 0 {
            return self.release(&state);
        }
        members.end(index);
        // A place that nobody took is given up by another thread.
        if members.has_turn(index) && !self.is_over() {
            members.hand_on(order.as_mut());
        }
    }

    /// From here on nobody takes turns.
    fn release(&self, state: &State) {
        self.over.store(true, Ordering::Release);
        state.members.wake_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The calling thread's name, or its number.
fn thread_name() -> String {
    let me = thread::current();
    me.name().map_or_else(|| format!("{:?}", me.id()), str::to_owned)
}
