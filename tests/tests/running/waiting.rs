//! The status of a node that waits, which names the condition that the node waits for.

use std::thread;

use streamflow::operator::{AsyncHandle, BooleanHandle};
use streamflow::prelude::*;
use streamflow::schedule::{Activity, Running};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check_equal, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite.both("status_names_the_condition_that_a_node_waits_for", named)
}

/// A sink that receives numbers.
#[operator]
struct Sink {
    #[input]
    number: u64,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    struct Waiting(
        first: BooleanHandle,
        second: BooleanHandle,
        sinks: BooleanHandle,
        keeps: BooleanHandle,
        notices: AsyncHandle,
    ) {
        #[when(boolean(first), boolean(second))]
        let source: Counter = Counter::new();
        #[when(boolean(sinks))]
        let sink: Sink = Sink::new();
        // This node's condition keeps the run from ending.
        #[when(any(boolean(keeps), asynchronous(notices)))]
        let keeper: Counter = Counter::new();
        source.number >> sink.number;
        keeper.number >> _;
    }
}

/// What a status shows: a node, its activity, and its condition.
type Shown = (&'static str, Activity, Option<&'static str>);

/// Waits until the nodes have this status, however long that takes.
fn wait_for(running: &Running<Waiting>, expected: &[Shown]) {
    let is = |(name, activity, condition): &Shown| {
        let nodes = running.status().nodes;
        nodes.iter().any(|node| {
            (&*node.name, node.activity, node.condition) == (*name, *activity, *condition)
        })
    };
    while !expected.iter().all(is) {
        assert!(!running.is_over(), "the run ended before its nodes did this: {expected:?}");
        thread::yield_now();
    }
}

fn named(platform: &Platform) -> Result<(), Failed> {
    let [first, second, sinks, keeps] = [true, false, false, false].map(BooleanHandle::new);
    let (a, b, c, d) = (first.clone(), second.clone(), sinks.clone(), keeps.clone());
    let notices = AsyncHandle::new();
    let running = Waiting::new(platform, a, b, c, d, notices.clone())?.spawn()?;
    // The sink has no message, so its other condition is not checked.
    wait_for(
        &running,
        &[
            ("source", Activity::Waiting, Some("boolean(second)")),
            ("sink", Activity::Blocked, None),
            ("keeper", Activity::Waiting, Some("any(boolean(keeps), asynchronous(notices))")),
        ],
    );
    let text = running.status().to_string();
    let wanted = ["waits for its condition `boolean(second)`", "waits for a message or for room"];
    check_text(&text, &wanted)?;
    first.set(false)?;
    wait_for(&running, &[("source", Activity::Waiting, Some("boolean(first)"))]);
    first.set(true)?;
    second.set(true)?;
    // Now the source has no room for a message.
    wait_for(
        &running,
        &[("source", Activity::Blocked, None), ("sink", Activity::Waiting, Some("boolean(sinks)"))],
    );
    second.set(false)?;
    sinks.set(true)?;
    wait_for(&running, &[("source", Activity::Waiting, Some("boolean(second)"))]);
    drop(second);
    wait_for(&running, &[("source", Activity::Done, Some("boolean(second)"))]);
    let text = running.status().to_string();
    check_text(&text, &["done: its condition `boolean(second)` can't hold again"])?;
    running.stop();
    drop((keeps, notices));
    let report = running.join()?;
    check_equal(report.ticks("source"), report.ticks("sink"))
}
