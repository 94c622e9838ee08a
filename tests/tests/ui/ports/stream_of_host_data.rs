use streamflow::prelude::*;

#[operator]
pub struct Count {
    #[input]
    count: &u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.count.receive().receive_cuda_stream(cx)?;
        Ok(stream.synchronize_blocking()?)
    }
}

fn main() {}
