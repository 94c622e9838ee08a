// The stream of a message that was received with its stream.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive_with_stream(cx)?;
        let (_, stream) = io.image.receive_cuda_stream(cx)?;
        cx.download(image, &stream)?.wait_blocking()?;
        Ok(())
    }
}

fn main() {}
