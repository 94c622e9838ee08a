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
        let (_, first) = image.receive_cuda_stream(cx)?;
        let (_, second) = image.receive_cuda_stream(cx)?;
        Ok(first.wait(second.record()?)?)
    }
}

fn main() {}
