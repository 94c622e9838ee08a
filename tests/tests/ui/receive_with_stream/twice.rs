// A message that is received with its stream a second time.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (first, stream) = io.image.receive_with_stream(cx)?;
        let (second, _) = io.image.receive_with_stream(cx)?;
        cx.download(first, &stream)?.wait_blocking()?;
        cx.download(second, &stream)?.wait_blocking()?;
        Ok(())
    }
}

fn main() {}
