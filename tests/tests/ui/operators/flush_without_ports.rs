// `flush` of an operator without inputs, and of one without outputs.
use streamflow::prelude::*;

#[operator(flush)]
pub struct Source {
    #[output]
    n: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

impl Flush for Source {
    fn flush(&mut self, io: SourceFlushIo<'_>, cx: &ExecutionContext) -> Result<Flushed> {
        io.n.emit(cx.tick())?;
        Ok(Flushed::Done)
    }
}

#[operator(flush)]
pub struct Writer {
    #[input]
    n: u64,
}

impl Compute for Writer {
    fn compute(&mut self, io: WriterIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.n.discard();
        Ok(())
    }
}

impl Flush for Writer {
    fn flush(&mut self, io: WriterFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.n.discard();
        Ok(Flushed::Done)
    }
}

fn main() {}
