//! Operators that count the messages that they send and receive.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use streamflow::prelude::*;

/// Counters of the messages that operators have sent at each output and received at each input.
#[derive(Clone, Default)]
pub(crate) struct Tally(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Tally {
    pub(crate) fn add(&self, port: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(port).or_default() += 1;
    }

    pub(crate) fn of(&self, port: &str) -> u64 {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(port).copied().unwrap_or_default()
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// How the source behaves in tick `LAST`, in which most variants end the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Finish,
    StopGraph,
    Fail,
    Panic,
    /// The run goes on, and each tick takes a millisecond.
    TakesTime,
    /// The run goes on.
    Goes,
}

/// The tick in which the source ends the run.
pub(crate) const LAST: u64 = 17;

#[operator]
pub(crate) struct Source {
    #[output]
    n: u64,
    tally: Tally,
    how: How,
}

impl Compute for Source {
    #[allow(clippy::panic, reason = "a run that ends by a panic")]
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // If the tick fails after this, the message is not sent.
        io.n.emit(cx.tick())?;
        if self.how == How::TakesTime {
            cx.sleep(Duration::from_millis(1));
        }
        if cx.tick() == LAST {
            match self.how {
                How::Finish => cx.finish(),
                How::StopGraph => cx.stop_graph(),
                How::Fail => return Err(Failure::msg("as asked")),
                How::Panic => std::panic::panic_any("as asked"),
                How::TakesTime | How::Goes => {}
            }
        }
        self.tally.add("source.n");
        Ok(())
    }
}

/// An operator that sends on every second message.
#[operator]
pub(crate) struct Thin {
    #[input]
    n: &u64,
    #[output]
    out: u64,
    tally: Tally,
}

impl Compute for Thin {
    fn compute(&mut self, io: ThinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let n = io.n.receive().into_data();
        self.tally.add("thin.n");
        if cx.tick().is_multiple_of(2) {
            return Ok(());
        }
        self.tally.add("thin.out");
        io.out.emit(*n)
    }
}

/// An operator that receives each message, or first leaves it in the queue for one tick.
#[operator]
pub(crate) struct Slow {
    #[input]
    n: &u64,
    leaves: bool,
    port: &'static str,
    tally: Tally,
}

impl Compute for Slow {
    fn compute(&mut self, io: SlowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if self.leaves && cx.tick().is_multiple_of(2) {
            io.n.leave();
        } else {
            io.n.discard();
            self.tally.add(self.port);
        }
        Ok(())
    }
}

#[operator]
pub(crate) struct Pairs {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
    tally: Tally,
}

impl Compute for Pairs {
    fn compute(&mut self, io: PairsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let (a, b) = (io.a.receive().into_data(), io.b.receive().into_data());
        self.tally.add("pairs.a");
        self.tally.add("pairs.b");
        if a == b { Ok(()) } else { Err(Failure::msg("messages without a partner")) }
    }
}

/// An operator that adds each message to the number that it sent before.
#[operator]
pub(crate) struct Sum {
    #[input]
    n: &u64,
    #[input]
    before: &u64,
    #[output]
    sum: u64,
    tally: Tally,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        let sum = io.n.receive().into_data() + io.before.receive().into_data();
        ["sum.n", "sum.before", "sum.sum"].into_iter().for_each(|port| self.tally.add(port));
        io.sum.emit(sum)
    }
}

/// An operator that receives batches of one edge of two, and holds all messages back until `flush`.
#[operator(flush)]
pub(crate) struct Merge {
    #[input(many)]
    all: &u64,
    #[output]
    n: u64,
    held: u64,
    tally: Tally,
}

impl Compute for Merge {
    fn compute(&mut self, io: MergeIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.all.receive().into_data().for_each(|_| self.tally.add("merge.all"));
        self.held += 1;
        Ok(())
    }
}

impl Flush for Merge {
    fn flush(&mut self, io: MergeFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.all.receive().into_data().for_each(|_: &u64| self.tally.add("merge.all"));
        if self.held == 0 {
            return Ok(Flushed::Done);
        }
        self.held -= 1;
        self.tally.add("merge.n");
        io.n.emit(self.held)?;
        Ok(Flushed::More)
    }
}
