// Data that is received with its stream and kept.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
    last: Option<&'static Tensor<f32>>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive_with_stream(cx)?;
        self.last = Some(image);
        Ok(())
    }
}

fn main() {}
