// Data of streams that are managed by hand needs the guard that `synchronize_streams` returns.
use streamflow::prelude::*;

#[operator(streams(work))]
pub struct Sums {
    #[input]
    image: &Tensor<f32>,
    #[input]
    number: u64,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let work = cx.allocate_cuda_stream(io.work)?;
        let number = io.number.receive();
        let after = cx.synchronize_streams(number.streams(), &work)?;
        number.into_synchronized_data(&after)?;
        let image = io.image.receive();
        cx.synchronize_streams(image.streams(), &work)?;
        image.into_synchronized_data(&work)?;
        Ok(())
    }
}

fn main() {}
