//! Questions of workers beside a simulated clock, in explored orders.

use std::time::Duration;

use crate::prelude::*;
use crate::schedule::Workers;
use crate::testing::Explorer;
use crate::time::Timestamp;

/// Sends the number of its tick.
#[operator]
struct Count {
    #[output]
    n: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

/// Sleeps in its tick, while other workers run.
#[operator]
struct Naps {
    #[output]
    n: u64,
}

impl Compute for Naps {
    fn compute(&mut self, io: NapsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.sleep(Duration::from_secs(10));
        io.n.emit(cx.tick())
    }
}

/// Counts what comes. `flush` keeps the moment.
#[operator(flush)]
struct Last {
    #[input]
    n: u64,
    got: u64,
    #[state]
    flushed: Option<Timestamp>,
}

impl Compute for Last {
    fn compute(&mut self, io: LastIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.n.discard();
        self.got += 1;
        Ok(())
    }
}

impl Flush for Last {
    fn flush(&mut self, io: LastFlushIo<'_>, cx: &ExecutionContext) -> Result<Flushed> {
        io.n.discard();
        self.flushed = Some(cx.now());
        Ok(Flushed::Done)
    }
}

graph! {
    struct BesideAPeriod {
        #[when(periodic(Duration::from_secs(10)))] #[when(count(2))] let slow: Count = Count::new();
        #[when(count(2))] let count: Count = Count::new();
        let last: Last = Last::new(0);
        slow.n >> _;
        count.n >> last.n;
    }
}

graph! {
    struct BesideANap {
        #[when(count(1))] let naps: Naps = Naps::new();
        #[when(count(2))] let count: Count = Count::new();
        let last: Last = Last::new(0);
        naps.n >> _;
        count.n >> last.n;
    }
}

/// Seeds that find each of the faults which these tests are for.
const SEEDS: u64 = 128;

macro_rules! at_once {
    ($graph:ident, $workers:expr) => {
        let found = Explorer::new().seeds(SEEDS).run(|platform| {
            let mut graph = $graph::new(platform)?;
            graph.workers(Workers::new($workers))?.run()?;
            let Last { got, flushed, .. } = graph.last();
            match (got, flushed) {
                (2, Some(Timestamp(0))) => Ok(()),
                other => Err(Failure::msg(format!("{other:?}"))),
            }
        });
        found.and_then(|found| found.check()).unwrap();
    };
}

/// A worker that has asked has no answer yet, and another one polls.
#[test]
fn no_time_passes_between_a_question_and_its_answer() {
    at_once!(BesideAPeriod, 2);
    at_once!(BesideAPeriod, 3);
}

/// A worker has given a node back, and is about to ask. Another one polls, and would end the nap of a third.
#[test]
fn no_nap_ends_before_a_question_that_is_due() {
    at_once!(BesideANap, 2);
    at_once!(BesideANap, 3);
}
