//! A slow branch on a worker of its own. The main path ticks on time, and the branch receives the newest message.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::time::Clock;
use streamflow_tests::frames::Camera;
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .seeded("no_main_tick_is_late_beside_a_branch_of_500_ms", on_time)
        .seeded("on_one_thread_the_branch_delays_each_tick", one_thread)
        .seeded("a_sleep_in_a_hook_lets_simulated_time_pass_once", naps)
        .host("a_sleep_in_a_hook_ends_when_the_run_is_stopped", stopped)
}

const TICKS: u64 = 600;
const SLOW: Duration = Duration::from_millis(500);

/// An operator that notes each number, and how late it came in milliseconds.
#[operator]
struct Main {
    #[input]
    frame: &u64,
    seen: Seen<(u64, u64)>,
}

impl Compute for Main {
    fn compute(&mut self, io: MainIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = *io.frame.receive().into_data();
        let late = cx.now().0 / 1_000_000 - number * 50;
        push_seen(&self.seen, (number, late));
        Ok(())
    }
}

/// An operator that takes long for each frame.
#[operator]
struct Writer {
    #[input]
    frame: &u64,
    takes: Duration,
    seen: Seen<u64>,
}

impl Compute for Writer {
    fn compute(&mut self, io: WriterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, *io.frame.receive().into_data());
        cx.sleep(self.takes);
        Ok(())
    }
}

graph! {
    struct Recording(takes: Duration, main: Seen<(u64, u64)>, written: Seen<u64>) {
        #[when(periodic(50ms), count(TICKS))]
        let camera: Camera = Camera::new();
        let main: Main = Main::new(main);
        #[worker(disk)]
        let writer: Writer = Writer::new(takes, written);
        camera.frame >> main.frame;
        #[policy(pop)]
        camera.frame >> writer.frame;
    }
}

fn simulated(seed: u64) -> Result<Platform> {
    Ok(Platform::host().seed(seed).race_check(true).clock(&Clock::simulated()).build()?)
}

fn on_time(seed: u64) -> Result<(), Failed> {
    let (main, written) = (Seen::default(), Seen::default());
    let mut graph = Recording::new(&simulated(seed)?, SLOW, main.clone(), written.clone())?;
    let report = graph.run()?;
    check_equal(report.ticks("camera"), Some(TICKS))?;
    check_equal(take(&main), (0..TICKS).map(|number| (number, 0)).collect::<Vec<_>>())?;
    // The writer receives one frame in ten, each time the newest.
    let written = take(&written);
    let steps = written.windows(2).map(|pair| pair[1] - pair[0]);
    check(steps.clone().all(|step| (9..=11).contains(&step)), || format!("{written:?}"))?;
    check(written.len() >= 59, || format!("{written:?}"))
}

/// The control: the greedy scheduler calls one hook at a time, so the slow branch delays the main path.
fn one_thread(seed: u64) -> Result<(), Failed> {
    let (main, written) = (Seen::default(), Seen::default());
    let mut graph = Recording::new(&simulated(seed)?, SLOW, main.clone(), written)?;
    graph.workers(Workers::none())?.run()?;
    let late = take(&main).iter().filter(|(_, late)| *late > 0).count();
    check(late > 100, || format!("{late} ticks are late"))
}

#[operator]
struct Sleeper {
    #[output]
    woke: u64,
    takes: Duration,
}

impl Compute for Sleeper {
    fn compute(&mut self, io: SleeperIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.sleep(self.takes);
        io.woke.emit(cx.now().0 / 1_000_000)
    }
}

#[operator]
struct Moments {
    #[input]
    at: u64,
    seen: Seen<u64>,
}

impl Compute for Moments {
    fn compute(&mut self, io: MomentsIo<'_>, _: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, io.at.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Naps(first: Seen<u64>, second: Seen<u64>) {
        #[when(count(6))]
        #[worker(one)]
        let short: Sleeper = Sleeper::new(Duration::from_millis(20));
        #[when(count(4))]
        #[worker(two)]
        let long: Sleeper = Sleeper::new(Duration::from_millis(30));
        let of_short: Moments = Moments::new(first);
        let of_long: Moments = Moments::new(second);
        short.woke >> of_short.at;
        long.woke >> of_long.at;
    }
}

fn naps(seed: u64) -> Result<(), Failed> {
    for workers in [1, 2, 4] {
        let (first, second) = (Seen::default(), Seen::default());
        let mut graph = Naps::new(&simulated(seed)?, first.clone(), second.clone())?;
        graph.workers(workers)?.run()?;
        check_equal(take(&first), vec![20, 40, 60, 80, 100, 120])?;
        check_equal(take(&second), vec![30, 60, 90, 120])?;
    }
    Ok(())
}

fn stopped(platform: &Platform) -> Result<(), Failed> {
    let (main, written) = (Seen::default(), Seen::default());
    let graph = Recording::new(platform, Duration::from_secs(3600), main, written.clone())?;
    let running = graph.spawn()?;
    while take(&written).is_empty() {
        std::thread::yield_now();
    }
    running.stop();
    running.join()?;
    Ok(())
}
