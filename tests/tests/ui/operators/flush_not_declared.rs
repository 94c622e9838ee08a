// `impl Flush` for an operator that is not declared so: nothing would call it.
use streamflow::prelude::*;

#[operator]
pub struct Hold {
    #[input]
    n: u64,
    #[output]
    sum: u64,
    held: u64,
}

impl Compute for Hold {
    fn compute(&mut self, io: HoldIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.held += io.n.receive().into_data();
        io.sum.emit(self.held)
    }
}

impl Flush for Hold {
    fn flush(&mut self, io: HoldFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.sum.emit(self.held)?;
        Ok(Flushed::Done)
    }
}

fn main() {}
