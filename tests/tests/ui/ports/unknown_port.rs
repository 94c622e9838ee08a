use streamflow::prelude::*;

#[operator]
pub struct Cast {
    #[input]
    image: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Cast {
    fn compute(&mut self, io: CastIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.imgae.receive().receive_cuda_stream(cx)?;
        let out = cx.tensor([image.len()], &stream)?;
        io.output.set_cuda_stream(&stream).emit(out)
    }
}

fn main() {}
