//! An operator that leaves its messages in the queue.

use streamflow::prelude::*;

/// An operator that never receives.
#[operator]
pub(crate) struct Leaves {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Leaves {
    fn compute(&mut self, io: LeavesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.image.leave();
        Ok(())
    }
}
