// A received message that is received with its stream.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = io.image.receive();
        let (image, stream) = image.receive_with_stream(cx)?;
        cx.download(image, &stream)?.wait_blocking()?;
        Ok(())
    }
}

fn main() {}
