// A stream that came with a message and is kept.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
    last: Option<CudaStream>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive_with_stream(cx)?;
        self.last = Some(stream);
        Ok(())
    }
}

fn main() {}
