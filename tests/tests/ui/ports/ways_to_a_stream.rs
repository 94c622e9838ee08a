// The source of the internal stream is given once, after `receive`, and only where it can be missing.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
    #[input]
    other: &Tensor<f32>,
    #[input]
    third: &Tensor<f32>,
    #[input]
    fourth: &Tensor<f32>,
    #[input]
    fifth: &u64,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.image.or_adopt().receive_cuda_stream(cx)?;
        io.other.receive().or_adopt().adopt().receive_cuda_stream(cx)?;
        io.third.receive().or_default().receive_cuda_stream(cx)?;
        io.fourth.receive().sync_to_default().sync_to_default().receive_cuda_stream(cx)?;
        io.fifth.receive().adopt().receive_cuda_stream(cx)?;
        Ok(())
    }
}

fn main() {}
