// Host data that is received with a stream.
use streamflow::prelude::*;

#[operator]
pub struct Sums {
    #[input]
    image: &u64,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive_with_stream(cx)?;
        Ok(stream.synchronize_blocking()?)
    }
}

fn main() {}
