//! Runs that stall, and the texts of their errors.

use streamflow::prelude::*;
use streamflow::schedule::End;
use streamflow_tests::greedy::greedy;
use streamflow_tests::relays::{Join, Pass};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_text, stalled};

use super::operators::{Overlay, Takes, Twice};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_circle_of_waits_is_a_chain_back_to_its_begin", circle)
        .both("a_full_queue_before_a_node_that_is_done_stalls", full_before_done)
        .both("a_message_before_a_node_that_is_done_is_dropped", left_before_done)
        .both("a_node_that_finished_stalls_no_other", finished)
        .both("a_lossy_edge_stalls_no_node", lossy)
        .both("a_message_without_its_partner_stalls_after_all_sources", no_partner)
        .both("a_loop_without_a_source_stalls_at_a_full_edge", loop_before_done)
        .both("a_loop_that_lost_its_message_stalls", lost)
        .both("a_full_edge_behind_a_lossy_one_is_reported", behind_lossy)
        .both("a_node_that_finished_excuses_no_circle", circle_beside_finished)
        .both("a_leftover_at_an_optional_input_is_dropped", optional)
        .both("a_message_that_waits_for_a_finished_node_is_dropped", left_for_finished)
        .both("each_cause_of_a_stall_is_named", two_causes)
        .both("a_wide_and_long_stall_is_described_once", wide)
}

/// An operator that sends on the odd numbers.
#[operator]
struct Odd {
    #[input]
    number: u64,
    #[output]
    odd: u64,
}

impl Compute for Odd {
    fn compute(&mut self, io: OddIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        if number % 2 == 1 { io.odd.emit(number) } else { Ok(()) }
    }
}

/// An operator that sends numbers, and ends itself after `last` ticks.
#[operator]
struct Until {
    #[output]
    number: u64,
    last: u64,
}

impl Compute for Until {
    fn compute(&mut self, io: UntilIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() + 1 == self.last {
            cx.finish();
        }
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Circle(count: u64) {
        #[when(count(count))] let source: Twice = Twice::new();
        let odd: Odd = Odd::new();
        let join: Join = Join::new();
        source.x >> odd.number;
        odd.odd >> join.a;
        source.y >> join.b;
    }
}

/// Checks the error of a circle: `source` waits for room at `join`, `join` waits for a message of `odd`, and
/// `odd` waits for a message of `source`.
fn circle(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Circle::new(platform, 6)?.run())?;
    let chain = [
        "the run has stalled:\n  `source`, after 1 of 6 ticks, waits for room in `source.y >> join.b`, which is full (1 of 1)",
        " → `join`, after 0 ticks, has the message of `source.y >> join.b`, but waits for a message of `odd.odd >> join.a`, which is empty",
        " → `odd`, after 1 tick, waits for a message of `source.x >> odd.number`, which is empty → `source`, as above",
        "take or discard what waits",
    ];
    check_text(&text, &chain)?;
    check(text.matches("`source`, after").count() == 1, || text.clone())
}

/// Checks the error of a run in which all sources are done and one message at `join` has no partner.
fn no_partner(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Circle::new(platform, 1)?.run())?;
    let chain = [
        "`join`, after 0 ticks, has the message of `source.y >> join.b`, but waits for a message of `odd.odd >> join.a`",
        " → `odd`, after 1 tick, waits for a message of `source.x >> odd.number`, which is empty",
        " → `source` is done: its `count` of 1 is reached",
    ];
    check_text(&text, &chain)
}

graph! {
    struct Counted(sent: u64, taken: u64) {
        #[when(count(sent))] let source: Counter = Counter::new();
        #[when(count(taken))] let sink: Takes = Takes::new();
        source.number >> sink.number;
    }
}

fn full_before_done(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Counted::new(platform, 5, 2)?.run())?;
    let chain = [
        "`source`, after 3 of 5 ticks, waits for room in `source.number >> sink.number`, which is full (1 of 1)",
        " → `sink` is done: its `count` of 2 is reached",
    ];
    check_text(&text, &chain)
}

fn left_before_done(platform: &Platform) -> Result<(), Failed> {
    let report = Counted::new(platform, 3, 2)?.run()?;
    check(report.end == End::SourcesDone, || format!("{report:?}"))?;
    check((report.ticks("source"), report.ticks("sink")) == (Some(3), Some(2)), || {
        format!("{report:?}")
    })?;
    let [dropped] = &*report.dropped else { return Err(Failed::msg(format!("{report:?}"))) };
    check((dropped.edge, dropped.messages) == ("source.number >> sink.number", 1), || {
        format!("{dropped:?}")
    })
}

graph! {
    struct Finishing(last: u64) {
        #[when(count(9))] let source: Counter = Counter::new();
        let other: Until = Until::new(last);
        let join: Join = Join::new();
        source.number >> join.a;
        other.number >> join.b;
    }
}

/// Checks that the run ends normally when `other` ends itself, although `source` has ticks left and a message
/// waits at `join`. The remaining message is dropped.
fn finished(platform: &Platform) -> Result<(), Failed> {
    let report = Finishing::new(platform, 2)?.run()?;
    check(report.end == End::Finished { nodes: vec!["other".into()] }, || format!("{report:?}"))?;
    check(report.ticks("join") == Some(2), || format!("{report:?}"))?;
    check(report.dropped.iter().any(|dropped| dropped.edge == "source.number >> join.a"), || {
        format!("{report:?}")
    })
}

graph! {
    struct Lossy() {
        #[when(count(9))] let fast: Counter = Counter::new();
        #[when(count(2))] let slow: Counter = Counter::new();
        let join: Join = Join::new();
        #[policy(pop)] fast.number >> join.a;
        slow.number >> join.b;
    }
}

/// Checks that messages left on an edge with `pop` at the end are no stall, since such an edge may drop messages
/// anyway.
fn lossy(platform: &Platform) -> Result<(), Failed> {
    let report = Lossy::new(platform)?.run()?;
    check(report.end == End::SourcesDone && report.ticks("fast") == Some(9), || {
        format!("{report:?}")
    })?;
    // With workers, `pop` may drop so many messages that the second message of `slow` finds no partner.
    let report = greedy(Lossy::new(platform)?)?.run()?;
    check(report.end == End::SourcesDone && report.ticks("fast") == Some(9), || {
        format!("{report:?}")
    })?;
    let lost: u64 = report.dropped.iter().map(|dropped| dropped.messages).sum();
    check(lost == 7, || format!("{report:?}"))
}

/// An operator that sends the next number to itself while the number is below `until`, and sends each number to
/// `x`.
#[operator]
struct Steps {
    #[input]
    last: u64,
    #[output]
    next: u64,
    #[output]
    x: u64,
    until: u64,
}

impl Compute for Steps {
    fn compute(&mut self, io: StepsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let last = io.last.receive().into_data();
        if last < self.until {
            io.next.emit(last + 1)?;
        }
        io.x.emit(last)
    }
}

graph! {
    struct Loop(until: u64, taken: u64) {
        let steps: Steps = Steps::new(until);
        #[when(count(taken))] let sink: Takes = Takes::new();
        #[feedback(initial = 0)] steps.next >> steps.last;
        steps.x >> sink.number;
    }
}

fn loop_before_done(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Loop::new(platform, u64::MAX, 2)?.run())?;
    let chain = [
        "`steps`, after 3 ticks, has the message of `steps.next >> steps.last`, but waits for room in `steps.x >> sink.number`",
        " → `sink` is done: its `count` of 2 is reached",
    ];
    check_text(&text, &chain)
}

/// Checks that a loop which loses its message is a stall, since the next run could not begin.
fn lost(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Loop::new(platform, 2, 100)?.run())?;
    let chain = [
        "`steps`, after 3 ticks, waits for a message of `steps.next >> steps.last`, which is empty → `steps`, as above",
    ];
    check_text(&text, &chain)
}

graph! {
    struct BehindLossy() {
        #[when(count(100))] let numbers: Counter = Counter::new();
        let pass: Pass = Pass::new();
        #[when(count(2))] let sink: Takes = Takes::new();
        #[policy(pop)] numbers.number >> pass.i;
        pass.o >> sink.number;
    }
}

fn behind_lossy(platform: &Platform) -> Result<(), Failed> {
    let report = BehindLossy::new(platform)?.run()?;
    check(report.end == End::SourcesDone && report.ticks("numbers") == Some(100), || {
        format!("{report:?}")
    })?;
    // With workers, `pop` may drop so many messages that `pass` never fills the edge to `sink`.
    let report = greedy(BehindLossy::new(platform)?)?.run()?;
    let waited = report.waited.join(" ");
    check_text(&waited, &["`pass`, after 3 ticks,", "waits for room in `pass.o >> sink.number`"])
}

/// An operator that ends itself in its first tick.
#[operator]
struct Finishes {
    #[input]
    number: u64,
}

impl Compute for Finishes {
    fn compute(&mut self, io: FinishesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        cx.finish();
        Ok(())
    }
}

/// An operator that sends even numbers at `x`, and the number 1 at both `y` and `z`.
#[operator]
struct Thrice {
    #[output]
    x: u64,
    #[output]
    y: u64,
    #[output]
    z: u64,
}

impl Compute for Thrice {
    fn compute(&mut self, io: ThriceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.x.emit(2 * cx.tick())?;
        io.y.emit(1)?;
        io.z.emit(1)
    }
}

graph! {
    struct CircleBesideFinished(capacity: usize) {
        #[when(count(9))] let source: Thrice = Thrice::new();
        let odd: Odd = Odd::new();
        let join: Join = Join::new();
        let finishes: Finishes = Finishes::new();
        source.x >> odd.number;
        odd.odd >> join.a;
        #[capacity(2)] source.y >> join.b;
        #[capacity(capacity)] source.z >> finishes.number;
    }
}

/// Checks that the error names the circle of `source`, `odd` and `join`, whatever the capacity of the edge to the
/// finished node is. With a capacity of 1, the error also says that `source` waits for room in that edge.
fn circle_beside_finished(platform: &Platform) -> Result<(), Failed> {
    for capacity in [1, 8] {
        let text = stalled(CircleBesideFinished::new(platform, capacity)?.run())?;
        let words = ["has stalled:\n  `source`, after 2 of 9 ticks", "`join`, after 0 ticks"];
        check_text(&text, &words)?;
        let waits_for_both = text.contains("room in `source.z >> finishes.number`");
        check(waits_for_both == (capacity == 1), || text.clone())?;
    }
    Ok(())
}

/// An operator that leaves the message of `a` in the queue until a message of `b` arrives.
#[operator]
struct Pair {
    #[input]
    a: u64,
    #[input(optional)]
    b: u64,
}

impl Compute for Pair {
    fn compute(&mut self, io: PairIo<'_>, _: &ExecutionContext) -> Result<()> {
        match io.b.receive().into_data() {
            Some(_) => io.a.discard(),
            None => io.a.leave(),
        }
        Ok(())
    }
}

graph! {
    struct Optional() {
        #[when(count(2))] let a: Counter = Counter::new();
        #[when(count(3))] let b: Counter = Counter::new();
        let overlay: Overlay = Overlay::new(0);
        a.number >> overlay.a;
        b.number >> overlay.o;
    }
}

fn optional(platform: &Platform) -> Result<(), Failed> {
    let report = Optional::new(platform)?.run()?;
    check(report.ticks("overlay") == Some(2) && report.ticks("b") == Some(3), || {
        format!("{report:?}")
    })?;
    // With workers, more messages of `b` may arrive too late, and the edge to `overlay.o` gives way so that `b` goes
    // on.
    let report = greedy(Optional::new(platform)?)?.run()?;
    let [dropped] = &*report.dropped else { return Err(Failed::msg(format!("{report:?}"))) };
    check((dropped.edge, dropped.messages) == ("b.number >> overlay.o", 1), || {
        format!("{report:?}")
    })
}

graph! {
    struct LeftForFinished() {
        let a: Until = Until::new(3);
        let b: Until = Until::new(2);
        let pair: Pair = Pair::new();
        a.number >> pair.a;
        b.number >> pair.b;
    }
}

fn left_for_finished(platform: &Platform) -> Result<(), Failed> {
    let report = LeftForFinished::new(platform)?.run()?;
    check(report.end == End::Finished { nodes: vec!["a".into(), "b".into()] }, || {
        format!("{report:?}")
    })
}

graph! {
    struct TwoCauses() {
        #[when(count(9))] let source: Twice = Twice::new();
        #[when(count(1))] let once: Counter = Counter::new();
        let odd: Odd = Odd::new();
        let join: Join = Join::new();
        let last: Join = Join::new();
        source.x >> odd.number;
        odd.odd >> join.a;
        once.number >> join.b;
        source.y >> last.a;
        odd2.o >> last.b;
        let odd2: Pass = Pass::new();
        never.odd >> odd2.i;
        let never: Odd = Odd::new();
        #[when(count(1))] let zero: Counter = Counter::new();
        zero.number >> never.number;
    }
}

fn two_causes(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(TwoCauses::new(platform)?.run())?;
    let causes = [
        "`zero` is done: its `count` of 1 is reached",
        "`last`, after 0 ticks",
        "`join`, after 0 ticks",
    ];
    check_text(&text, &causes)
}

graph! {
    struct Wide() {
        #[when(count(9))] let s0: Counter = Counter::new();
        #[when(count(9))] let s1: Counter = Counter::new();
        #[when(count(9))] let s2: Counter = Counter::new();
        let all: Pass3 = Pass3::new();
        let tail: Pass = Pass::new();
        #[when(count(1))] let sink: Takes = Takes::new();
        s0.number >> all.a;
        s1.number >> all.b;
        s2.number >> all.c;
        all.o >> tail.i;
        tail.o >> sink.number;
    }
}

#[operator]
struct Pass3 {
    #[input]
    a: u64,
    #[input]
    b: u64,
    #[input]
    c: u64,
    #[output]
    o: u64,
}

impl Compute for Pass3 {
    fn compute(&mut self, io: Pass3Io<'_>, _: &ExecutionContext) -> Result<()> {
        io.b.discard();
        io.c.discard();
        io.o.emit(io.a.receive().into_data())
    }
}

/// Checks that the error describes `tail` once, although three sources wait for it.
fn wide(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Wide::new(platform)?.run())?;
    check(text.matches("`tail`, after").count() == 1, || text.clone())?;
    check(text.matches("`all`, as above").count() == 2, || text.clone())?;
    check_text(&text, &["has the messages of `s0.number >> all.a` and `s1.number >> all.b` and"])
}
