//! Errors of a graph in a harness: they name the path of the node, and nothing is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use streamflow::prelude::*;
use streamflow::testing::GraphHarness;
use streamflow_tests::{Failed, check_equal, check_error, check_text};

use super::super::{Count, Plus, Thread};
use super::{ran, taken, waits};

/// Sends even numbers on, and counts its calls of `stop`. They fail if the flag is set.
#[operator]
struct Even {
    #[input]
    n: &u64,
    #[output]
    out: u64,
    stops: Arc<AtomicUsize>,
    stop_fails: bool,
}

impl Compute for Even {
    fn compute(&mut self, io: EvenIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        if n % 2 == 1 { Err(Failure::msg("odd on purpose")) } else { io.out.emit(n) }
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.stops.fetch_add(1, Ordering::Relaxed);
        if self.stop_fails { Err(Failure::msg("no stop on purpose")) } else { Ok(()) }
    }
}

graph! {
    struct Evens(stops: Arc<AtomicUsize>, stop_fails: bool) {
        input n: &u64;
        output out: u64;
        let first: Even = Even::new(stops.clone(), stop_fails);
        let second: Even = Even::new(stops, stop_fails);
        n >> first.n;
        first.out >> second.n;
        second.out >> out;
    }
}

graph! {
    struct Around(stops: Arc<AtomicUsize>, stop_fails: bool) {
        input n: &u64;
        output out: u64;
        let evens: Evens = Evens::new(stops, stop_fails);
        n >> evens.n;
        evens.out >> out;
    }
}

pub(super) fn of_a_tick(platform: &Platform) -> Result<(), Failed> {
    let stops = Arc::new(AtomicUsize::new(0));
    let mut harness = GraphHarness::new(platform, Around::new(stops.clone(), false))?;
    for n in [2, 3, 4] {
        harness.push(|ports| &mut ports.n, n)?;
    }
    ran(harness.tick()?)?;
    let text = check_error("a tick", harness.tick(), |error| {
        matches!(error, Error::Operator { hook: "compute", tick: 1, .. })
    })?;
    check_text(&text, &["`Around.evens.first`", "odd on purpose"])?;
    check_equal(stops.load(Ordering::Relaxed), 2)?;
    // The message of the first tick is there, and that of the last push was dropped at the end of the run.
    check_equal(*taken!(harness, out)?.message, 2)?;
    waits(harness.tick()?)?;
    harness.push(|ports| &mut ports.n, 6)?;
    ran(harness.tick()?)?;
    check_equal(*taken!(harness, out)?.message, 6)?;
    harness.stop()?;
    check_equal(stops.load(Ordering::Relaxed), 4)?;
    // Nothing runs any more.
    harness.stop()?;
    check_equal(stops.load(Ordering::Relaxed), 4)
}

pub(super) fn of_the_end(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Around::new(Arc::default(), true))?;
    harness.push(|ports| &mut ports.n, 1)?;
    let text = check_error(
        "a tick",
        harness.tick(),
        |error| matches!(error, Error::Run { followed, .. } if followed.len() == 2),
    )?;
    check_text(&text, &["odd on purpose", "`Around.evens.second`", "no stop on purpose"])
}

graph! {
    struct NeverMade(ticks: u64) {
        input n: &u64;
        output sum: u64;
        #[when(count(ticks))]
        let count: Count = Count::new();
        let plus: Plus = Plus::new(0);
        n >> plus.a;
        count.n >> plus.b;
        plus.sum >> sum;
    }
}

graph! {
    struct NeverReady(needed: usize) {
        input n: &u64;
        output out: u64;
        let one: Thread = Thread::new(Vec::new());
        #[when(message_available(n, needed))]
        let other: Thread = Thread::new(Vec::new());
        n >> one.n;
        one.out >> other.n;
        other.out >> out;
    }
}

pub(super) fn not_made(platform: &Platform) -> Result<(), Failed> {
    let made = GraphHarness::new(platform, NeverMade::new(0));
    let text = check_error("a count of 0", made, |error| matches!(error, Error::CountZero { .. }))?;
    check_text(&text, &["`NeverMade.count`"])?;
    let made = GraphHarness::new(platform, NeverReady::new(2));
    let text = check_error("an edge that is too short", made, |error| {
        matches!(error, Error::ImpossibleCondition { .. })
    })?;
    check_text(&text, &["`NeverReady.other`"])
}
