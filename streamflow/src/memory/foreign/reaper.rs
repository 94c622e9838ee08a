//! The reaper: the thread that gives adopted memory back, by dropping the owners of that memory.
//!
//! The drop of an owner calls a deleter of other code, which may do anything: wait for a lock that the thread dropping a
//! tensor holds, such as Python's interpreter lock, call CUDA, or call streamflow again. So a deleter never runs in a drop of
//! streamflow, in a function that a stream calls, or while a lock of streamflow is held. Only the reaper thread calls
//! deleters, and it holds no lock meanwhile.
//!
//! Other threads add tasks to a [`List`] that the reaper reads, so that no code waits for the reaper when it adds a task.

use std::sync::{OnceLock, PoisonError};
use std::time::Duration;

use crate::caught::caught;
use crate::error::{Error, Result};
use crate::memory::border::Owner;
use crate::memory::border::counts::{self, Count};
use crate::memory::border::list::List;
use crate::memory::border::task::{Entry, Task, entry};
use crate::sync::{AtomicU8, Mutex, Ordering, Thread, park, park_timeout, spawn_forever, statics};

/// A task that drops the owner of memory after the last use of the memory.
struct GiveBack(Owner);

impl Task for GiveBack {
    fn execute(self: Box<Self>) -> Option<Box<dyn Task>> {
        give_back(self.0);
        None
    }

    fn count(&self) -> Count {
        Count::Adopted
    }
}

statics! {
    static TASKS: List<Box<dyn Task>> = List::new();
    static THREAD: OnceLock<Thread> = OnceLock::new();
    static START: Mutex<()> = Mutex::new(());
    /// The state of the reaper thread: the flag `BUSY` is set while the thread drops an owner, and the flag `STOPPED` once it
    /// is to drop no more owners.
    static STATE: AtomicU8 = AtomicU8::new(0);
}
const BUSY: u8 = 1;
const STOPPED: u8 = 2;

/// How long the reaper thread sleeps before it tries failed tasks again, for example to take lent memory back.
const AGAIN: Duration = Duration::from_millis(10);

/// Starts the reaper thread, unless it is running.
///
/// # Errors
/// [`Error::Exchange`], when the system has no thread.
pub(super) fn start() -> Result<()> {
    if THREAD.get().is_some() {
        return Ok(());
    }
    let _starting = START.lock().unwrap_or_else(PoisonError::into_inner);
    if THREAD.get().is_some() {
        return Ok(());
    }
    let mut again = Vec::new();
    match spawn_forever("streamflow-reaper", move || execute(&mut again)) {
        Ok(thread) => {
            let _first = THREAD.set(thread);
            Ok(())
        }
        Err(error) => Err(Error::Exchange {
            what: "memory of other code needs a thread that gives it back".to_owned(),
            reason: error.to_string(),
            remedy: "allow the process one more thread".to_owned(),
        }),
    }
}

/// Adds a task for the reaper thread, without waiting. The caller has called [`start`] before.
pub(super) fn add(node: Box<Entry>) {
    if let Err(late) = TASKS.add(node) {
        leak(late.value);
    }
    if let Some(thread) = THREAD.get() {
        thread.unpark();
    }
}

/// Executes all tasks once. If there is no task, sleeps until one is added. `again` contains the tasks that must be tried
/// again: those from earlier calls are executed, and those that fail now are left in it.
fn execute(again: &mut Vec<Box<dyn Task>>) {
    let tasks = TASKS.take_all();
    if tasks.is_empty() && again.is_empty() {
        // If another thread adds a task between `take_all` and `park`, its `unpark` makes `park` return at once.
        park();
    } else if tasks.is_empty() {
        park_timeout(AGAIN);
    }
    let earlier = std::mem::take(again);
    for task in earlier.into_iter().chain(tasks) {
        again.extend(task.execute());
    }
}

/// Creates the list entry of a task that drops this owner.
pub(super) fn giving_back(owner: Owner) -> Box<Entry> {
    entry(GiveBack(owner))
}

/// Makes the reaper thread drop the owner of memory that no work uses any more. Does not wait for the drop.
pub(super) fn give_back_later(owner: Owner) {
    match start() {
        Ok(()) => add(giving_back(owner)),
        Err(_) => leak_owner(owner),
    }
}

/// Drops an owner. Only the reaper thread calls this function.
pub(super) fn give_back(owner: Owner) {
    if STATE.fetch_or(BUSY, Ordering::AcqRel) & STOPPED != 0 {
        STATE.fetch_and(!BUSY, Ordering::AcqRel);
        return leak_owner(owner);
    }
    if let Err(panic) = caught(|| drop(owner)) {
        tracing::error!(%panic, "the owner of memory panicked when it got the memory back");
    }
    counts::remove(Count::Adopted);
    STATE.fetch_and(!BUSY, Ordering::AcqRel);
}

/// Leaks an owner, so that its memory is never given back.
pub(super) fn leak_owner(owner: Owner) {
    leak(Box::new(GiveBack(owner)));
}

/// Leaks a task, so that it is never executed, and counts its memory as leaked.
pub(super) fn leak(task: Box<dyn Task>) {
    // The count of leaked memory rises before the task's own count falls, so that at all times one of the two counts
    // includes the memory.
    counts::add(Count::Leaked);
    counts::remove(task.count());
    std::mem::forget(task);
}

/// Makes the reaper thread leak memory of other code from now on. If the thread is dropping an owner, blocks until that drop
/// has ended.
pub(super) fn stop_giving_back_blocking() {
    STATE.fetch_or(STOPPED, Ordering::AcqRel);
    while STATE.load(Ordering::Acquire) & BUSY != 0 {
        park_timeout(Duration::from_millis(1));
    }
}
