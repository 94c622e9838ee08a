// Holoscan's `receive_cuda_stream("in", true, cuda_stream)` passes a stream in place of a flag.
use streamflow::prelude::*;

#[operator(streams(work))]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let work = cx.allocate_cuda_stream(io.work)?;
        io.image.receive().sync_to_default(&work).receive_cuda_stream(cx)?;
        Ok(())
    }
}

fn main() {}
