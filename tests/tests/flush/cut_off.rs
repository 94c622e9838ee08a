//! A long flush behind an endless source comes to its end, although no other node keeps the run going.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use streamflow::prelude::*;
use streamflow::time::Clock;
use streamflow_tests::relays::{Join, Pass};
use streamflow_tests::{Failed, Suite, check_equal};

use super::operators::{Count, Finishes, List, Tail};
use super::ticks;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::runs;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_flush_that_waits_for_room_at_a_slow_node_is_not_cut_off::host", behind_slow)
        .plain("a_flush_whose_hook_runs_for_long_is_not_cut_off::host", long_hook)
}

/// The number of messages that `Tail` flushes.
const TAIL: u64 = 20;

graph! {
    struct BehindSlow {
        let count: Count = Count::new();
        #[when(periodic(Duration::from_millis(200)))] let other: Count = Count::new();
        #[when(count(5))] let join: Join = Join::new();
        let tail: Tail = Tail::new(TAIL);
        #[when(periodic(Duration::from_secs(1)))] let slow: Pass = Pass::new();
        #[when(count(2))] let list: List = List::new(Vec::new());
        count.n >> join.a;
        #[policy(pop)] other.n >> join.b;
        #[copy] count.n >> tail.n;
        tail.out >> slow.i;
        #[policy(pop)] slow.o >> list.n;
    }
}
runs!(BehindSlow);

/// Checks that a flush of many messages is not cut off. `count` waits for `join`, which has ended, so `tail` is
/// flushed. `tail` waits for `slow`, `slow` waits for the clock, and no node receives the messages that come
/// then.
fn behind_slow() -> Result<(), Failed> {
    in_each_order(2, BehindSlow::new, |graph, done| {
        let report = done?;
        check_equal(std::mem::take(&mut graph.list_mut().got).len(), 2)?;
        check_equal(ticks(&report, "tail").1, TAIL)
    })
}

/// The number of ticks that the source does while `flush` waits for it.
const TICKS: u64 = 5_000;

/// A source that counts its ticks down once the flush has begun, and tells the hook when the count is 0.
#[operator]
struct Tells {
    #[output]
    n: u64,
    left: Arc<AtomicU64>,
    tells: Sender<()>,
}

impl Compute for Tells {
    fn compute(&mut self, io: TellsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            if left == 1 {
                self.tells.send(())?;
            }
        }
        io.n.emit(cx.tick())
    }
}

/// An operator that sends on what it receives. Its `flush` blocks until another thread's message.
#[operator(flush)]
struct Waits {
    #[input]
    n: u64,
    #[output]
    out: u64,
    left: Arc<AtomicU64>,
    heard: Receiver<()>,
}

impl Compute for Waits {
    fn compute(&mut self, io: WaitsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.out.emit(io.n.receive().into_data())
    }
}

impl Flush for Waits {
    fn flush(&mut self, io: WaitsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.n.discard();
        self.left.store(TICKS, Ordering::Relaxed);
        // The limit is long enough for a machine that runs much else at the same time.
        let heard = self.heard.recv_timeout(Duration::from_secs(60));
        heard.map_err(|_| Failure::msg("the source goes on no more"))?;
        io.out.emit(7)?;
        Ok(Flushed::Done)
    }
}

graph! {
    struct LongHook(left: Arc<AtomicU64>, tells: Sender<()>, heard: Receiver<()>) {
        let endless: Tells = Tells::new(left.clone(), tells);
        #[when(count(1))] let short: List = List::new(Vec::new());
        let source: Finishes = Finishes::new(2);
        let waits: Waits = Waits::new(left, heard);
        #[when(count(2))] let list: List = List::new(Vec::new());
        #[policy(pop)] endless.n >> short.n;
        #[capacity(3)] source.n >> waits.n;
        #[policy(pop)] #[capacity(3)] waits.out >> list.n;
    }
}

/// Checks a `flush` hook that takes long. Another worker runs `endless` meanwhile, and often looks whether the
/// run is over.
fn long_hook() -> Result<(), Failed> {
    for workers in [2, 4] {
        let platform = Platform::host().clock(&Clock::simulated()).build()?;
        let (tells, heard) = channel();
        let mut graph = LongHook::new(&platform, Arc::default(), tells, heard)?;
        let report = graph.workers(workers)?.run()?;
        // `list` has ended after two messages, so the third message of `source` is not received.
        check_equal((graph.list().got.len(), ticks(&report, "waits").1), (2, 1))?;
    }
    Ok(())
}
