//! What an operator can find out about the other nodes of its graph.

use streamflow::prelude::*;
use streamflow::schedule::Activity;
use streamflow::testing::OperatorHarness;
use streamflow_tests::allocations;
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen::{Seen, all, push_seen, take};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("an_operator_finds_the_nodes_of_its_graph", finds)
        .both("an_operator_alone_finds_itself", alone)
        .host("an_operator_stops_the_graph_when_another_node_is_done", by_status)
}

type Found = (u64, u64, Activity, Activity);

/// An operator that reads the status of the other nodes in each tick.
#[operator]
struct Looks {
    #[input]
    number: u64,
    #[output]
    out: u64,
    seen: Seen<Found>,
    allocations: u64,
}

impl Compute for Looks {
    fn start(&mut self, _: LooksStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let names: Vec<&str> = cx.nodes().collect();
        let text = format!("{names:?} {} {}", cx.activity_of("numbers")?, cx.activity_of("sink")?);
        if text == "[\"numbers\", \"looks\", \"sink\"] idle not started" {
            return Ok(());
        }
        Err(Failure::msg(text))
    }

    fn compute(&mut self, io: LooksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        let (count, found) = allocations::count(|| -> Result<Found> {
            let ticks = (cx.ticks_of("numbers")?, cx.ticks_of("sink")?);
            Ok((ticks.0, ticks.1, cx.activity_of("looks")?, cx.activity_of("sink")?))
        });
        self.allocations += count;
        push_seen(&self.seen, found?);
        io.out.emit(number)
    }
}

/// A sink that receives numbers.
#[operator]
struct Sink {
    #[input]
    number: u64,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        match cx.ticks_of("lokos") {
            Err(Error::UnknownNode { node, hint }) if node == "lokos" => {
                if hint == "; did you mean `looks`?" { Ok(()) } else { Err(Failure::msg(hint)) }
            }
            other => Err(Failure::msg(format!("{other:?}"))),
        }
    }
}

graph! {
    struct Three(seen: Seen<Found>) {
        #[when(count(3))] let numbers: Counter = Counter::new();
        let looks: Looks = Looks::new(seen, 0);
        let sink: Sink = Sink::new();
        numbers.number >> looks.number;
        looks.out >> sink.number;
    }
}

fn finds(platform: &Platform) -> Result<(), Failed> {
    let seen = Seen::default();
    let mut graph = Three::new(platform, seen.clone())?;
    graph.run()?;
    let found = take(&seen);
    // The sink comes after this node in the graph, and the source before it.
    let is_right = |(tick, (before, after, own, _)): (usize, &Found)| {
        *before > tick as u64 && *after <= tick as u64 && *own == Activity::Computing
    };
    check(found.len() == 3 && found.iter().enumerate().all(is_right), || format!("{found:?}"))?;
    check_equal(graph.looks().allocations, 0)?;
    let mut graph = greedy(Three::new(platform, seen.clone())?)?;
    graph.run()?;
    let tick = |tick| (tick + 1, tick, Activity::Computing, Activity::Idle);
    check_equal(all(&seen), vec![tick(0), tick(1), tick(2)])?;
    check_equal(graph.looks().allocations, 0)
}

/// An operator that asks the context for the number of ticks of the node `name`.
#[operator]
struct Asks {
    #[input]
    number: u64,
    name: String,
}

impl Compute for Asks {
    fn compute(&mut self, io: AsksIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        cx.ticks_of(&self.name)?;
        Ok(())
    }
}

fn alone(platform: &Platform) -> Result<(), Failed> {
    for (name, problem) in [
        ("Asks", None),
        ("Ask", Some("the graph has no node `Ask`; did you mean `Asks`?")),
        ("radar", Some("the graph has no node `radar`")),
    ] {
        let mut harness = OperatorHarness::new(platform, Asks::new(name.into()))?;
        harness.push(|ports| &mut ports.number, 1)?;
        match problem {
            None => check(harness.tick()?, || "it is not ready".into())?,
            Some(problem) => {
                let text = check_error(name, harness.tick(), |_| true)?;
                check(text.ends_with(problem), || text)?;
            }
        }
    }
    Ok(())
}

/// An operator that sends until another node is done, as Holoscan's `stop_execution` by status.
#[operator]
struct Watches {
    #[output]
    number: u64,
}

impl Compute for Watches {
    fn compute(&mut self, io: WatchesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.activity_of("numbers")? == Activity::Done {
            cx.stop_graph();
        }
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Watched {
        #[when(count(7))] let numbers: Counter = Counter::new();
        let watches: Watches = Watches::new();
        numbers.number >> _;
        watches.number >> _;
    }
}

fn by_status(platform: &Platform) -> Result<(), Failed> {
    let report = Watched::new(platform)?.run()?;
    check(report.ticks("numbers") == Some(7) && report.ticks("watches") > Some(0), || {
        format!("{report}")
    })?;
    let report = greedy(Watched::new(platform)?)?.run()?;
    check_equal((report.ticks("numbers"), report.ticks("watches")), (Some(7), Some(8)))
}
