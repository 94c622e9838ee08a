//! Which ends of a run flush the operators, and which do not.

use streamflow::prelude::*;
use streamflow::schedule::{End, Report, StoppedBy};
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::operators::{Count, Finishes, List, SumOfFour};
use super::ticks;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::runs;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_source_that_finishes_loses_nothing::host", source_finishes)
        .plain("a_node_that_finishes_itself_is_flushed::host", finishes_itself)
        .plain("a_node_that_reaches_its_count_is_flushed::host", count_reached)
        .plain("a_condition_that_ends_a_node_lets_it_be_flushed::host", condition_ends)
        .plain("an_operator_without_outputs_is_flushed::host", sink)
        .both("a_run_of_some_ticks_flushes", some_ticks)
        .both("a_run_that_is_stopped_flushes_nothing_and_says_so", stopped)
        .both("a_stepped_run_that_is_ended_early_flushes_nothing", ended_early)
}

/// An operator that holds all numbers, and ends itself in its seventh tick.
#[operator(flush)]
struct FinishesItself {
    #[input]
    n: u64,
    #[output]
    sum: u64,
    held: u64,
}

impl Compute for FinishesItself {
    fn compute(&mut self, io: FinishesItselfIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.held += io.n.receive().into_data();
        if cx.tick() == 6 {
            cx.finish();
        }
        Ok(())
    }
}

impl Flush for FinishesItself {
    fn flush(&mut self, io: FinishesItselfFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.sum.emit(std::mem::take(&mut self.held))?;
        Ok(Flushed::Done)
    }
}

graph! {
    struct SourceFinishes {
        let count: Finishes = Finishes::new(9);
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

graph! {
    struct Itself {
        #[when(count(7))] let count: Count = Count::new();
        let sum: FinishesItself = FinishesItself::new(0);
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

graph! {
    struct Counted {
        #[when(count(6))] let count: Count = Count::new();
        #[when(count(6))] let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

graph! {
    struct Ended {
        #[when(count(6))] let count: Count = Count::new();
        #[when(message_available(n, 1))] let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: List = List::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}

graph! {
    struct Endless {
        let count: Count = Count::new();
        let sum: SumOfFour = SumOfFour::new(Vec::new());
        let list: Stops = Stops::new(Vec::new());
        count.n >> sum.n;
        sum.sum >> list.n;
    }
}
runs!(SourceFinishes, Itself, Counted, Ended);

fn source_finishes() -> Result<(), Failed> {
    in_each_order(2, SourceFinishes::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![6, 22, 17])?;
        check_equal(report.end, End::Finished { nodes: vec!["count".to_owned()] })
    })
}

fn finishes_itself() -> Result<(), Failed> {
    in_each_order(2, Itself::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![21])?;
        check_equal(ticks(&report, "sum"), (8, 1))?;
        check_equal(report.end, End::Finished { nodes: vec!["sum".to_owned()] })
    })
}

/// Checks that the tick of `flush` is not among the ticks that `count` limits.
fn count_reached() -> Result<(), Failed> {
    in_each_order(2, Counted::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![6, 9])?;
        check_equal((ticks(&report, "sum"), &report.end), ((7, 1), &End::SourcesDone))
    })
}

/// Checks that a node whose condition has ended is flushed, although the condition does not hold for that tick.
fn condition_ends() -> Result<(), Failed> {
    in_each_order(2, Ended::new, |graph, done| {
        done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![6, 9])
    })
}

/// An operator that stops the graph at its second message.
#[operator]
struct Stops {
    #[input]
    n: u64,
    got: Vec<u64>,
}

impl Compute for Stops {
    fn compute(&mut self, io: StopsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.got.push(io.n.receive().into_data());
        if self.got.len() == 2 {
            cx.stop_graph();
        }
        Ok(())
    }
}

/// Checks that `run_for` with a number of ticks limits the sources, whose end is followed by the flush.
fn some_ticks(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Endless::new(platform)?;
    let report = graph.run_for(3)?;
    check_equal(&graph.list().got[..], &[3])?;
    check_equal((ticks(&report, "sum"), report.end), ((4, 1), End::TicksDone))
}

fn stopped(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Endless::new(platform)?;
    let report = graph.run()?;
    let by = StoppedBy::StopGraph("list".to_owned());
    check_equal(&report.end, &End::Stopped { by })?;
    check_equal(&graph.list().got[..], &[6, 22])?;
    unflushed(&report)
}

fn ended_early(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Endless::new(platform)?;
    while graph.tick()? != streamflow::schedule::Stepped::Over && graph.sum().held.is_empty() {}
    let report = graph.end_run()?;
    check_equal(graph.list().got.len(), 0)?;
    unflushed(&report)
}

fn unflushed(report: &Report) -> Result<(), Failed> {
    let named: Vec<_> = report.nodes.iter().filter(|node| node.unflushed).collect();
    check(matches!(&named[..], [node] if node.name == "sum"), || format!("{report:?}"))?;
    check_equal(ticks(report, "sum").1, 0)?;
    check_text(&report.to_string(), &["0  not to its end: what the node held back is lost"])
}

/// A sink that collects pairs of numbers in a list, as it would send them to another thread.
#[operator(flush)]
struct Pairs {
    #[input]
    n: u64,
    held: Vec<u64>,
    given: Vec<Vec<u64>>,
}

impl Compute for Pairs {
    fn compute(&mut self, io: PairsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.held.push(io.n.receive().into_data());
        if self.held.len() == 2 {
            self.given.push(std::mem::take(&mut self.held));
        }
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.given.push(Vec::new());
        Ok(())
    }
}

impl Flush for Pairs {
    fn flush(&mut self, _: PairsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        self.given.push(std::mem::take(&mut self.held));
        Ok(Flushed::Done)
    }
}

graph! {
    struct Sink {
        #[when(count(5))] let count: Count = Count::new();
        let pairs: Pairs = Pairs::new(Vec::new(), Vec::new());
        count.n >> pairs.n;
    }
}
runs!(Sink);

/// Checks that a sink is flushed, and that this comes before its `stop`.
fn sink() -> Result<(), Failed> {
    in_each_order(2, Sink::new, |graph, done| {
        let (report, given) = (done?, std::mem::take(&mut graph.pairs_mut().given));
        check_equal(given, vec![vec![0, 1], vec![2, 3], vec![4], vec![]])?;
        check_equal(ticks(&report, "pairs"), (6, 1))
    })
}
