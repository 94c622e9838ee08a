// A download that is not read.
#![deny(unused_must_use)]
use streamflow::prelude::*;

#[operator]
pub struct Sink {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        cx.download(image, &stream)?;
        Ok(())
    }
}

fn main() {}
