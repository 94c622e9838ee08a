// State that is not `Send`, in an operator that stays on the thread of the run: the graph may move before it.
use std::rc::Rc;

use streamflow::prelude::*;

#[operator(stays)]
pub struct Gui {
    #[input]
    image: &Tensor<f32>,
    window: Rc<u32>,
}

impl Compute for Gui {
    fn compute(&mut self, io: GuiIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.image.discard();
        Ok(())
    }
}

fn main() {}
