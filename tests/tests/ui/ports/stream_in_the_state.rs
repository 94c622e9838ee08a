use streamflow::prelude::*;

#[operator(streams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
    kept: Option<Stream<'static>>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        io.image.set_cuda_stream(&stream).emit(cx.tensor([8], &stream)?)
    }
}

fn main() {}
