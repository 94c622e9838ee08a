// A message that is received with its stream, in a statement.
#![deny(unused_must_use)]
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.image.receive_with_stream(cx);
        Ok(())
    }
}

fn main() {}
