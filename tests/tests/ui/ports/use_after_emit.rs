use streamflow::prelude::*;

#[operator(streams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([8], &stream)?;
        io.image.set_cuda_stream(&stream).emit(image)?;
        Ok(stream.fill_bytes(&mut image, 0)?)
    }
}

fn main() {}
