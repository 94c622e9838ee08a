// An output that is taken from the Io and not emitted.
#![deny(unused_variables)]
use streamflow::prelude::*;

#[operator]
pub struct Copies {
    #[input]
    number: &u64,
    #[output]
    copied: u64,
}

impl Compute for Copies {
    fn compute(&mut self, CopiesIo { number, copied }: CopiesIo<'_>, _: &ExecutionContext) -> Result<()> {
        number.discard();
        Ok(())
    }
}

fn main() {}
