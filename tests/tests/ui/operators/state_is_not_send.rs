use std::rc::Rc;

use streamflow::prelude::*;

#[operator]
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
