//! An optional input counts for a flush like any other input: either its producer has ended first, or its edge
//! has the policy `pop` or `reject`.

use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::time::Clock;
use streamflow_tests::{Failed, Suite, check_equal};

use super::meanwhile::{Eats, Endless, StopsAt, stopped};
use super::operators::{Count, List};
use super::ticks;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::runs;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_flush_waits_for_the_source_of_an_optional_input::host", waits)
        .plain("a_flush_waits_for_no_source_behind_a_policy_at_an_optional_input::host", popped)
        .plain("a_source_without_an_end_at_an_optional_input_puts_a_flush_off::host", limited)
}

/// An operator that receives a number of `o`, if there is one, with each number of `a`. Its `flush` sends how
/// many are left at `o`.
#[operator(flush)]
struct Holds {
    #[input]
    a: &u64,
    #[input(optional)]
    o: &u64,
    #[output]
    left: u64,
}

impl Compute for Holds {
    fn compute(&mut self, io: HoldsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        io.o.discard();
        Ok(())
    }
}

impl Flush for Holds {
    fn flush(&mut self, io: HoldsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.a.discard();
        io.left.emit(io.o.receive().into_data().count() as u64)?;
        Ok(Flushed::Done)
    }
}

graph! {
    struct Waits {
        #[when(count(2))] let a: Count = Count::new();
        #[when(count(50))] let o: Count = Count::new();
        let holds: Holds = Holds::new();
        let list: List = List::new(Vec::new());
        a.n >> holds.a;
        o.n >> holds.o;
        holds.left >> list.n;
    }
}

graph! {
    struct Popped {
        #[when(count(2))] let a: Count = Count::new();
        let o: Endless = Endless::new();
        let eats: Eats = Eats::new();
        let holds: Holds = Holds::new();
        let list: StopsAt = StopsAt::new(Vec::new(), 1);
        a.n >> holds.a;
        #[policy(pop)] o.n >> holds.o;
        o.n >> eats.n;
        holds.left >> list.n;
    }
}

graph! {
    struct Limited {
        #[when(count(2))] let a: Count = Count::new();
        let o: Endless = Endless::new();
        let eats: Eats = Eats::new();
        let holds: Holds = Holds::new();
        let list: List = List::new(Vec::new());
        a.n >> holds.a;
        o.n >> holds.o;
        o.n >> eats.n;
        holds.left >> list.n;
    }
}
runs!(Waits, Popped);

/// Checks that `holds`, which runs no more after `a` has ended, is flushed after the last tick of `o`. In each
/// order, the flush receives the message of `o` that waits.
fn waits() -> Result<(), Failed> {
    in_each_order(2, Waits::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![1])?;
        check_equal([ticks(&report, "holds"), ticks(&report, "o")], [(3, 1), (50, 0)])
    })
}

/// Checks that the flush receives no message of a source that goes on.
fn popped() -> Result<(), Failed> {
    in_each_order(2, Popped::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got), vec![0])?;
        check_equal(ticks(&report, "holds"), (3, 1))?;
        stopped(&report)
    })
}

/// Checks that the flush comes after the run's limit has ended `o`.
fn limited() -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(2)] {
        let platform = Platform::host().clock(&Clock::simulated()).build()?;
        let mut graph = Limited::new(&platform)?;
        let report = graph.workers(workers)?.run_for(20)?;
        check_equal(&graph.list().got[..], &[1])?;
        check_equal([ticks(&report, "holds"), ticks(&report, "o")], [(3, 1), (20, 0)])?;
    }
    Ok(())
}
