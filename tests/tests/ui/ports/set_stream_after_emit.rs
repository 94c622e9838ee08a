use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
    #[output]
    sums: Tensor<f32>,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        io.sums.emit(cx.tensor([image.rows()], &stream)?)?;
        io.sums.set_cuda_stream(&stream);
        Ok(())
    }
}

fn main() {}
