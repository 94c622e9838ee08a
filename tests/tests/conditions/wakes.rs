//! Checks that no wake-up is lost: a change comes while the scheduler goes to sleep, in many rounds and in
//! explored orders.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use streamflow::operator::{AsyncHandle, BooleanHandle};
use streamflow::prelude::*;
use streamflow::testing::{explore, scope};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check_equal};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("no_notice_is_lost_while_the_scheduler_goes_to_sleep", notices)
        .plain("no_switch_is_lost_while_the_scheduler_goes_to_sleep", switches)
        .plain("a_dropped_handle_wakes_the_scheduler", drops)
        .plain("notices_of_threads_are_counted_in_each_order", explored_notices)
        .plain("a_switch_is_seen_in_each_order", explored_switch)
}

const ROUNDS: u64 = 3000;

/// An operator that counts its ticks for another thread.
#[operator]
struct Echo {
    #[output]
    number: u64,
    ran: Arc<AtomicU64>,
}

impl Compute for Echo {
    fn compute(&mut self, io: EchoIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.ran.store(cx.tick() + 1, Ordering::Release);
        io.number.emit(cx.tick())
    }
}

/// Returns a platform with a driver on which schedulers sleep as soon as they wait.
fn sleepy() -> Result<Platform, Error> {
    let driver = Platform::host().build()?.driver().clone();
    Platform::builder().spin(Duration::ZERO).driver(driver)
}

/// Waits until a node has run `times` times. In some rounds it waits a little longer, so that the next change
/// comes before, while or after the scheduler goes to sleep.
fn wait(ran: &AtomicU64, times: u64) {
    while ran.load(Ordering::Acquire) < times {
        thread::yield_now();
    }
    (0..times % 97 * 20).for_each(|_| std::hint::spin_loop());
}

graph! {
    struct Echoing(trigger: AsyncHandle, ran: Arc<AtomicU64>) {
        #[when(asynchronous(trigger))]
        let echo: Echo = Echo::new(ran);
        echo.number >> _;
    }
}

fn notices() -> Result<(), Failed> {
    let (trigger, ran) = (AsyncHandle::new(), Arc::<AtomicU64>::default());
    let mut graph = Echoing::new(&sleepy()?, trigger.clone(), ran.clone())?;
    let report = thread::scope(|scope| {
        scope.spawn(move || {
            for round in 0..ROUNDS {
                wait(&ran, round);
                let _notified = trigger.notify();
            }
            trigger.close();
        });
        graph.run()
    })?;
    check_equal(report.ticks("echo"), Some(ROUNDS))
}

/// An operator that sets its own condition to false.
#[operator]
struct Once {
    #[output]
    number: u64,
    handle: BooleanHandle,
    ran: Arc<AtomicU64>,
}

impl Compute for Once {
    fn compute(&mut self, io: OnceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.handle.set(false)?;
        self.ran.store(cx.tick() + 1, Ordering::Release);
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Switching(handle: BooleanHandle, ran: Arc<AtomicU64>) {
        #[when(count(ROUNDS), boolean(handle))]
        let once: Once = Once::new(handle, ran);
        once.number >> _;
    }
}

fn switches() -> Result<(), Failed> {
    let (handle, ran) = (BooleanHandle::new(false), Arc::<AtomicU64>::default());
    let mut graph = Switching::new(&sleepy()?, handle.clone(), ran.clone())?;
    let report = thread::scope(|scope| {
        scope.spawn(move || {
            for round in 0..ROUNDS {
                wait(&ran, round);
                let _set = handle.set(true);
            }
        });
        graph.run()
    })?;
    check_equal(report.ticks("once"), Some(ROUNDS))
}

fn drops() -> Result<(), Failed> {
    let platform = sleepy()?;
    for round in 0..500 {
        let (trigger, ran) = (AsyncHandle::new(), Arc::<AtomicU64>::default());
        let mut graph = Echoing::new(&platform, trigger.clone(), ran.clone())?;
        let report = thread::scope(|scope| {
            scope.spawn(move || {
                let _notified = trigger.notify();
                wait(&ran, 1);
                (0..round).for_each(|_| std::hint::spin_loop());
                drop(trigger);
            });
            graph.run()
        })?;
        check_equal(report.ticks("echo"), Some(1))?;
    }
    Ok(())
}

graph! {
    struct TwoTriggered(trigger: AsyncHandle) {
        #[when(asynchronous(trigger))]
        let one: Counter = Counter::new();
        #[when(asynchronous(trigger))]
        let other: Counter = Counter::new();
        one.number >> _;
        other.number >> _;
    }
}

fn joined<T>(thread: thread::Result<T>) -> Result<T> {
    thread.map_err(|_| Failure::msg("the thread panicked"))
}

fn explored_notices() -> Result<(), Failed> {
    explore(|platform| {
        let trigger = AsyncHandle::new();
        let mut graph = TwoTriggered::new(platform, trigger.clone())?;
        let report = scope(|scope| {
            let one = trigger.clone();
            let one = scope.spawn(move || (0..3).try_for_each(|_| one.notify()));
            let other = scope.spawn(move || (0..2).try_for_each(|_| trigger.notify()));
            let report = graph.run();
            joined(one.join())??;
            joined(other.join())??;
            report
        })?;
        let ticks: u64 = ["one", "other"].iter().filter_map(|node| report.ticks(node)).sum();
        if ticks == 5 { Ok(()) } else { Err(Failure::msg(format!("{ticks} ticks of 5"))) }
    })?;
    Ok(())
}

graph! {
    struct Switched(handle: BooleanHandle) {
        #[when(count(2), boolean(handle))]
        let source: Counter = Counter::new();
        source.number >> _;
    }
}

fn explored_switch() -> Result<(), Failed> {
    explore(|platform| {
        let handle = BooleanHandle::new(false);
        let mut graph = Switched::new(platform, handle.clone())?;
        let report = scope(|scope| {
            let button = scope.spawn(move || {
                handle.set(true)?;
                handle.set(false)?;
                handle.set(true)
            });
            let report = graph.run();
            joined(button.join())??;
            report
        })?;
        if report.ticks("source") == Some(2) { Ok(()) } else { Err(Failure::msg(report)) }
    })?;
    Ok(())
}
