// `flush` of an operator without inputs.
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

fn main() {}
