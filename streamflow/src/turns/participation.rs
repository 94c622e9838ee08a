//! A thread's place in a run.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use super::{Turns, Until};

/// Looks at a lock that others hold for a few instructions: some ten milliseconds, in which others may run.
const MANY: u32 = 20_000;

thread_local! {
    /// The runs that this thread takes part in, the innermost last.
    static RUNS: RefCell<Vec<(Arc<Turns>, usize)>> = const { RefCell::new(Vec::new()) };
    /// How many calls deep in what must not hand on the turn.
    static KEPT: Cell<u32> = const { Cell::new(0) };
    /// How often it has found a lock taken in there.
    static LOOKS: Cell<u32> = const { Cell::new(0) };
    /// The run that this thread took part in last. What its destructors do is no trouble.
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// A thread's place, from before it begins until its end. Dropped, the thread is at its end.
#[derive(Debug)]
pub(crate) struct Place {
    turns: Arc<Turns>,
    index: usize,
}

/// A [`Place`] that the calling thread has taken.
#[derive(Debug)]
pub(crate) struct Seat {
    place: Place,
    /// It stays on its thread.
    _here: PhantomData<*const ()>,
}

/// A thread that takes part in a run, for those that wait for its end.
#[derive(Debug, Clone)]
pub(crate) struct Thread {
    turns: Arc<Turns>,
    index: usize,
}

/// The innermost run that the calling thread takes part in, as it takes part in it.
pub(crate) fn current() -> Option<Thread> {
    let last = |runs: &RefCell<Vec<(Arc<Turns>, usize)>>| runs.borrow().last().cloned();
    let (turns, index) = RUNS.try_with(last).ok().flatten()?;
    Some(Thread { turns, index })
}

/// The calling thread's number in its run; 0 outside of runs.
pub(crate) fn me() -> usize {
    current().map_or(0, |thread| thread.index)
}

/// Whether [`rest`] is how the calling thread waits.
pub(crate) fn takes_turns() -> bool {
    current().is_some_and(|thread| !thread.turns.is_over()) && !is_kept()
}

/// The calling thread can do nothing until another one has done something: it hands on the turn, and gets
/// it again when another one has made a step, or none can. `false` outside of runs.
pub(crate) fn rest() -> bool {
    let Some(Thread { turns, index }) = current() else { return false };
    turns.advance(index, "resting", true);
    !turns.is_over()
}

#[cfg(debug_assertions)]
pub(super) fn point(name: &'static str) {
    if let Some(Thread { turns, index }) = current() {
        turns.advance(index, name, false);
    }
}

/// Does something during which the calling thread keeps the turn, as it holds a lock for which others sleep.
pub(crate) fn keep<R>(body: impl FnOnce() -> R) -> R {
    struct Kept;
    impl Drop for Kept {
        fn drop(&mut self) {
            KEPT.set(KEPT.get() - 1);
        }
    }
    KEPT.set(KEPT.get() + 1);
    LOOKS.set(0);
    let _kept = Kept;
    body()
}

/// Whether the calling thread is inside of [`keep`].
pub(crate) fn is_kept() -> bool {
    KEPT.get() > 0
}

/// To be called where a lock is found taken. Whether that is without hope: inside of [`keep`], after so many
/// looks, the thread itself has it, or one that sleeps for what is kept here.
pub(crate) fn is_stuck() -> bool {
    LOOKS.set(LOOKS.get().saturating_add(u32::from(is_kept())));
    LOOKS.get() > MANY && is_kept()
}

/// The calling thread's number in a run.
pub(super) fn index_in(run: u64) -> Option<usize> {
    let find = |runs: &RefCell<Vec<(Arc<Turns>, usize)>>| {
        let runs = runs.borrow();
        runs.iter().find(|(turns, _)| turns.number == run).map(|(_, index)| *index)
    };
    RUNS.try_with(find).ok().flatten()
}

/// Whether the calling thread's part in a run is over.
pub(super) fn has_left(run: u64) -> bool {
    LEFT.get() == run
}

impl Thread {
    /// A number for a scope of threads.
    pub(crate) fn new_scope(&self) -> u64 {
        self.turns.lock().members.new_scope()
    }

    /// A place for a thread of a scope that the calling one is about to spawn.
    pub(crate) fn place(&self, scope: u64, spawned: &Location<'_>) -> Place {
        self.turns.add(format!("spawned at {spawned}"), scope)
    }

    /// The calling thread has spawned one.
    pub(crate) fn spawned(&self) {
        self.turns.advance(self.index, "spawning a thread", false);
    }

    /// The calling thread waits for the end of another one.
    pub(crate) fn join(&self, other: &Self) {
        self.turns.wait_until(self.index, Until::Ended(other.index));
    }

    /// The calling thread waits for the end of all threads of a scope.
    pub(crate) fn join_scope(&self, scope: u64) {
        self.turns.wait_until(self.index, Until::ScopeEnded(scope));
    }

    /// Whether it is at its end. `None` when turns are over, and only the operating system knows.
    pub(crate) fn has_ended(&self) -> Option<bool> {
        let ended = self.turns.lock().members.has_ended(self.index);
        (ended || !self.turns.is_over()).then_some(ended)
    }
}

impl Place {
    pub(super) fn new(turns: Arc<Turns>, index: usize) -> Self {
        Self { turns, index }
    }

    /// The thread that will take it.
    pub(crate) fn thread(&self) -> Thread {
        Thread { turns: self.turns.clone(), index: self.index }
    }

    /// The calling thread takes it, and waits for its first turn.
    pub(crate) fn sit(self) -> Seat {
        RUNS.with(|runs| runs.borrow_mut().push((self.turns.clone(), self.index)));
        self.turns.wait(self.turns.lock(), self.index);
        Seat { place: self, _here: PhantomData }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.turns.end(self.index);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        LEFT.set(self.place.turns.number);
        // It is its thread's last one, unless seats are dropped in another order than they were taken.
        let _ = RUNS.try_with(|runs| {
            runs.borrow_mut().retain(|(turns, _)| turns.number != self.place.turns.number);
        });
    }
}
