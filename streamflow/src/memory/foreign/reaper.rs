//! The thread that gives memory back to its owners.
//!
//! A deleter of other code may do anything: wait for a lock that the dropping thread holds, such as Python's interpreter
//! lock, call CUDA, or call streamflow again. So a deleter never runs in a drop of streamflow, in a function that a
//! stream calls, or while a lock of streamflow is held. Only this thread calls deleters, and it holds no lock while it
//! does.
//!
//! Tasks reach the thread by a [`List`]: no code ever waits for the thread.

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
    /// The thread's state in two flags: `BUSY` while an owner is being dropped, and `STOPPED` once no more owners are dropped.
    static STATE: AtomicU8 = AtomicU8::new(0);
}
const BUSY: u8 = 1;
const STOPPED: u8 = 2;

/// How long the thread sleeps before it tries again to take back memory that it could not take back.
const AGAIN: Duration = Duration::from_millis(10);

/// Starts the thread, unless it is running.
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

/// Adds a task without waiting. The caller has called [`start`] before.
pub(super) fn add(node: Box<Entry>) {
    if let Err(late) = TASKS.add(node) {
        leak(late.value);
    }
    if let Some(thread) = THREAD.get() {
        thread.unpark();
    }
}

/// Executes all tasks. If there is no task, sleeps until one is added. `again` has the tasks that failed before and are
/// tried again.
fn execute(again: &mut Vec<Box<dyn Task>>) {
    let tasks = TASKS.take_all();
    if tasks.is_empty() && again.is_empty() {
        // If a task was added after the check, `park` returns at once.
        park();
    } else if tasks.is_empty() {
        park_timeout(AGAIN);
    }
    let earlier = std::mem::take(again);
    for task in earlier.into_iter().chain(tasks) {
        again.extend(task.execute());
    }
}

/// Creates the entry of a task that drops an owner.
pub(super) fn giving_back(owner: Owner) -> Box<Entry> {
    entry(GiveBack(owner))
}

/// Lets the thread drop the owner of memory that no work uses any more. Does not wait.
pub(super) fn give_back_later(owner: Owner) {
    match start() {
        Ok(()) => add(giving_back(owner)),
        Err(_) => leak_owner(owner),
    }
}

/// Drops an owner, on the reaper thread.
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

/// Leaks an owner: the memory is never given back.
pub(super) fn leak_owner(owner: Owner) {
    leak(Box::new(GiveBack(owner)));
}

/// Leaks a task: it is never done.
pub(super) fn leak(task: Box<dyn Task>) {
    // The leaked count rises before the other one falls: one of the two includes the memory at all times.
    counts::add(Count::Leaked);
    counts::remove(task.count());
    std::mem::forget(task);
}

/// Makes the thread leak memory of other code from now on. If it is dropping an owner, blocks until that drop has ended.
pub(super) fn stop_giving_back_blocking() {
    STATE.fetch_or(STOPPED, Ordering::AcqRel);
    while STATE.load(Ordering::Acquire) & BUSY != 0 {
        park_timeout(Duration::from_millis(1));
    }
}
