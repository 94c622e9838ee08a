//! The operators that several tests of `flush` use.

use streamflow::prelude::*;

/// A source that sends the number of its tick.
#[operator]
pub(crate) struct Count {
    #[output]
    n: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

/// A source that sends the number of its tick, and ends itself in tick `last`.
#[operator]
pub(crate) struct Finishes {
    #[output]
    n: u64,
    last: u64,
}

impl Compute for Finishes {
    fn compute(&mut self, io: FinishesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == self.last {
            cx.finish();
        }
        io.n.emit(cx.tick())
    }
}

/// An operator that sends on what it receives. Its `flush` sends `more` messages, one in each tick.
#[operator(flush)]
pub(crate) struct Tail {
    #[input]
    n: u64,
    #[output]
    out: u64,
    more: u64,
    #[state]
    flushed: u64,
}

impl Compute for Tail {
    fn compute(&mut self, io: TailIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.flushed = 0;
        io.out.emit(io.n.receive().into_data())
    }
}

impl Flush for Tail {
    fn flush(&mut self, io: TailFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.n.discard();
        io.out.emit(self.flushed)?;
        self.flushed += 1;
        Ok(if self.flushed < self.more { Flushed::More } else { Flushed::Done })
    }
}

/// A sink that keeps the numbers it receives.
#[operator]
pub(crate) struct List {
    #[input]
    n: u64,
    pub(crate) got: Vec<u64>,
}

impl Compute for List {
    fn compute(&mut self, io: ListIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(io.n.receive().into_data());
        Ok(())
    }
}

/// An operator that sends sums of four numbers. Its `flush` sends the sum of the numbers that are left in the
/// operator and at its input.
#[operator(flush)]
pub(crate) struct SumOfFour {
    #[input]
    n: u64,
    #[output]
    sum: u64,
    pub(crate) held: Vec<u64>,
}

impl Compute for SumOfFour {
    fn compute(&mut self, io: SumOfFourIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.held.push(io.n.receive().into_data());
        if self.held.len() < 4 { Ok(()) } else { io.sum.emit(self.held.drain(..).sum()) }
    }
}

impl Flush for SumOfFour {
    fn flush(&mut self, io: SumOfFourFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        self.held.extend(io.n.receive().into_data());
        if !self.held.is_empty() {
            io.sum.emit(self.held.drain(..).sum())?;
        }
        Ok(Flushed::Done)
    }
}

/// An operator that holds all numbers, and sends them when its inputs have ended, one in each tick of `flush`.
/// With `pauses`, every second tick of `flush` sends nothing.
#[operator(flush)]
pub(crate) struct Delay {
    #[input]
    n: u64,
    #[output]
    out: u64,
    held: Vec<u64>,
    pauses: bool,
    pub(crate) flushes: u64,
}

impl Compute for Delay {
    fn compute(&mut self, io: DelayIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.held.push(io.n.receive().into_data());
        Ok(())
    }
}

impl Flush for Delay {
    fn flush(&mut self, io: DelayFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        self.flushes += 1;
        if self.pauses && self.flushes.is_multiple_of(2) {
            return Ok(Flushed::More);
        }
        if self.held.is_empty() {
            return Ok(Flushed::Done);
        }
        io.out.emit(self.held.remove(0))?;
        Ok(Flushed::More)
    }
}
