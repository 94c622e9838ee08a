//! Tests that timing does not decide how a run ends.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{DropReason, Dropped, End, Report, Workers};
use streamflow::testing::yield_now;
use streamflow::time::{Clock, Timestamp};
use streamflow_tests::each_order::{Runs, in_each_order};
use streamflow_tests::relays::Join;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text, runs, stalled};

use super::operators::{Overlay, Takes, Twice};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_message_that_is_late_for_an_optional_input_stalls_no_run::host", late)
        .plain("a_hook_sleeps_as_long_after_an_edge_gave_way::host", sleeps_later)
        .plain("no_run_waits_in_a_circle_through_an_optional_input::host", circle)
        .plain("an_optional_input_excuses_no_stall_beside_it::host", beside)
        .plain("a_condition_names_no_room_that_timing_decides_about::host", beside_room)
        .plain("a_source_without_an_end_stands_still_at_an_optional_input::host", without_end)
        .plain("a_node_of_a_lossy_edge_stalls_no_run_and_is_reported::host", thinned)
        .plain("a_node_that_runs_by_the_clock_hides_no_stall::host", sampled)
}

runs!(Late, Circle, Beside, BesideRoom, WithoutEnd, Thinned);

impl Runs for Sampled {
    fn run_once(&mut self) -> Result<Report, Error> {
        // The limit is 10 s of the simulated clock, so the run ends even if no stall is found.
        self.run_for(Duration::from_secs(10))
    }
}

/// Returns the messages of an edge that were not received, as pairs of a reason and a number of messages.
pub(crate) fn dropped(report: &Report, edge: &str) -> Vec<(DropReason, u64)> {
    let of_edge = report.dropped.iter().filter(|dropped| dropped.edge == edge);
    of_edge.map(|Dropped { reason, messages, .. }| (*reason, *messages)).collect()
}

pub(crate) fn sum(dropped: &[(DropReason, u64)]) -> u64 {
    dropped.iter().map(|(_, messages)| messages).sum()
}

/// An operator that sends each number on, after it has let other threads run.
#[operator]
struct Slow {
    #[input]
    i: u64,
    #[output]
    o: u64,
}

impl Compute for Slow {
    fn compute(&mut self, io: SlowIo<'_>, _: &ExecutionContext) -> Result<()> {
        // Receiving the message frees its room in the queue, before the other threads run.
        let i = io.i.receive().into_data();
        (0..20).for_each(|_| yield_now());
        io.o.emit(i)
    }
}

graph! {
    struct Late(first: u64, second: u64) {
        #[when(count(first))] let a: Counter = Counter::new();
        #[when(count(second), periodic(Duration::from_millis(1)))] let b: Counter = Counter::new();
        let overlay: Overlay = Overlay::new(0);
        let other: Takes = Takes::new();
        a.number >> overlay.a;
        b.number >> overlay.o;
        b.number >> other.number;
    }
}

/// Checks a source `b` that sends most of its messages after `a`, the other source of `overlay`, is done. The
/// node `other` receives all messages of `b`.
fn late() -> Result<(), Failed> {
    for (first, second) in [(2, 2), (2, 3), (3, 5), (5, 9)] {
        in_each_order(
            1,
            |platform| Late::new(platform, first, second),
            |graph, done| {
                let report = done?;
                check_equal(report.end.clone(), End::SourcesDone)?;
                let ticks = ["a", "b", "overlay", "other"].map(|node| report.ticks(node));
                check_equal(ticks, [first, second, first, second].map(Some))?;
                let lost = dropped(&report, "b.number >> overlay.o");
                check_equal(graph.overlay().taken + sum(&lost), second)?;
                let left = lost.iter().find(|(reason, _)| *reason == DropReason::RunEnded);
                check(left.is_none_or(|(_, messages)| *messages == 1), || report.to_string())?;
                check_equal(report.dropped.len(), lost.len())
            },
        )?;
    }
    // With one thread, the first message of `b` always arrives before `overlay` needs it, so the counts are exact.
    let platform = Platform::host().clock(&Clock::simulated()).build()?;
    let mut graph = Late::new(&platform, 2, 5)?;
    graph.workers(Workers::none())?;
    let report = graph.run()?;
    let lost = [(DropReason::GaveWay, 3), (DropReason::RunEnded, 1)];
    check_equal(dropped(&report, "b.number >> overlay.o"), lost.to_vec())?;
    check_text(&report.to_string(), &["the edge gave way, so that the run went on"])?;
    // The next run starts from the beginning, and has the same counts.
    let report = graph.run()?;
    check_equal(dropped(&report, "b.number >> overlay.o"), lost.to_vec())
}

/// An operator that takes a millisecond for each message.
#[operator]
struct Sleeps {
    #[input]
    number: &u64,
}

impl Compute for Sleeps {
    fn compute(&mut self, io: SleepsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        cx.sleep(Duration::from_millis(1));
        Ok(())
    }
}

graph! {
    struct SleepsLater() {
        #[when(count(2))] let a: Counter = Counter::new();
        #[when(count(9))] let b: Counter = Counter::new();
        let overlay: Overlay = Overlay::new(0);
        let sleeps: Sleeps = Sleeps::new();
        a.number >> overlay.a;
        b.number >> overlay.o;
        b.number >> sleeps.number;
    }
}

/// Checks that `b`, which waits for room at the finished node `overlay`, goes on when that edge gives way.
fn sleeps_later() -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(1), Workers::new(2)] {
        let clock = Clock::simulated();
        let platform = Platform::host().clock(&clock).build()?;
        let mut graph = SleepsLater::new(&platform)?;
        graph.workers(workers)?;
        let report = graph.run()?;
        let gave_way = |dropped: &Dropped| dropped.reason == DropReason::GaveWay;
        check(report.dropped.iter().any(gave_way), || report.to_string())?;
        check_equal(report.ticks("sleeps"), Some(9))?;
        check_equal(clock.now(), Timestamp(9_000_000))?;
    }
    Ok(())
}

graph! {
    struct Circle() {
        #[when(count(10))] let source: Twice = Twice::new();
        let slow: Slow = Slow::new();
        let overlay: Overlay = Overlay::new(0);
        source.x >> slow.i;
        source.y >> overlay.a;
        slow.o >> overlay.o;
    }
}

/// Checks a graph that could wait in a circle: if `overlay` is two messages ahead, `source` waits for `slow`,
/// `slow` for `overlay`, and `overlay` for `source`.
fn circle() -> Result<(), Failed> {
    in_each_order(1, Circle::new, |graph, done| {
        let report = done?;
        let ticks = ["source", "slow", "overlay"].map(|node| report.ticks(node));
        check_equal(ticks, [Some(10); 3])?;
        let lost = dropped(&report, "slow.o >> overlay.o");
        check_equal(graph.overlay().taken + sum(&lost), 10)
    })
}

graph! {
    struct Beside() {
        #[when(count(5))] let a: Counter = Counter::new();
        #[when(count(100))] let b: Counter = Counter::new();
        #[when(count(5))] let c: Counter = Counter::new();
        let overlay: Overlay = Overlay::new(0);
        let join: Join = Join::new();
        a.number >> overlay.a;
        b.number >> overlay.o;
        b.number >> join.a;
        c.number >> join.b;
    }
}

/// Checks that `b` goes on until `join` stalls, with the same error text, however early `overlay` is done.
fn beside() -> Result<(), Failed> {
    in_each_order(1, Beside::new, |_, done| {
        let text = stalled(done)?;
        let chain = "the run has stalled:\n  `b`, after 6 of 100 ticks, waits for room in `b.number >> join.a`, which is full \
                     (1 of 1) → `join`, after 5 ticks, has the message of `b.number >> join.a`, but waits for a message of \
                     `c.number >> join.b`, which is empty → `c` is done: its `count` of 5 is reached\n";
        check_text(&text, &[chain])
    })
}

graph! {
    struct BesideRoom() {
        #[when(count(5))] let a: Counter = Counter::new();
        #[when(count(1))] let b: Counter = Counter::new();
        #[when(room(o))] let slow: Slow = Slow::new();
        let overlay: Overlay = Overlay::new(0);
        let join: Join = Join::new();
        a.number >> slow.i;
        b.number >> overlay.a;
        slow.o >> overlay.o;
        b.number >> join.a;
        slow.o >> join.b;
    }
}

/// Checks that the error names only the room at `join` as the condition of `slow`, whether or not timing makes
/// the edge to `overlay` give way or stay full.
fn beside_room() -> Result<(), Failed> {
    in_each_order(1, BesideRoom::new, |_, done| {
        let text = stalled(done)?;
        let chain = [
            "`a`, after 3 of 5 ticks, waits for room in `a.number >> slow.i`, which is full (1 of 1) → `slow`, after 2 ticks, has \
             the message of `a.number >> slow.i`, but waits for ",
            "condition `room(o)` → `join`, after 1 tick, has the message of `slow.o >> join.b`, but waits for a message of \
             `b.number >> join.a`, which is empty → `b` is done: its `count` of 1 is reached\n",
        ];
        check_text(&text, &chain)?;
        check(!text.contains("`overlay`, after"), || text.clone())
    })
}

graph! {
    struct WithoutEnd() {
        #[when(count(5))] let a: Counter = Counter::new();
        let b: Counter = Counter::new();
        let slow: Slow = Slow::new();
        let overlay: Overlay = Overlay::new(0);
        a.number >> overlay.a;
        b.number >> slow.i;
        slow.o >> overlay.o;
    }
}

/// Checks that `b` and `slow`, which send to nothing but `overlay`, end when `overlay` does.
fn without_end() -> Result<(), Failed> {
    in_each_order(1, WithoutEnd::new, |graph, done| {
        let report = done?;
        check_equal((report.end.clone(), report.ticks("overlay")), (End::SourcesDone, Some(5)))?;
        let slow = report.ticks("slow").unwrap_or_default();
        let lost = sum(&dropped(&report, "slow.o >> overlay.o"));
        check_equal(graph.overlay().taken + lost, slow)?;
        let b = report.ticks("b").unwrap_or_default();
        check_equal(slow + sum(&dropped(&report, "b.number >> slow.i")), b)?;
        let [waited] = &*report.waited else { return Err(Failed::msg(report)) };
        let chain =
            "waits for room in `b.number >> slow.i`, which is full (1 of 1) → `slow`, after ";
        check_text(waited, &["`b`, after ", chain, "waits for room in `slow.o >> overlay.o`"])
    })
}

graph! {
    struct Thinned(sent: u64) {
        #[when(count(9))] let fast: Counter = Counter::new();
        #[when(count(sent))] let b: Counter = Counter::new();
        let join: Join = Join::new();
        let other: Takes = Takes::new();
        #[policy(pop)] fast.number >> join.a;
        b.number >> join.b;
        b.number >> other.number;
    }
}

/// Checks a run in which timing decides how many messages of `fast` reach `join`, and with them how many messages
/// of `b` it receives.
fn thinned() -> Result<(), Failed> {
    for sent in [1, 2, 4, 100] {
        in_each_order(
            1,
            |platform| Thinned::new(platform, sent),
            |_, done| {
                let report = done?;
                let ticks = ["fast", "b", "other"].map(|node| report.ticks(node));
                check_equal(ticks, [9, sent, sent].map(Some))?;
                let joined = report.ticks("join").unwrap_or_default();
                check_equal(joined + sum(&dropped(&report, "fast.number >> join.a")), 9)?;
                check_equal(joined + sum(&dropped(&report, "b.number >> join.b")), sent)?;
                if joined == sent {
                    return check_equal(&report.waited[..], &[]);
                }
                let [waited] = &*report.waited else { return Err(Failed::msg(report)) };
                check_text(
                    waited,
                    &["`join`, after ", "has the message of `b.number >> join.b`, but waits for"],
                )?;
                check_text(
                    &report.to_string(),
                    &["as timing decided, these waited at the end:\n  `join`"],
                )
            },
        )?;
    }
    Ok(())
}

/// An operator that receives a number if one has arrived, and runs by the clock.
#[operator]
struct Sampler {
    #[input(optional)]
    number: &u64,
}

impl Compute for Sampler {
    fn compute(&mut self, io: SamplerIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    struct Sampled() {
        #[when(count(9))] let a: Counter = Counter::new();
        #[when(count(2))] let b: Counter = Counter::new();
        let join: Join = Join::new();
        #[when(periodic(Duration::from_millis(1)))] let sampler: Sampler = Sampler::new();
        a.number >> join.a;
        b.number >> join.b;
        b.number >> sampler.number;
    }
}

/// Checks that a stall of `a` is found although `sampler` runs for ever: no tick of `sampler` can let `a` go on.
fn sampled() -> Result<(), Failed> {
    in_each_order(1, Sampled::new, |_, done| {
        let text = stalled(done)?;
        check_text(&text, &["`a`, after 3 of 9 ticks,", "`b` is done: its `count` of 2 is reached"])
    })
}
