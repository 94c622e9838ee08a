//! Conditions of a user's own.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use streamflow::context::Waker;
use streamflow::operator::{Answer, Condition};
use streamflow::prelude::*;
use streamflow::schedule::End;
use streamflow::time::Timestamp;
use streamflow_tests::seen::{Seen, all, push_seen};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text, logged};

use super::operators::{Source, simulated};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .seeded("a_condition_of_its_own_says_when_its_node_runs", steps)
        .both("a_condition_of_its_own_wakes_the_scheduler", wakes)
        .both("a_panic_in_a_condition_is_an_error_of_its_node", panics)
        .both("each_condition_is_stopped_also_after_one_that_panics", ends)
        .both("a_condition_of_its_own_is_stopped_once_for_each_run", stops)
}

/// A condition by time: waits for 20 ms after each tick, and ends after 70 ms. It notes when it was called.
struct Steps {
    next: Timestamp,
    ticked: Seen<u64>,
}

impl Condition for Steps {
    fn check(&mut self, now: Timestamp) -> Answer {
        if now >= Timestamp(70_000_000) {
            Answer::Never
        } else if now >= self.next {
            // The returned moment has already passed.
            Answer::Until(self.next)
        } else {
            Answer::Until(self.next)
        }
    }

    fn ticked(&mut self, now: Timestamp) {
        push_seen(&self.ticked, now.0 / 1_000_000);
        self.next = now + Duration::from_millis(20);
    }

    fn reason(&self) -> String {
        "the time is over".into()
    }
}

graph! {
    struct Stepped(began: Seen<u64>, ticked: Seen<u64>) {
        #[when(condition(Steps { next: Timestamp(0), ticked }))]
        let source: Source = Source::new(began, vec![0, 0, 3]);
        source.number >> _;
    }
}

fn steps(seed: u64) -> Result<(), Failed> {
    let (began, ticked) = (Seen::default(), Seen::default());
    let report = Stepped::new(&simulated(seed)?.0, began.clone(), ticked.clone())?.run()?;
    // The third tick takes 3 ms; what counts is when the condition was found to hold.
    check_equal((all(&began), all(&ticked)), (vec![0, 20, 40, 60], vec![0, 20, 40, 60]))?;
    check_equal(report.end, End::Finished { nodes: vec!["source".into()] })
}

/// A condition that permits as many ticks as another thread has added.
#[derive(Clone, Default)]
struct Permits {
    left: Arc<AtomicU64>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Permits {
    fn add(&self) {
        self.left.fetch_add(1, Ordering::AcqRel);
        if let Ok(waker) = self.waker.lock()
            && let Some(waker) = &*waker
        {
            waker.wake();
        }
    }
}

impl Condition for Permits {
    fn start(&mut self, waker: &Waker) {
        if let Ok(mut slot) = self.waker.lock() {
            *slot = Some(waker.clone());
        }
    }

    fn check(&mut self, _: Timestamp) -> Answer {
        if self.left.load(Ordering::Acquire) > 0 { Answer::Ready } else { Answer::Waiting }
    }

    fn ticked(&mut self, _: Timestamp) {
        self.left.fetch_sub(1, Ordering::AcqRel);
    }
}

graph! {
    struct Permitted(permits: Permits) {
        #[when(count(200), condition(permits))]
        let source: Counter = Counter::new();
        source.number >> _;
    }
}

fn wakes(platform: &Platform) -> Result<(), Failed> {
    let permits = Permits::default();
    let mut graph = Permitted::new(platform, permits.clone())?;
    let report = thread::scope(|scope| {
        scope.spawn(|| (0..205).for_each(|_| permits.add()));
        graph.run()
    })?;
    check_equal(report.ticks("source"), Some(200))?;
    check_equal(permits.left.load(Ordering::Acquire), 5)
}

/// A condition that panics in one of its functions.
struct Panics(&'static str);

#[allow(clippy::panic, reason = "the test catches it")]
impl Condition for Panics {
    fn start(&mut self, _: &Waker) {
        assert!(self.0 != "start", "in start");
    }

    fn check(&mut self, _: Timestamp) -> Answer {
        assert!(self.0 != "check", "in check");
        Answer::Ready
    }

    fn ticked(&mut self, _: Timestamp) {
        assert!(self.0 != "ticked", "in ticked");
    }

    fn stop(&mut self) {
        assert!(self.0 != "stop", "in stop");
    }
}

graph! {
    struct Panicking(place: &'static str) {
        #[when(count(2), condition(Panics(place)))]
        let source: Counter = Counter::new();
        source.number >> _;
    }
}

fn panics(platform: &Platform) -> Result<(), Failed> {
    Panicking::new(platform, "nowhere")?.run()?;
    for (place, hook, tick) in [
        ("start", "start", 0),
        ("check", "readiness", 0),
        ("ticked", "readiness", 0),
        ("stop", "stop", 2),
    ] {
        let run = Panicking::new(platform, place)?.run();
        let text = check_error(place, run, |error| matches!(error, Error::Operator { .. }))?;
        check_text(
            &text,
            &[&format!("`source` failed in `{hook}`, tick {tick}"), &format!("in {place}")],
        )?;
    }
    Ok(())
}

/// A condition that panics in `stop` with this text.
struct PanicsAtEnd(&'static str);

#[allow(clippy::panic, reason = "the test catches it")]
impl Condition for PanicsAtEnd {
    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Ready
    }

    fn stop(&mut self) {
        panic!("{}", self.0);
    }
}

graph! {
    /// Each condition panics at the end, beside one that notes it, and so does the operator.
    struct Ending(seen: Seen<&'static str>) {
        #[when(
            count(2),
            condition(PanicsAtEnd("the first")),
            any(condition(PanicsAtEnd("the second")), condition(Noted(seen)))
        )]
        let source: PanicsInStop = PanicsInStop::new();
        source.number >> _;
    }
}

/// An operator with a `stop` hook that panics.
#[operator]
struct PanicsInStop {
    #[output]
    number: u64,
}

#[allow(clippy::panic, reason = "the test catches it")]
impl Compute for PanicsInStop {
    fn compute(&mut self, io: PanicsInStopIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        panic!("the operator")
    }
}

/// Checks that all conditions are stopped. The operator's panic is the error of the run, and each other panic is a line
/// in the log.
fn ends(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Ending::new(platform, seen.clone())?;
    let (run, lines) = logged(|| graph.run());
    let text = check_error("the end", run, |error| matches!(error, Error::Operator { .. }))?;
    check_text(&text, &["`source` failed in `stop`, tick 2", "the operator"])?;
    for other in ["the first", "the second"] {
        let count = lines.iter().filter(|line| line.contains("stopping a") && line.contains(other));
        check_equal(count.count(), 1)?;
    }
    check_equal(all(&seen), vec!["start", "stop"])
}

/// Notes the begin and the end of each run.
struct Noted(Seen<&'static str>);

impl Condition for Noted {
    fn start(&mut self, _: &Waker) {
        push_seen(&self.0, "start");
    }

    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Ready
    }

    fn stop(&mut self) {
        push_seen(&self.0, "stop");
    }
}

/// Fails in its first `start`.
#[operator]
struct FailsOnce {
    #[output]
    number: u64,
    has_failed: bool,
}

impl Compute for FailsOnce {
    fn start(&mut self, _: FailsOnceStreams<'_>, _: &ExecutionContext) -> Result<()> {
        if std::mem::replace(&mut self.has_failed, true) {
            Ok(())
        } else {
            Err(Failure::msg("no film"))
        }
    }

    fn compute(&mut self, io: FailsOnceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct StartsTwice(seen: Seen<&'static str>) {
        #[when(count(1))]
        let first: FailsOnce = FailsOnce::new(false);
        #[when(count(2), condition(Noted(seen)))]
        let source: Counter = Counter::new();
        first.number >> _;
        source.number >> _;
    }
}

fn stops(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = StartsTwice::new(platform, seen.clone())?;
    check_error("a start", graph.run(), |error| error.to_string().contains("no film"))?;
    // This condition was not started, since a node before its node has failed.
    check_equal(all(&seen), vec!["stop"])?;
    graph.run()?;
    check_equal(all(&seen), vec!["stop", "start", "stop"])?;
    graph.tick()?;
    graph.end_run()?;
    drop(graph);
    check_equal(all(&seen), vec!["stop", "start", "stop", "start", "stop"])
}
