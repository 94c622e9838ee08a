use streamflow::prelude::*;

#[operator]
pub struct Sink {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_cuda_stream(cx)?;
        cx.download(image, &stream)?.wait_blocking()?;
        Ok(())
    }
}

fn main() {}
