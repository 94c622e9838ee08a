//! A thread's sleep that ends when a device has reached one of several points.

use std::sync::Arc;
use std::time::Duration;

use super::{Point, StreamTable, Timeline};
use crate::driver::{Signal, StreamOptions};
use crate::error::Result;
use crate::turns;

/// The longest sleep. A dead CUDA context raises no signal, so the thread queries the device after each sleep, and finds a dead
/// context within this time. On the simulator, work executes only during calls, so only this limit ends most sleeps. In a test
/// whose threads take turns, the limit does not apply if the device executes work without calls: it would hide a lost wake-up.
const WATCHDOG: Duration = Duration::from_millis(1);

/// Wakes a thread when one of the points that it waits for is reached.
///
/// For each point, an extra stream waits for the point and then calls a host function, which raises the signal. So the host
/// function delays no stream with other work. If no thread waits for the point any more, the extra stream delays nothing.
#[derive(Debug)]
pub(crate) struct Wakeup {
    table: Arc<StreamTable>,
    signal: Arc<Signal>,
    watchers: Vec<Watcher>,
}

#[derive(Debug)]
struct Watcher {
    timeline: Arc<Timeline>,
    /// The point for which the watcher's stream waits, or has waited last.
    point: Option<Point>,
}

impl Wakeup {
    /// Creates a `Wakeup` with memory for `points` watchers. The memory is allocated now, because the first sleep may come late
    /// in a run, when a tick must not allocate. Other threads may raise the signal, too.
    pub(crate) fn new(table: &Arc<StreamTable>, signal: &Arc<Signal>, points: usize) -> Self {
        let watchers = Vec::with_capacity(points);
        Self { table: table.clone(), signal: signal.clone(), watchers }
    }

    /// How often the signal was raised. The caller reads this number before it queries the points: see [`sleep`](Self::sleep).
    pub(crate) fn raised(&self) -> u64 {
        self.signal.raised()
    }

    /// Sleeps until one of these points is reached, another thread raises the signal, or `at_most` has passed. If there are
    /// points, the sleep lasts for [`WATCHDOG`] at most, except in a test whose threads take turns, if the device works without
    /// calls. The points are of this platform, and had not been reached when `seen` was [read](Self::raised). The caller queries
    /// the points again to find out which one was reached.
    ///
    /// A point may be reached after the caller's query and before this call. The signal was then raised after `seen` was read, or
    /// is raised as soon as the point is watched. In both cases the call does not sleep.
    ///
    /// Returns `false` if nothing is left that could end the sleep: see [`Signal::sleep`].
    pub(crate) fn sleep(&mut self, seen: u64, points: &[Point], at_most: Duration) -> Result<bool> {
        for &point in points {
            if !self.watchers.iter().any(|watcher| watcher.point == Some(point)) {
                self.watch(points, point)?;
            }
        }
        // Where threads take turns in a test and the device works without calls, only the signal ends a sleep: the watchdog would
        // hide a lost wake-up.
        let must_be_raised = turns::takes_turns() && self.works_alone();
        let at_most =
            if points.is_empty() || must_be_raised { at_most } else { at_most.min(WATCHDOG) };
        Ok(self.signal.sleep(seen, at_most))
    }

    fn works_alone(&self) -> bool {
        self.table.driver().observer().works_alone()
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
            self.table.return_stream(watcher.timeline);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::driver::host::{HostDriver, LogAction};
    use crate::driver::{Call, Recorder};
    use crate::platform::{Platform, device};
    use crate::stream::{CudaStream, CudaStreamPool};

    struct Bench {
        host: Arc<HostDriver>,
        recorder: Arc<Recorder>,
        platform: Platform,
        wakeup: Wakeup,
    }

    impl Bench {
        fn new(seed: u64) -> Self {
            let host = Arc::new(HostDriver::builder().devices(2).seed(seed).trace(true).build());
            let recorder = Arc::new(Recorder::new(host.clone()));
            let platform = Platform::builder().driver(recorder.clone()).unwrap();
            let wakeup = Wakeup::new(platform.streams(), &Arc::default(), 2);
            Self { host, recorder, platform, wakeup }
        }

        fn stream(&self, index: u32) -> CudaStream {
            let pool = CudaStreamPool::new().device(device(index));
            self.platform.stream_pool("WATCHED", &pool).unwrap().allocate("a test").unwrap()
        }

        /// Returns how often the signal was raised by one sleep on these points, after the device has reached them.
        fn raised_by(&mut self, points: &[Point]) -> u64 {
            let seen = self.wakeup.raised();
            self.wakeup.sleep(seen, points, WATCHDOG).unwrap();
            for watcher in &self.wakeup.watchers {
                watcher.timeline.bind().unwrap();
                watcher.timeline.synchronize(self.platform.streams()).unwrap();
            }
            self.wakeup.raised() - seen
        }

        fn calls_to_the_host(&self) -> usize {
            self.recorder.count(|call| matches!(call, Call::HostFunction { .. }))
        }
    }

    /// Each watched point raises the signal once, in every order of execution, and whether or not the sleep has ended before.
    #[test]
    fn each_point_raises_once() {
        for seed in 0..32 {
            let mut bench = Bench::new(seed);
            let (a, b, far) = (bench.stream(0), bench.stream(0), bench.stream(1));
            let first = [a.record().unwrap(), b.record().unwrap()];
            assert_eq!(bench.raised_by(&first), 2, "seed {seed}");
            // A second sleep queues no new host function for a point that is already watched.
            assert_eq!((bench.raised_by(&first), bench.calls_to_the_host()), (0, 2));
            // The watcher of the other point is used again for the new point.
            assert_eq!(bench.raised_by(&[first[1], a.record().unwrap()]), 1, "seed {seed}");
            assert_eq!(bench.wakeup.watchers.len(), 2);
            // A point is watched by a stream of the point's own device.
            assert_eq!(bench.raised_by(&[far.record().unwrap(), first[1]]), 1, "seed {seed}");
            let devices: Vec<_> =
                bench.wakeup.watchers.iter().map(|w| w.timeline.device()).collect();
            assert_eq!(devices, [device(0), device(0), device(1)]);
        }
    }

    /// The first sleep may come late in a run, and a tick then allocates nothing (law 12). So `new` allocates the watchers'
    /// memory.
    #[test]
    fn the_first_sleep_finds_room_for_its_points() {
        let mut bench = Bench::new(0);
        let (a, b) = (bench.stream(0), bench.stream(0));
        let room = bench.wakeup.watchers.as_ptr();
        bench.raised_by(&[a.record().unwrap(), b.record().unwrap()]);
        assert_eq!((bench.wakeup.watchers.len(), bench.wakeup.watchers.as_ptr()), (2, room));
    }

    /// The signal is not raised before the point is reached. An early signal would do no other harm than this: the thread would
    /// query again and again, and never sleep.
    #[test]
    fn a_watched_point_is_reached_before_the_signal() {
        for seed in 0..32 {
            let mut bench = Bench::new(seed);
            let stream = bench.stream(0);
            let mut data = bench.platform.buffer::<u8>(1, &stream).unwrap();
            stream.fill_bytes(&mut data, 1).unwrap();
            assert_eq!(bench.raised_by(&[stream.record().unwrap()]), 1);
            let is_fill = |action: &LogAction| matches!(action, LogAction::Fill { .. });
            assert!(bench.host.log().iter().any(|it| is_fill(&it.action)), "seed {seed}");
        }
    }

    /// A point that was reached before it was watched ends the sleep, too.
    #[test]
    fn a_point_that_was_reached_meanwhile_raises_the_signal() {
        for seed in 0..32 {
            let mut bench = Bench::new(seed);
            let stream = bench.stream(0);
            let seen = bench.wakeup.raised();
            let point = stream.record().unwrap();
            stream.synchronize_blocking().unwrap();
            bench.wakeup.sleep(seen, &[point], WATCHDOG).unwrap();
            bench.raised_by(&[point]);
            assert_eq!(bench.wakeup.raised(), seen + 1, "seed {seed}");
        }
    }
}
