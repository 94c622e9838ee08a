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
        let first = io.image.receive();
        let second = io.image.receive();
        first.receive_cuda_stream(cx)?;
        second.receive_cuda_stream(cx)?;
        Ok(())
    }
}

fn main() {}
