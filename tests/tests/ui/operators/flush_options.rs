// The option `flush` with arguments, twice, and in another spelling; an operator with a mistake in its type parameter.
use streamflow::prelude::*;

#[operator(flush(all))]
struct WithArguments {
    #[input]
    n: u64,
    #[output]
    sum: u64,
}

impl Flush for WithArguments {
    fn flush(&mut self, io: WithArgumentsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.sum.emit(1)?;
        Ok(Flushed::Done)
    }
}

#[operator(flush, flush)]
struct Twice {
    #[input]
    n: u64,
    #[output]
    sum: u64,
}

impl Flush for Twice {
    fn flush(&mut self, io: TwiceFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.sum.emit(1)?;
        Ok(Flushed::Done)
    }
}

#[operator(flushes)]
struct Misspelled {
    #[input]
    n: u64,
    #[output]
    sum: u64,
}

impl Flush for Misspelled {
    fn flush(&mut self, io: MisspelledFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.sum.emit(1)?;
        Ok(Flushed::Done)
    }
}

#[operator(flush)]
struct Unbounded<T> {
    #[input]
    n: T,
    #[output]
    sum: u64,
}

impl<T> Flush for Unbounded<T> {
    fn flush(&mut self, io: UnboundedFlushIo<'_, T>, _: &ExecutionContext) -> Result<Flushed> {
        io.sum.emit(1)?;
        Ok(Flushed::Done)
    }
}

fn main() {}
