// A rule for the stream before the message is received with its stream.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.adopt().receive_with_stream(cx)?;
        cx.download(image, &stream)?.wait_blocking()?;
        Ok(())
    }
}

fn main() {}
