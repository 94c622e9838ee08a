//! An operator that needs a message of each of two inputs.

use streamflow::prelude::*;

/// An operator that receives a message of each input in every tick.
#[operator]
pub(crate) struct Both {
    #[input]
    a: u64,
    #[input]
    b: u64,
}

impl Compute for Both {
    fn compute(&mut self, io: BothIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        io.b.discard();
        Ok(())
    }
}
