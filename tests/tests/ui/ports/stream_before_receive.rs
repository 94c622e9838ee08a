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
        let (image, stream) = io.image.receive_cuda_stream(cx)?;
        let sums = cx.tensor([image.rows()], &stream)?;
        io.sums.emit(sums)
    }
}

fn main() {}
