//! Operators that pass numbers on, for tests of how runs go on and end.

use streamflow::prelude::*;

/// Sends each number on.
#[operator]
#[derive(Debug)]
pub struct Pass {
    #[input]
    i: u64,
    #[output]
    o: u64,
}

impl Compute for Pass {
    fn compute(&mut self, io: PassIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.o.emit(io.i.receive().into_data())
    }
}

/// Receives a number of each input.
#[operator]
#[derive(Debug)]
pub struct Join {
    #[input]
    a: &u64,
    #[input]
    b: &u64,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        io.b.discard();
        Ok(())
    }
}
