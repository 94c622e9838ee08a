// A stream that `#[operator(streams(…))]` does not name.
use streamflow::prelude::*;

#[operator]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        io.image.set_cuda_stream(&stream).emit(cx.tensor([8], &stream)?)
    }
}

fn main() {}
