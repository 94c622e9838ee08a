//! Graphs and operators that a test gives one number.

use std::time::Duration;

use streamflow::kernel::reductions::Sum;
use streamflow::operators::{Reduce, Window};
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::testing::OperatorHarness;
use streamflow::time::Clock;
use streamflow_tests::check;

use super::small;

/// An operator with an input of one edge.
#[operator]
pub(crate) struct One {
    #[input]
    x: u64,
}

impl Compute for One {
    fn compute(&mut self, io: OneIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.x.discard();
        Ok(())
    }
}

/// An operator with an input of any number of edges.
#[operator]
pub(crate) struct Many {
    #[input(many)]
    x: u64,
}

impl Compute for Many {
    fn compute(&mut self, io: ManyIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.x.discard();
        Ok(())
    }
}

/// An operator with an input of three edges.
#[operator]
pub(crate) struct Three {
    #[input(size = 3)]
    x: u64,
}

impl Compute for Three {
    fn compute(&mut self, io: ThreeIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.x.discard();
        Ok(())
    }
}

/// A source that sends a number in each tick, after some time.
#[operator]
struct Source {
    #[output]
    out: u64,
    sleeps: Duration,
    sequence: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.sleep(self.sleeps);
        io.out.sequence(self.sequence).emit(1)
    }
}

fn source() -> Source {
    Source::new(Duration::ZERO, 0)
}

/// An operator that receives up to `at_most` messages in a tick.
#[operator]
struct Batches {
    #[input]
    x: &u64,
    at_most: usize,
}

impl Compute for Batches {
    fn compute(&mut self, io: BatchesIo<'_>, _: &ExecutionContext) -> Result<()> {
        let batch = io.x.receive_batch(self.at_most);
        check(batch.into_data().len() <= self.at_most.max(1), || "a batch is too large".into())
    }
}

/// An operator that fails in its first ticks.
#[operator]
struct Fails {
    #[input]
    x: u64,
}

impl Compute for Fails {
    fn compute(&mut self, io: FailsIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.x.discard();
        Err(Failure::msg("it always fails"))
    }
}

graph! {
    struct Plain(count: u64, sleeps: Duration, sequence: u64, capacity: usize) {
        #[when(count(count))] let a: Source = Source::new(sleeps, sequence);
        let b: One = One::new();
        #[capacity(capacity)] a.out >> b.x;
    }
}

graph! {
    struct Every(interval: Duration, most: u64) {
        #[when(periodic(interval, catch_up(most)))] let a: Source = source();
        let b: One = One::new();
        a.out >> b.x;
    }
}

graph! {
    struct Old(timeout: Duration) {
        #[when(count(1))] let a: Source = source();
        #[when(expiring(x, timeout))] let b: One = One::new();
        a.out >> b.x;
    }
}

graph! {
    struct Several(messages: usize) {
        #[when(count(4))] let a: Source = source();
        #[when(message_available(x, messages))] let b: One = One::new();
        #[capacity(4)] a.out >> b.x;
    }
}

graph! {
    struct Batched(at_most: usize) {
        #[when(count(4))] let a: Source = source();
        let b: Batches = Batches::new(at_most);
        #[capacity(4)] a.out >> b.x;
    }
}

graph! {
    struct Restarted(most: u32, back_off: Duration) {
        #[when(count(3))] let a: Source = source();
        #[on_failure(restart(most, back_off))] let b: Fails = Fails::new();
        a.out >> b.x;
    }
}

/// Returns a platform with a simulated clock, on which long times pass at once.
fn timed() -> Result<Platform, Error> {
    Platform::builder().clock(&Clock::simulated()).driver(small()?.driver().clone())
}

fn plain(platform: &Platform) -> Result<Plain> {
    Ok(Plain::new(platform, 3, Duration::ZERO, 0, 1)?)
}

pub(crate) fn with_workers(workers: Workers) -> Result<()> {
    plain(&small()?)?.workers(workers)?;
    Ok(())
}

pub(crate) fn workers(n: u64) -> Result<()> {
    with_workers(Workers::new(n as usize))
}

pub(crate) fn ticks(n: u64) -> Result<()> {
    plain(&small()?)?.run_for(n)?;
    Ok(())
}

pub(crate) fn time(n: u64) -> Result<()> {
    plain(&timed()?)?.run_for(Duration::from_nanos(n))?;
    let longest = if n == u64::MAX { Duration::MAX } else { Duration::from_nanos(n) };
    plain(&small()?)?.run_for(longest)?;
    Ok(())
}

pub(crate) fn join(n: u64) -> Result<()> {
    let longest = if n == u64::MAX { Duration::MAX } else { Duration::from_nanos(n) };
    let mut running = plain(&small()?)?.spawn()?;
    match running.join_timeout(longest) {
        Ok(_) => Ok(()),
        Err(Error::StillRunning { .. }) => Ok(drop(running.join()?)),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn count(n: u64) -> Result<()> {
    Plain::new(&timed()?, n, Duration::from_secs(1), 0, 1)?.run_for(Duration::from_secs(3))?;
    Ok(())
}

pub(crate) fn sleep(n: u64) -> Result<()> {
    let sleeps = if n == u64::MAX { Duration::MAX } else { Duration::from_nanos(n) };
    Plain::new(&timed()?, 2, sleeps, 0, 1)?.run()?;
    Ok(())
}

pub(crate) fn sequence(n: u64) -> Result<()> {
    Plain::new(&small()?, 2, Duration::ZERO, n, 1)?.run()?;
    Ok(())
}

pub(crate) fn capacity(n: u64) -> Result<()> {
    Plain::new(&small()?, 2, Duration::ZERO, 0, n as usize)?.run()?;
    Ok(())
}

pub(crate) fn periodic(n: u64) -> Result<()> {
    let interval = if n == u64::MAX { Duration::MAX } else { Duration::from_nanos(n) };
    Every::new(&timed()?, interval, 0)?.run_for(3)?;
    Ok(())
}

pub(crate) fn catch_up(n: u64) -> Result<()> {
    Every::new(&timed()?, Duration::from_millis(1), n)?.run_for(3)?;
    Ok(())
}

pub(crate) fn expiring(n: u64) -> Result<()> {
    let timeout = if n == u64::MAX { Duration::MAX } else { Duration::from_nanos(n) };
    Old::new(&timed()?, timeout)?.run()?;
    Ok(())
}

pub(crate) fn messages(n: u64) -> Result<()> {
    // The run may stall because too few messages are left at the end, which is not tested here.
    match Several::new(&small()?, n as usize)?.run() {
        Ok(_) | Err(Error::Stalled { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn batch(n: u64) -> Result<()> {
    Batched::new(&small()?, n as usize)?.run()?;
    Ok(())
}

/// Runs a graph with restarts. The run ends with the failure, or after the limit of time.
fn restarted(most: u32, back_off: Duration) -> Result<()> {
    let done = Restarted::new(&timed()?, most, back_off)?.run_for(Duration::from_millis(1));
    match done {
        Ok(_) | Err(Error::Operator { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn restarts(n: u64) -> Result<()> {
    restarted(n as u32, Duration::from_micros(10))
}

pub(crate) fn back_off(n: u64) -> Result<()> {
    restarted(3, if n == u64::MAX { Duration::MAX } else { Duration::from_nanos(n) })
}

/// Makes a window for signals of 16 samples.
pub(crate) fn window(n: u64) -> Result<()> {
    let platform = small()?;
    let mut harness = OperatorHarness::new(&platform, Window::<f32>::hann(n as usize))?;
    let signals = platform.upload(&[1.0; 64])?.reshape([4, 16])?;
    harness.push(|ports| &mut ports.signal, signals)?;
    check(harness.tick()?, || "the window does not tick".into())
}

/// Sums 4 × 16 elements along an axis.
pub(crate) fn reduce(n: u64) -> Result<()> {
    let platform = small()?;
    let mut harness = OperatorHarness::new(&platform, Reduce::<Sum<f32>>::along(n as usize))?;
    let rows = platform.upload(&[1.0; 64])?.reshape([4, 16])?;
    harness.push(|ports| &mut ports.data, rows)?;
    check(harness.tick()?, || "the sum does not tick".into())
}
