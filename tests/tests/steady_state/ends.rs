//! Graphs in which some nodes have ended, and others will be flushed.

use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_tests::graph_runs::OnTick;
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, check_equal};

use super::{TICKS, few_allocations_within, late};

/// A source that sends the number of every second tick, so that the node behind it finds no message in between.
#[operator]
struct Alternates {
    #[output]
    number: u64,
    on_tick: OnTick,
}

impl Compute for Alternates {
    fn compute(&mut self, io: AlternatesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        (self.on_tick)(cx.tick())?;
        if cx.tick().is_multiple_of(2) { io.number.emit(cx.tick()) } else { Ok(()) }
    }
}

/// An operator that counts its messages. Its `flush` sends the count.
#[operator(flush)]
struct Merges {
    #[input(optional)]
    a: &u64,
    #[input(optional)]
    b: &u64,
    #[output]
    count: u64,
    #[state]
    taken: u64,
}

impl Compute for Merges {
    fn compute(&mut self, io: MergesIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.taken += u64::from(io.a.receive().into_data().is_some());
        self.taken += u64::from(io.b.receive().into_data().is_some());
        Ok(())
    }
}

impl Flush for Merges {
    fn flush(&mut self, io: MergesFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.a.discard();
        io.b.discard();
        io.count.emit(self.taken)?;
        Ok(Flushed::Done)
    }
}

#[operator]
struct Keeps {
    #[input]
    count: u64,
    kept: Vec<u64>,
}

impl Compute for Keeps {
    fn compute(&mut self, io: KeepsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.kept.push(io.count.receive().into_data());
        Ok(())
    }
}

graph! {
    /// A graph in which `merges` waits again and again for `long` only, after `short` has ended.
    struct Ended(ticks: u64, on_tick: OnTick) {
        #[when(count(5))] let short: Counter = Counter::new();
        #[when(count(ticks))] let long: Alternates = Alternates::new(on_tick);
        let merges: Merges = Merges::new();
        let keeps: Keeps = Keeps::new(Vec::new());
        short.number >> merges.a;
        #[policy(pop)] long.number >> merges.b;
        merges.count >> keeps.count;
    }
}

/// Checks that no wait of `merges` looks at the statuses of all nodes, which would make more than one allocation.
pub(super) fn ends(platform: &Platform) -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(2)] {
        let most = if workers == Workers::none() { late() } else { late().max(100) };
        few_allocations_within(&format!("{workers:?}"), TICKS, most, |ticks, on_tick| {
            let mut graph = Ended::new(platform, ticks, on_tick)?;
            graph.workers(workers.clone())?.run()?;
            check_equal(graph.keeps().kept.len(), 1)
        })?;
    }
    Ok(())
}
