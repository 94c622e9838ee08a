// The streams of a message that was received with its stream.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        cx.download(image, &stream)?.wait_blocking()?;
        let streams: Vec<_> = io.image.streams().collect();
        println!("{streams:?}");
        Ok(())
    }
}

fn main() {}
