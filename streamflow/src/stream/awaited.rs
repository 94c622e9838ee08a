//! The points that asynchronous tasks await. A thread of the library queries the points and wakes the tasks. The thread ends when
//! no task waits any more.
//!
//! A task's waker is the user's code, so no lock is held while a waker is cloned, woken or dropped.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use super::task_wakers::{forget, wake};
use super::{Point, StreamTable, Wakeup};
use crate::caught::caught;
use crate::driver::{Signal, report_in_drop};
use crate::error::{Error, Result};
use crate::lock::locked;

/// The longest sleep of the thread that watches the points. [`Wakeup::sleep`] has a limit of its own, and may return earlier.
const AT_MOST: Duration = Duration::from_millis(1);

/// The tasks that await points of one platform.
#[derive(Debug, Default)]
pub(crate) struct Awaited {
    tasks: Mutex<Tasks>,
    /// The signal that wakes the thread. It is raised for each new task, and when a task gets another point.
    signal: Arc<Signal>,
    /// The number of [`Awaiting`]s that were made. Each new one takes the next number as its own.
    made: AtomicU64,
}

#[derive(Debug, Default)]
struct Tasks {
    waiting: Vec<Waiting>,
    has_thread: bool,
}

/// A task that waits for a point.
#[derive(Debug)]
struct Waiting {
    /// The number of the task's [`Awaiting`].
    number: u64,
    point: Point,
    task: Waker,
}

/// A guard that wakes a task when it is dropped. So the task is also woken after an early return or a panic.
struct Asleep(Option<Waker>);

impl Drop for Asleep {
    fn drop(&mut self) {
        // `wake` catches a panic of the waker, so the other tasks are woken too.
        wake(self.0.take());
    }
}

/// The registration of a future. A poll of the future stores its waker in the registration's entry. The entry is removed when the
/// task is woken, or when the registration is dropped.
#[derive(Debug)]
pub(crate) struct Awaiting {
    awaited: Arc<Awaited>,
    number: u64,
}

impl Awaiting {
    pub(crate) fn new(awaited: &Arc<Awaited>) -> Self {
        let number = awaited.made.fetch_add(1, Ordering::Relaxed);
        Self { awaited: awaited.clone(), number }
    }

    /// Wakes a task when `point`, a point of the platform of `table`, is complete or can't be reached any more. The task then
    /// queries the point again. A later call replaces the waker and the point of an earlier call.
    pub(crate) fn wake_at(
        &self,
        table: &Arc<StreamTable>,
        point: Point,
        task: &Waker,
    ) -> Result<()> {
        let awaited = &self.awaited;
        let known = locked(&awaited.tasks).set_point(self.number, point, task);
        let is_new = known != Some(point);
        if known.is_none() {
            let task = task.clone();
            let before = locked(&awaited.tasks).add(Waiting { number: self.number, point, task });
            forget(before);
        }
        if is_new { awaited.watch(table) } else { Ok(()) }
    }
}

impl Drop for Awaiting {
    fn drop(&mut self) {
        let mut tasks = locked(&self.awaited.tasks);
        let task = tasks.take(self.number);
        drop(tasks);
        forget(task);
    }
}

impl Tasks {
    /// Sets the point of a future, if the future's stored waker wakes the same task as `task`. Returns the future's previous
    /// point; `None` if the future has no such waker.
    fn set_point(&mut self, number: u64, point: Point, task: &Waker) -> Option<Point> {
        // `will_wake` only compares addresses, and calls no code of the user, so it may be called under the lock.
        let is_same = |it: &&mut Waiting| it.number == number && it.task.will_wake(task);
        let known = self.waiting.iter_mut().find(is_same)?;
        Some(mem::replace(&mut known.point, point))
    }

    /// Adds a task, and removes the entry that its future had before. Returns the waker of that entry.
    fn add(&mut self, new: Waiting) -> Option<Waker> {
        let before = self.take(new.number);
        self.waiting.push(new);
        before
    }

    /// Removes the entry of a future, and returns its waker.
    fn take(&mut self, number: u64) -> Option<Waker> {
        let index = self.waiting.iter().position(|it| it.number == number)?;
        Some(self.waiting.swap_remove(index).task)
    }

    /// Removes the tasks for whose points `due` returns `true`. Dropping the returned guards wakes these tasks.
    fn take_due(&mut self, due: impl Fn(Point) -> bool) -> Vec<Asleep> {
        let taken = self.waiting.extract_if(.., |it| due(it.point));
        taken.map(|it| Asleep(Some(it.task))).collect()
    }

    /// Returns the points that the tasks wait for, each point once.
    fn points(&self) -> Vec<Point> {
        let mut points: Vec<Point> = self.waiting.iter().map(|it| it.point).collect();
        points.sort_unstable_by_key(|point| (point.stream, point.record));
        points.dedup();
        points
    }
}

impl Awaited {
    /// Tells the thread about a point that was just added, or starts a thread if none is running.
    fn watch(self: &Arc<Self>, table: &Arc<StreamTable>) -> Result<()> {
        if mem::replace(&mut locked(&self.tasks).has_thread, true) {
            self.signal.raise();
            return Ok(());
        }
        let (awaited, table) = (self.clone(), table.clone());
        let name = "streamflow downloads";
        let made = thread::Builder::new().name(name.to_owned()).spawn(move || {
            // The driver may be the program's code and panic, which ends this thread. The next task then starts another thread.
            if let Err(panic) = caught(|| awaited.run(&table)) {
                awaited.end();
                let ended = Err(format!("the thread panicked: {panic}"));
                report_in_drop("watching downloads that are awaited", ended);
            }
        });
        made.map(drop).map_err(|cause| {
            self.end();
            Error::NoWatcher { cause: cause.to_string() }
        })
    }

    /// Wakes all tasks, since the thread that would wake them has ended, or could not be started.
    fn end(&self) {
        let mut tasks = locked(&self.tasks);
        tasks.has_thread = false;
        let left = tasks.take_due(|_| true);
        drop(tasks);
        drop(left);
    }

    /// Wakes the tasks for whose points `due` returns `true`.
    fn wake(&self, due: impl Fn(Point) -> bool) {
        // The lock is released at the end of this statement, before the tasks are woken by the drop below.
        let woken = locked(&self.tasks).take_due(due);
        drop(woken);
    }

    fn run(&self, table: &Arc<StreamTable>) {
        let mut wakeup = Wakeup::new(table, &self.signal, 0);
        loop {
            let seen = wakeup.raised();
            let mut tasks = locked(&self.tasks);
            let points = tasks.points();
            if points.is_empty() {
                tasks.has_thread = false;
                return;
            }
            drop(tasks);
            // A point whose query fails counts as due: the woken task makes the same query, and gets its error.
            let is_incomplete = |point: &Point| matches!(table.is_complete(*point), Ok(false));
            let (left, due): (Vec<_>, Vec<_>) = points.into_iter().partition(is_incomplete);
            if !due.is_empty() {
                self.wake(|point| due.contains(&point));
            }
            if !left.is_empty() && wakeup.sleep(seen, &left, AT_MOST).is_err() {
                self.wake(|point| left.contains(&point));
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::platform::Platform;
    use crate::stream::CudaStreamPool;

    #[test]
    fn each_point_is_asked_for_once_however_many_tasks_wait_for_it() {
        let platform = Platform::host().build().unwrap();
        let pool = platform.stream_pool("TEST", &CudaStreamPool::new()).unwrap();
        let (a, b) = (pool.allocate("a").unwrap(), pool.allocate("b").unwrap());
        let points = [a.record().unwrap(), b.record().unwrap(), a.record().unwrap()];
        let mut tasks = Tasks::default();
        for number in 0..30 {
            let point = points[number as usize % 3];
            assert!(tasks.add(Waiting { number, point, task: Waker::noop().clone() }).is_none());
        }
        assert_eq!(tasks.points(), [points[0], points[2], points[1]]);
        assert_eq!(tasks.take_due(|point| point == points[1]).len(), 10);
        assert_eq!(tasks.points(), [points[0], points[2]]);
    }
}
