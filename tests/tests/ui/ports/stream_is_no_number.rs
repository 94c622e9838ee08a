use streamflow::prelude::*;

#[operator(streams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image: Tensor<f32> = cx.tensor([8], 0)?;
        io.image.set_cuda_stream(0).emit(image)
    }
}

fn main() {}
