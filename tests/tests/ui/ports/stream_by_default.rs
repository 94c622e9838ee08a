use streamflow::prelude::*;

#[operator(streams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream: Stream<'_> = Default::default();
        io.image.set_cuda_stream(&stream).emit(cx.tensor([8], &stream)?)
    }
}

fn main() {}
