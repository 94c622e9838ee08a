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
        let halves = image.split_at_mut(4);
        io.image.set_cuda_stream(&stream).emit(image)?;
        match halves {
            Some((mut left, _)) => Ok(stream.fill_bytes(&mut left, 0)?),
            None => Ok(()),
        }
    }
}

fn main() {}
