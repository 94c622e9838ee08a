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
        let image = io.image.receive();
        let stream = cx.default_stream()?;
        let mut sums = cx.tensor::<f32>([4], &stream)?;
        stream.copy(&image, &mut sums)?;
        io.sums.set_cuda_stream(&stream).emit(sums)
    }
}

fn main() {}
