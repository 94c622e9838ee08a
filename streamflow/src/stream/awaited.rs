//! Points that tasks of asynchronous code await. A thread of the library wakes the tasks; it lives while there are any.

use std::mem;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use super::{Point, StreamTable, Wakeup};
use crate::caught::caught;
use crate::driver::{Signal, report_in_drop};
use crate::error::{Error, Result};
use crate::lock::locked;

/// How long the thread sleeps at most, beside the limit that a sleep has itself.
const AT_MOST: Duration = Duration::from_millis(1);

/// The tasks that await points of one platform.
#[derive(Debug, Default)]
pub(crate) struct Awaited {
    tasks: Mutex<Tasks>,
    /// Raised for each new task.
    signal: Arc<Signal>,
}

#[derive(Debug, Default)]
struct Tasks {
    waiting: Vec<(Point, Asleep)>,
    has_thread: bool,
}

/// A task that is woken when this is dropped, so that no way out of this file leaves it asleep.
#[derive(Debug)]
struct Asleep(Option<Waker>);

impl Drop for Asleep {
    fn drop(&mut self) {
        let Some(task) = self.0.take() else { return };
        // A waker is the user's code, and one that panics keeps no other task asleep.
        let woken = caught(|| task.wake()).map_err(|panic| format!("a waker panicked: {panic}"));
        report_in_drop("waking a task that awaits a download", woken);
    }
}

impl Awaited {
    /// Wakes a task when `point`, which is of the table's platform, is reached, or can't be reached any more. The task
    /// then queries the point again.
    pub(crate) fn wake_at(
        self: &Arc<Self>,
        table: &Arc<StreamTable>,
        point: Point,
        task: &Waker,
    ) -> Result<()> {
        let task = Asleep(Some(task.clone()));
        let mut tasks = locked(&self.tasks);
        tasks.waiting.push((point, task));
        let needs_thread = !mem::replace(&mut tasks.has_thread, true);
        drop(tasks);
        if needs_thread {
            let (awaited, table) = (self.clone(), table.clone());
            let name = "streamflow downloads";
            let made = thread::Builder::new().name(name.to_owned()).spawn(move || {
                // A driver may be the user's code, too. The next task begins another thread.
                if let Err(panic) = caught(|| awaited.run(&table)) {
                    awaited.end();
                    let ended = Err(format!("the thread panicked: {panic}"));
                    report_in_drop("watching downloads that are awaited", ended);
                }
            });
            if let Err(cause) = made {
                self.end();
                return Err(Error::NoWatcher { cause: cause.to_string() });
            }
        } else {
            self.signal.raise();
        }
        Ok(())
    }

    /// Wakes all tasks, since no thread does so.
    fn end(&self) {
        let mut tasks = locked(&self.tasks);
        tasks.has_thread = false;
        let left = mem::take(&mut tasks.waiting);
        drop(tasks);
        drop(left);
    }

    fn run(&self, table: &Arc<StreamTable>) {
        let mut wakeup = Wakeup::new(table, &self.signal);
        loop {
            let seen = wakeup.raised();
            let mut tasks = locked(&self.tasks);
            let waiting = mem::take(&mut tasks.waiting);
            if waiting.is_empty() {
                tasks.has_thread = false;
                return;
            }
            drop(tasks);
            // A task whose point can't be queried is woken as well: its own query returns the error.
            let (left, due): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|(point, _)| matches!(table.is_complete(*point), Ok(false)));
            drop(due);
            let mut points: Vec<Point> = left.iter().map(|(point, _)| *point).collect();
            points.dedup();
            let slept =
                if points.is_empty() { Ok(true) } else { wakeup.sleep(seen, &points, AT_MOST) };
            match slept {
                Ok(_) => locked(&self.tasks).waiting.extend(left),
                Err(_) => drop(left),
            }
        }
    }
}
