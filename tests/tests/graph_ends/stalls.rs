//! Runs that can't go on, and what their errors say.

use streamflow::prelude::*;
use streamflow::schedule::End;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_text, stalled};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_circle_of_waits_is_a_chain_back_to_its_begin", circle)
        .both("a_full_queue_before_a_node_that_is_done_stalls", full_before_done)
        .both("a_message_before_a_node_that_is_done_is_dropped", left_before_done)
        .both("a_node_that_finished_stalls_no_other", finished)
        .both("a_lossy_edge_stalls_no_node", lossy)
        .both("a_message_without_its_partner_stalls_after_all_sources", no_partner)
}

/// Sends each number to both outputs.
#[operator]
struct Twice {
    #[output]
    x: u64,
    #[output]
    y: u64,
}

impl Compute for Twice {
    fn compute(&mut self, io: TwiceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.x.emit(cx.tick())?;
        io.y.emit(cx.tick())
    }
}

/// Sends odd numbers on.
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

#[operator]
struct Join {
    #[input]
    a: u64,
    #[input]
    b: u64,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        io.b.discard();
        Ok(())
    }
}

#[operator]
struct Discards {
    #[input]
    number: u64,
}

impl Compute for Discards {
    fn compute(&mut self, io: DiscardsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

/// Sends numbers, and ends itself after so many.
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

/// `source` waits for room, which `join` would make, which waits for `odd`, which waits for `source`.
fn circle(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Circle::new(platform, 6)?.run())?;
    let chain = [
        "the run has stalled: `source`, after 1 of 6 ticks, waits for room in `source.y >> join.b`, which is full (1 of 1)",
        " → `join`, after 0 ticks, has a message of `source.y >> join.b`, but waits for a message of `odd.odd >> join.a`, which is empty",
        " → `odd`, after 1 ticks, waits for a message of `source.x >> odd.number`, which is empty → `source`, as above",
        "take or discard what waits",
    ];
    check_text(&text, &chain)?;
    check(text.matches("`source`, after").count() == 1, || text.clone())
}

/// All sources are done, and one message has no partner.
fn no_partner(platform: &Platform) -> Result<(), Failed> {
    let text = stalled(Circle::new(platform, 1)?.run())?;
    let chain = [
        "`join`, after 0 ticks, has a message of `source.y >> join.b`, but waits for a message of `odd.odd >> join.a`",
        " → `odd`, after 1 ticks, waits for a message of `source.x >> odd.number`, which is empty",
        " → `source` is done: its `count` of 1 is reached",
    ];
    check_text(&text, &chain)
}

graph! {
    struct Counted(sent: u64, taken: u64) {
        #[when(count(sent))] let source: Counter = Counter::new();
        #[when(count(taken))] let sink: Discards = Discards::new();
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
    let [dropped] = &*report.dropped else { return Err(Failed::new(format!("{report:?}"))) };
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

/// `other` ends itself. `source` has ticks left then, and a message waits at `join`: both are dropped.
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

/// The messages of an edge with `pop` may be lost, so those that are left at the end are.
fn lossy(platform: &Platform) -> Result<(), Failed> {
    let report = Lossy::new(platform)?.run()?;
    check(report.end == End::SourcesDone && report.ticks("fast") == Some(9), || {
        format!("{report:?}")
    })?;
    let lost: u64 = report.dropped.iter().map(|dropped| dropped.messages).sum();
    check(lost == 7, || format!("{report:?}"))
}
