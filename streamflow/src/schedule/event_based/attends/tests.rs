//! Tests of calls of `Team::ask` with a simulated clock, in explored orders of the threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::prelude::*;
use crate::schedule::Workers;
use crate::testing::Explorer;
use crate::time::Timestamp;
use crate::turns::{self, hooks};

/// A source that sends the number of its tick.
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

/// A source that sleeps in its tick, while other workers run.
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

/// A sink that counts the messages received. Its `flush` stores the moment at which it is called.
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

/// The number of seeds. It is large enough to find each fault that these tests look for.
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

/// Simulated time must not pass while one worker is in `Team::ask` and another worker polls.
#[test]
fn no_time_passes_between_a_question_and_its_answer() {
    at_once!(BesideAPeriod, 2);
    at_once!(BesideAPeriod, 3);
}

/// One worker has given a node back and is about to call `Team::ask`. A second worker polls; it must not yet end the sleep of the
/// hook on a third worker.
#[test]
fn no_nap_ends_before_a_question_that_is_due() {
    at_once!(BesideANap, 2);
    at_once!(BesideANap, 3);
}

/// A source that sends the number of its tick, and counts its ticks when they begin.
#[operator]
struct Begins {
    #[output]
    n: u64,
    ticks: Arc<AtomicU64>,
}

impl Compute for Begins {
    fn compute(&mut self, io: BeginsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.ticks.fetch_add(1, Ordering::SeqCst);
        // Gives other threads a turn while this worker is inside the tick.
        turns::yield_turn();
        io.n.emit(cx.tick())
    }
}

#[operator]
struct Takes {
    #[input]
    n: u64,
}

impl Compute for Takes {
    fn compute(&mut self, io: TakesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.n.discard();
        Ok(())
    }
}

graph! {
    struct Attended(ticks: Arc<AtomicU64>) {
        let attendant: Begins = Begins::new(ticks);
        #[when(count(2))] let takes: Takes = Takes::new();
        #[policy(pop)] attendant.n >> takes.n;
    }
}

/// The calling thread has decided that the run is over, while another worker may be in a tick of an attendant.
#[test]
fn no_tick_of_an_attendant_begins_when_the_run_is_known_to_be_over() {
    let known = Arc::new(AtomicU64::new(0));
    let found = Explorer::new().seeds(SEEDS).run(|platform| {
        let ticks = Arc::new(AtomicU64::new(0));
        let (counted, at_end) = (ticks.clone(), Arc::new(AtomicU64::new(u64::MAX)));
        let (kept, all) = (at_end.clone(), known.clone());
        hooks::clear();
        hooks::at("a worker knows that the run is over", move || {
            kept.store(counted.load(Ordering::SeqCst), Ordering::SeqCst);
            all.fetch_add(1, Ordering::SeqCst);
            (0..32).for_each(|_| _ = turns::yield_turn());
        });
        let mut graph = Attended::new(platform, ticks.clone())?;
        graph.workers(Workers::new(2))?.run()?;
        let [ticks, at_end] = [ticks, at_end].map(|count| count.load(Ordering::SeqCst));
        // One tick may have begun at that moment without being counted yet.
        if ticks > at_end.saturating_add(1) {
            return Err(Failure::msg(format!("{} ticks more", ticks - at_end)));
        }
        Ok(())
    });
    hooks::clear();
    let checked = found.and_then(|found| found.check());
    assert_eq!(checked.map_err(|error| error.to_string()), Ok(()));
    assert!(known.load(Ordering::SeqCst) > 0, "the calling thread never knows it");
}
