// Two ports of one name.
use streamflow::prelude::*;

#[operator]
pub struct Blur {
    #[input]
    image: &Tensor<f32>,
    #[output]
    image: Tensor<f32>,
}

impl Compute for Blur {
    fn compute(&mut self, io: BlurIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.image.discard();
        Ok(())
    }
}

fn main() {}
