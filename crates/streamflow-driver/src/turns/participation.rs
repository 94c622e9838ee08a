//! A thread's part in a run.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::{Turns, Until};

thread_local! {
    /// The runs that this thread takes part in. The innermost run is last.
    static RUNS: RefCell<Vec<(Arc<Turns>, usize)>> = const { RefCell::new(Vec::new()) };
    /// The run that this thread left last. The thread's destructors may still call the simulator of that run.
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// A thread's registration in a run, made before the thread begins. Dropping the registration ends the thread's part in the run.
#[derive(Debug)]
pub struct Registration {
    turns: Arc<Turns>,
    index: usize,
}

/// The calling thread's part in a run, until it is dropped.
#[derive(Debug)]
pub struct Participation {
    registration: Registration,
    /// The value stays on its thread.
    _not_send: PhantomData<*const ()>,
}

/// A handle of a thread in a run, for threads that wait for its end.
#[derive(Debug, Clone)]
pub struct Thread {
    turns: Arc<Turns>,
    index: usize,
}

/// The calling thread's handle in the innermost run that it takes part in.
pub fn current() -> Option<Thread> {
    let last = |runs: &RefCell<Vec<(Arc<Turns>, usize)>>| runs.borrow().last().cloned();
    let (turns, index) = RUNS.try_with(last).ok().flatten()?;
    Some(Thread { turns, index })
}

/// The calling thread's number in its run; 0 outside of runs.
pub fn thread_index() -> usize {
    current().map_or(0, |thread| thread.index)
}

/// Whether the calling thread takes turns, so that it must wait by [`yield_turn`].
pub fn takes_turns() -> bool {
    current().is_some_and(|thread| !thread.turns.is_over())
}

/// Yields the turn of a thread that can do nothing until another thread has made a step. The thread gets the turn again
/// after such a step, or when no other thread can make a step. Returns `false` outside of runs.
pub fn yield_turn() -> bool {
    let Some(Thread { turns, index }) = current() else { return false };
    turns.advance(index, "yielding", true);
    !turns.is_over()
}

/// Whether the calling thread must sleep by calling [`sleep`]: the thread takes turns, or turns have ended because a
/// thread slept in this way and no thread woke it.
pub fn may_sleep() -> bool {
    let ended = || current().is_some_and(|thread| thread.turns.is_asleep());
    takes_turns() || ended()
}

/// Sleeps without a time limit until `is_awake` returns `true`, for a thread that another thread wakes. Outside of runs
/// the call returns at once. If the run has no thread left that could wake this one, `wait` is called to sleep for some
/// time, since a thread outside of the run may wake it; after that the run is in [trouble](super::Trouble), and the
/// call returns `false`: nothing will wake the thread.
pub fn sleep(is_awake: impl Fn() -> bool, wait: impl FnOnce(Duration)) -> bool {
    let Some(Thread { turns, index }) = current() else { return true };
    if turns.sleep(index, &is_awake) || turns.is_over() && !turns.is_asleep() {
        return true;
    }
    wait(turns.patience);
    if is_awake() {
        return true;
    }
    turns.report_asleep(index);
    false
}

/// Adds the event that the calling thread waits for, and the remedy, to the report of a [`sleep`] that nothing has
/// ended. Returns the thread's name.
pub fn explain_sleep(problem: &str) -> String {
    current().map_or_else(super::thread_name, |Thread { turns, index }| {
        turns.explain_sleep(index, problem)
    })
}

#[cfg(debug_assertions)]
pub(super) fn point(name: &'static str) {
    if let Some(Thread { turns, index }) = current() {
        turns.advance(index, name, false);
    }
}

/// Records that the calling thread executes the body of a kernel, until the result is dropped. The thread keeps the
/// turn during the body.
pub fn within_body(kernel: &Arc<str>) -> WithinBody {
    let thread = current();
    if let Some(Thread { turns, index }) = &thread {
        turns.lock().threads.set_body(*index, Some(kernel.clone()));
    }
    WithinBody(thread)
}

/// The guard of [`within_body`].
#[derive(Debug)]
pub struct WithinBody(Option<Thread>);

impl Drop for WithinBody {
    fn drop(&mut self) {
        if let Some(Thread { turns, index }) = &self.0 {
            turns.lock().threads.set_body(*index, None);
        }
    }
}

/// The calling thread's number in the run with the number `run`.
pub(super) fn index_in(run: u64) -> Option<usize> {
    let find = |runs: &RefCell<Vec<(Arc<Turns>, usize)>>| {
        let runs = runs.borrow();
        runs.iter().find(|(turns, _)| turns.number == run).map(|(_, index)| *index)
    };
    RUNS.try_with(find).ok().flatten()
}

/// Whether `run` is the run that the calling thread took part in and left last.
pub(super) fn has_left(run: u64) -> bool {
    LEFT.get() == run
}

impl Thread {
    /// The run.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Returns a new number for a scope of threads.
    pub fn new_scope(&self) -> u64 {
        self.turns.lock().threads.new_scope()
    }

    /// Registers a thread of a scope that the calling thread is about to spawn.
    pub fn register(&self, scope: u64, spawned: &Location<'_>) -> Registration {
        self.turns.add(format!("spawned at {spawned}"), scope)
    }

    /// Makes a step: the calling thread has spawned a thread.
    pub fn spawned(&self) {
        self.turns.advance(self.index, "spawning a thread", false);
    }

    /// Waits, as the calling thread, for the end of another one.
    pub fn join(&self, other: &Self) {
        self.turns.wait_until(self.index, Until::Ended(other.index));
    }

    /// Waits, as the calling thread, for the end of all threads of a scope.
    pub fn join_scope(&self, scope: u64) {
        self.turns.wait_until(self.index, Until::ScopeEnded(scope));
    }

    /// Whether the thread has ended; `None` if it may be running after turns have ended.
    pub fn has_ended(&self) -> Option<bool> {
        let ended = self.turns.lock().threads.has_ended(self.index);
        (ended || !self.turns.is_over()).then_some(ended)
    }
}

impl Registration {
    pub(super) fn new(turns: Arc<Turns>, index: usize) -> Self {
        Self { turns, index }
    }

    /// A handle of the registered thread.
    pub fn thread(&self) -> Thread {
        Thread { turns: self.turns.clone(), index: self.index }
    }

    /// Makes the calling thread the registered one, and waits for its first turn.
    pub fn begin(self) -> Participation {
        // A thread that is running the destructors of its thread-locals has no `RUNS` any more: it then takes part in no run.
        let entry = (self.turns.clone(), self.index);
        let _gone = RUNS.try_with(|runs| runs.borrow_mut().push(entry));
        self.turns.wait(self.turns.lock(), self.index);
        Participation { registration: self, _not_send: PhantomData }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.turns.end(self.index);
    }
}

impl Drop for Participation {
    fn drop(&mut self) {
        let run = self.registration.turns.number;
        LEFT.set(run);
        // The run is usually the last in the list, unless a thread leaves its runs in an order other than the reverse.
        let _ = RUNS.try_with(|runs| runs.borrow_mut().retain(|(turns, _)| turns.number != run));
    }
}
