//! Law 16: A seed repeats a run, threads included.
//!
//! A scheduler of test threads. Only the thread that has the *turn* executes; the other threads of its run wait. An
//! [`Order`] chooses the thread that gets the turn.
//!
//! So the interleaving of the threads is a function of the order's input, a seed for example. A thread may lose the turn
//! - at each call of the simulator, before the call acquires the simulator's lock ([`Turns::step`]);
//! - when another thread holds a [`Lock`](crate::lock::Lock) that this thread wants, since that other thread may have
//!   lost the turn in a call of the simulator; and when this thread would sleep or spin ([`yield_turn`]);
//! - in debug builds at named [points](point) between two steps that belong together;
//! - when it waits for the end of another thread, and at its own end.
//!
//! A thread never loses the turn while it holds the simulator's lock: the thread that gets the turn could wait for that
//! lock forever. A thread that blocks with the turn is [reported](Trouble) after some time, and so is a kernel's body that
//! keeps the turn. Then turns end: all threads run as the operating system schedules them.
//!
//! This module uses no other module, so every module can use it. A thread outside of runs is not slowed down: it reads
//! one thread-local variable, on slow paths only.

#[doc(hidden)]
#[cfg(any(test, feature = "hooks"))]
pub mod hooks;
mod participants;
mod participation;
mod pct;
mod scope;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use participants::{Participant, Participants, Until};

pub use participation::{
    Participation, Registration, Thread, current, explain_sleep, may_sleep, sleep, takes_turns,
    thread_index, within_body, yield_turn,
};
pub use pct::Pct;
pub use scope::{Scope, ScopedJoinHandle, scope, yield_now};

/// The time for which a thread may have the turn without a step, before it is reported as blocked.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of checks after which a kernel's body is reported that keeps the turn while another thread waits for the
/// turn: half of [`CHECKS`].
const BODY_CHECKS: u32 = CHECKS / 2;

/// The number of times within [`PATIENCE`] that a thread that waits for its turn checks whether other threads make steps.
const CHECKS: u32 = 16;

/// The number of the next run. Numbers distinguish runs, and no run has the number 0.
static RUNS: AtomicU64 = AtomicU64::new(1);

/// Chooses the thread that gets the turn. Threads are numbered from 0 in the order of their creation.
pub trait Order: fmt::Debug + Send {
    /// Chooses one of the `ready` threads: at least two, in rising order. `current` is the
    /// thread that has the turn, if it is among them.
    fn next(&mut self, current: Option<usize>, ready: &[usize]) -> usize;

    /// Called when `thread` was able to continue for many steps, and other threads had the turn in all of those steps.
    fn starves(&mut self, _thread: usize) {}

    /// Called when a thread is added while at most one other thread has not ended: a period with several threads begins.
    fn begin(&mut self);
}

/// Marks a named point in the code, where another thread may get the turn. Does nothing in release builds.
#[inline(always)]
pub fn point(_name: &'static str) {
    #[cfg(debug_assertions)]
    participation::point(_name);
    #[cfg(any(test, feature = "hooks"))]
    hooks::reached(_name);
}

/// An error of the threads of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A thread that takes no turns has called the simulator.
    Foreign {
        /// The name of the thread, or its number.
        thread: String,
    },
    /// A thread that has the turn waits for an event outside of the run.
    Blocked {
        /// The name of the thread, or the source location where it was spawned.
        thread: String,
        /// The last step of the thread.
        since: &'static str,
    },
    /// A kernel's body has kept the turn for too long.
    Body {
        /// The name of the thread that executes the kernel's body, or the source location where the thread was spawned.
        thread: String,
        /// The name of the kernel.
        kernel: Arc<str>,
    },
    /// A thread sleeps until another thread wakes it, and no other thread can.
    Asleep {
        /// The name of the thread, or the source location where it was spawned.
        thread: String,
        /// The event that the thread waits for, and the remedy, if the thread has [explained](explain_sleep) them.
        waits_for: Option<String>,
    },
}

impl Trouble {
    /// The name of the thread that caused the error.
    pub fn thread(&self) -> &str {
        match self {
            Self::Foreign { thread }
            | Self::Blocked { thread, .. }
            | Self::Body { thread, .. }
            | Self::Asleep { thread, .. } => thread,
        }
    }
}

impl Trouble {
    /// The mistake of the thread, and the remedy, as the predicate of a sentence about the thread.
    pub fn problem(&self) -> String {
        match self {
            Self::Foreign { .. } => "was not spawned by `streamflow::testing::scope`: a test that is explored \
                                     owns the threads that use its device, or it could not be repeated"
                .to_owned(),
            Self::Blocked { since, .. } => format!(
                "is blocked, perhaps in a `recv` or a lock of std, while it has the turn, for which the other threads \
                 of this explored test wait; the last place that it passed is \"{since}\"; let it wait for the \
                 device, by `join`, or in a loop with `streamflow::testing::yield_now`"
            ),
            Self::Body { kernel, .. } => format!(
                "executes the body of `{kernel}`, which has not ended for {} s while other threads of this explored test \
                 wait for the turn: does it wait for a lock or a thread? All threads run from there on, so this run can't \
                 be repeated",
                PATIENCE.as_secs() * u64::from(BODY_CHECKS) / u64::from(CHECKS)
            ),
            Self::Asleep { waits_for: Some(problem), .. } => problem.clone(),
            Self::Asleep { waits_for: None, .. } => "sleeps for ever: all other threads of this explored test have ended, sleep, or \
                                    wait for it, and none has woken it; what it waits for never comes, or its \
                                    wake-up is lost"
                .to_owned(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread `{}` {}", self.thread(), self.problem())
    }
}

/// The threads of one run, with the turn that one thread has at a time.
pub struct Turns {
    number: u64,
    patience: Duration,
    state: Mutex<State>,
    /// Whether the run ever had several threads. Read without the lock, so that runs with one thread are fast.
    several: AtomicBool,
    /// Whether turns have ended: the run has ended, or is in [`Trouble`].
    over: AtomicBool,
    /// The number of calls to the run's simulator, and of graphs and operators that began to run.
    uses: AtomicU64,
}

#[derive(Debug)]
struct State {
    order: Box<dyn Order>,
    threads: Participants,
    trouble: Option<Trouble>,
}

impl Turns {
    /// The turns of a new run.
    pub fn new(order: Box<dyn Order>) -> Arc<Self> {
        Self::with_patience(order, PATIENCE)
    }

    fn with_patience(order: Box<dyn Order>, patience: Duration) -> Arc<Self> {
        let state = State { order, threads: Participants::default(), trouble: None };
        Arc::new(Self {
            number: RUNS.fetch_add(1, Ordering::Relaxed),
            patience,
            state: Mutex::new(state),
            several: AtomicBool::new(false),
            over: AtomicBool::new(false),
            uses: AtomicU64::new(0),
        })
    }

    /// Makes the calling thread the first thread of the run. The run lasts until the result is dropped.
    pub fn enter(self: &Arc<Self>) -> Participation {
        self.add(thread_name(), 0).begin()
    }

    /// The run's number, never 0.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The first error that was found, if any.
    pub fn trouble(&self) -> Option<Trouble> {
        self.lock().trouble.clone()
    }

    /// The number of threads that the run had so far.
    pub fn threads(&self) -> usize {
        self.lock().threads.count()
    }

    /// The number of calls of [`mark_used`](Self::mark_used) in the run so far.
    pub fn uses(&self) -> u64 {
        self.uses.load(Ordering::Relaxed)
    }

    /// Counts a use of the run: a call to the simulator, or the begin of a graph or an operator, which may never call a
    /// driver.
    pub fn mark_used(&self) {
        self.uses.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes a step, at which another thread may get the turn. Each call of the simulator calls `step` before it takes its lock.
    ///
    /// # Errors
    /// [`Trouble::Foreign`] if the calling thread is not in the run.
    pub fn step(&self, call: &'static str) -> Result<(), Trouble> {
        self.mark_used();
        if let Some(index) = participation::index_in(self.number) {
            self.advance(index, call, false);
            return Ok(());
        }
        if self.is_over() || participation::has_left(self.number) {
            return Ok(());
        }
        let trouble = Trouble::Foreign { thread: thread_name() };
        self.lock().trouble.get_or_insert(trouble.clone());
        Err(trouble)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn add(self: &Arc<Self>, name: String, scope: u64) -> Registration {
        let mut state = self.lock();
        let State { order, threads, .. } = &mut *state;
        if threads.is_single_threaded() {
            order.begin();
        }
        let index = threads.add(name, scope);
        drop(state);
        if index > 0 {
            self.several.store(true, Ordering::Release);
        }
        Registration::new(self.clone(), index)
    }

    /// Counts a step of the thread, or lets the thread yield until another thread has made a step, and passes the turn
    /// on. The call returns when this thread has the turn again.
    fn advance(&self, index: usize, what: &'static str, yields: bool) {
        if !self.several.load(Ordering::Acquire) || self.is_over() {
            return;
        }
        let mut state = self.lock();
        let State { order, threads, .. } = &mut *state;
        threads.step(index, what, yields);
        threads.pass_turn(order.as_mut());
        self.wait(state, index);
    }

    /// Puts the thread to sleep until `is_awake` returns `true`. Returns `false` if no other thread is left that could
    /// wake this thread, or if turns have ended.
    fn sleep(&self, index: usize, is_awake: impl Fn() -> bool) -> bool {
        // Counts turns in a row in which only this thread could go on. By the second one, all sleeping threads have
        // checked again.
        let mut alone = 0;
        while !is_awake() {
            if self.is_over() || alone == 2 {
                return false;
            }
            let mut state = self.lock();
            let State { order, threads, .. } = &mut *state;
            threads.sleep(index);
            let steps = threads.progress();
            threads.pass_turn(order.as_mut());
            self.wait(state, index);
            let threads = &self.lock().threads;
            let is_alone = threads.progress() == steps && threads.is_alone(index);
            alone = if is_alone { alone + 1 } else { 0 };
        }
        true
    }

    /// Reports that the thread sleeps and that no other thread has woken it, and ends turns.
    fn report_asleep(&self, index: usize) {
        let mut state = self.lock();
        let thread = state.threads.name(index);
        state.trouble.get_or_insert(Trouble::Asleep { thread, waits_for: None });
        self.end_turns(&state);
    }

    /// Adds the event that a sleeping thread waits for to the report that no thread has woken it. Returns the thread's name.
    fn explain_sleep(&self, index: usize, problem: &str) -> String {
        let mut state = self.lock();
        let name = state.threads.name(index);
        if let Some(Trouble::Asleep { thread, waits_for }) = &mut state.trouble
            && *thread == name
        {
            waits_for.get_or_insert_with(|| problem.to_owned());
        }
        name
    }

    /// Whether turns have ended because a thread sleeps that no other thread can wake.
    fn is_asleep(&self) -> bool {
        matches!(self.lock().trouble, Some(Trouble::Asleep { .. }))
    }

    /// Makes the thread wait until the threads in `until` have ended. Other threads have the turn meanwhile.
    fn wait_until(&self, index: usize, until: Until) {
        if self.is_over() {
            return;
        }
        let mut state = self.lock();
        let State { order, threads, .. } = &mut *state;
        threads.wait_until(index, until);
        threads.pass_turn(order.as_mut());
        self.wait(state, index);
    }

    /// Sleeps until the thread has the turn, or turns have ended.
    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>, index: usize) {
        let wake = state.threads.wake(index);
        let (mut steps, mut checks) = (state.threads.steps(), 0);
        while !state.threads.has_turn(index) && !self.is_over() {
            let waited = wake.wait_timeout(state, self.patience / CHECKS);
            let (after, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = after;
            if steps != state.threads.steps() {
                (steps, checks) = (state.threads.steps(), 0);
                continue;
            }
            checks += u32::from(timeout.timed_out());
            let Participant { name, last, body, .. } = state.threads.current();
            let most = if body.is_some() { BODY_CHECKS } else { CHECKS };
            if checks > most && !state.threads.has_turn(index) {
                let thread = name.clone();
                let trouble = match body {
                    Some(kernel) => Trouble::Body { thread, kernel: kernel.clone() },
                    None => Trouble::Blocked { thread, since: last },
                };
                state.trouble.get_or_insert(trouble);
                self.end_turns(&state);
            }
        }
    }

    /// Notes that the thread has ended.
    fn end(&self, index: usize) {
        let mut state = self.lock();
        let State { order, threads, .. } = &mut *state;
        if index == 0 {
            return self.end_turns(&state);
        }
        threads.end(index);
        // The ended thread may not have the turn: a registration can be dropped whose thread never began. Then the turn stays.
        if threads.has_turn(index) && !self.is_over() {
            threads.pass_turn(order.as_mut());
        }
    }

    /// Ends turns: from now on all threads run at the same time.
    fn end_turns(&self, state: &State) {
        self.over.store(true, Ordering::Release);
        state.threads.wake_all();
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
    let current = thread::current();
    current.name().map_or_else(|| format!("{:?}", current.id()), str::to_owned)
}
