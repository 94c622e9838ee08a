#![deny(unused_must_use)]
use streamflow::prelude::*;

#[operator]
pub struct Numbers {
    #[output]
    number: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick());
        Ok(())
    }
}

fn main() {}
