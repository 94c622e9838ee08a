//! Points that tasks of asynchronous code await. A thread of the library wakes the tasks; it lives while there are any.

use std::mem;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use super::{Point, StreamTable, Wakeup};
use crate::caught::caught;
use crate::driver::Signal;
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
    waiting: Vec<(Point, Waker)>,
    has_thread: bool,
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
        let task = task.clone();
        let mut tasks = locked(&self.tasks);
        tasks.waiting.push((point, task));
        let needs_thread = !mem::replace(&mut tasks.has_thread, true);
        drop(tasks);
        if needs_thread {
            let (awaited, table) = (self.clone(), table.clone());
            let name = "streamflow downloads";
            let made =
                thread::Builder::new().name(name.to_owned()).spawn(move || awaited.run(table));
            if let Err(cause) = made {
                let mut tasks = locked(&self.tasks);
                tasks.has_thread = false;
                let unused = mem::take(&mut tasks.waiting);
                drop(tasks);
                wake(unused);
                return Err(Error::NoWatcher { cause: cause.to_string() });
            }
        } else {
            self.signal.raise();
        }
        Ok(())
    }

    fn run(&self, table: Arc<StreamTable>) {
        let mut wakeup = Wakeup::new(&table, &self.signal);
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
            wake(due);
            let mut points: Vec<Point> = left.iter().map(|(point, _)| *point).collect();
            points.dedup();
            let slept =
                if points.is_empty() { Ok(true) } else { wakeup.sleep(seen, &points, AT_MOST) };
            match slept {
                Ok(_) => locked(&self.tasks).waiting.extend(left),
                Err(_) => wake(left),
            }
        }
    }
}

/// Wakes tasks. A waker is the user's code, and one that panics keeps no other task asleep.
fn wake(tasks: Vec<(Point, Waker)>) {
    for (_, task) in tasks {
        if let Err(panic) = caught(|| task.wake()) {
            tracing::error!(panic, "the waker of a task that awaits a download has panicked");
        }
    }
}
