//! Sleeping until a device has got to one of several points.

use std::sync::Arc;
use std::time::Duration;

use super::{Point, StreamTable, Timeline};
use crate::driver::{Signal, StreamOptions};
use crate::error::Result;

/// How long a sleep lasts at most. Whoever sleeps asks the device afterwards in any case, so this bounds
/// how late a dead context is found, of which nobody is told. On the simulator, where work executes
/// only in calls, it is how a sleep ends.
const WATCHDOG: Duration = Duration::from_millis(1);

/// Wakes a thread when one of the points that it waits for is reached.
///
/// A point is watched by a stream of its own, which waits for it and then calls the host. So the call
/// holds up no stream that works; and a point that nobody waits for any more holds up
/// nothing.
#[derive(Debug)]
pub(crate) struct Wakeup {
    table: Arc<StreamTable>,
    signal: Arc<Signal>,
    watchers: Vec<Watcher>,
}

#[derive(Debug)]
struct Watcher {
    timeline: Arc<Timeline>,
    /// What it was told to watch last.
    point: Option<Point>,
}

impl Wakeup {
    pub(crate) fn new(table: &Arc<StreamTable>) -> Self {
        Self { table: table.clone(), signal: Arc::default(), watchers: Vec::new() }
    }

    /// To be asked before the points are: see [`sleep`](Self::sleep).
    pub(crate) fn raised(&self) -> u64 {
        self.signal.raised()
    }

    /// Sleeps until one of these points, which are of this platform and were not reached when `seen` was
    /// [asked](Self::raised), is reached; or for a short time. Which one, the caller asks again.
    ///
    /// A point that was reached meanwhile has raised the signal since, or does so as soon as it is
    /// watched, and then this does not sleep.
    pub(crate) fn sleep(&mut self, seen: u64, points: &[Point]) -> Result<()> {
        for &point in points {
            if !self.watchers.iter().any(|watcher| watcher.point == Some(point)) {
                self.watch(points, point)?;
            }
        }
        self.signal.sleep(seen, WATCHDOG);
        Ok(())
    }

    fn watch(&mut self, points: &[Point], point: Point) -> Result<()> {
        let device = self.table.timeline(point.stream()).device();
        let is_free = |watcher: &Watcher| {
            let watches = watcher.point.is_some_and(|watched| points.contains(&watched));
            watcher.timeline.device() == device && !watches
        };
        let index = match self.watchers.iter().position(is_free) {
            Some(free) => free,
            None => {
                let options = StreamOptions::default();
                let timeline = self.table.take(device, options)?;
                self.watchers.push(Watcher { timeline, point: None });
                self.watchers.len() - 1
            }
        };
        let watcher = &mut self.watchers[index];
        watcher.point = None;
        watcher.timeline.bind()?;
        watcher.timeline.wait(&self.table, point)?;
        watcher.timeline.raise(&self.signal)?;
        watcher.point = Some(point);
        Ok(())
    }
}

impl Drop for Wakeup {
    fn drop(&mut self) {
        for watcher in self.watchers.drain(..) {
            self.table.give_back(watcher.timeline);
        }
    }
}
