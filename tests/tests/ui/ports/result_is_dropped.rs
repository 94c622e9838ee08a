// The result of `emit` is not checked.
#![deny(unused_must_use)]
use streamflow::prelude::*;

#[operator]
pub struct Counter {
    #[output]
    number: u64,
}

impl Compute for Counter {
    fn compute(&mut self, io: CounterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick());
        Ok(())
    }
}

fn main() {}
