//! Operators that note when they ran, for tests of conditions.

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::time::Clock;
use streamflow_tests::seen::{Seen, push_seen};

/// Returns a platform with a simulated clock, and that clock.
pub(crate) fn simulated(seed: u64) -> Result<(Platform, Clock)> {
    let clock = Clock::simulated();
    Ok((Platform::host().seed(seed).race_check(true).clock(&clock).build()?, clock))
}

/// Returns the time of a tick, in milliseconds.
pub(crate) fn ms(cx: &ExecutionContext) -> u64 {
    cx.now().0 / 1_000_000
}

/// A source that sends its tick's number, notes when the tick began, and takes some milliseconds for it.
#[operator]
pub(crate) struct Source {
    #[output]
    number: u64,
    pub(crate) began: Seen<u64>,
    /// How many milliseconds each tick takes, by its number; later ticks take 0.
    pub(crate) busy: Vec<u64>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.began, ms(cx));
        io.number.emit(cx.tick())?;
        let busy = self.busy.get(cx.tick() as usize).copied().unwrap_or(0);
        cx.platform().clock().advance(Duration::from_millis(busy));
        Ok(())
    }
}

/// An operator that notes each number, and when it came.
#[operator]
pub(crate) struct Sink {
    #[input]
    number: &u64,
    pub(crate) seen: Seen<(u64, u64)>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.seen, (ms(cx), *io.number.receive().into_data()));
        Ok(())
    }
}

/// An operator that notes each tick, with the numbers that it received.
#[operator]
pub(crate) struct Gather {
    #[input(optional)]
    a: &u64,
    #[input(optional)]
    b: &u64,
    pub(crate) seen: Seen<(u64, Option<u64>, Option<u64>)>,
}

impl Compute for Gather {
    fn compute(&mut self, io: GatherIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive().into_data(), io.b.receive().into_data());
        push_seen(&self.seen, (ms(cx), a.copied(), b.copied()));
        Ok(())
    }
}

/// A source that sends nothing, and stops the graph after a second.
#[operator]
pub(crate) struct Silent {
    #[output]
    number: u64,
}

impl Compute for Silent {
    fn compute(&mut self, _: SilentIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if ms(cx) >= 1000 {
            cx.stop_graph();
        }
        Ok(())
    }
}
