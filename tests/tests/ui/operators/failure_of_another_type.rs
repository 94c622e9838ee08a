//! A hook ends in a call that returns streamflow's own error.

use streamflow::prelude::*;

#[operator]
struct Waits {
    #[input]
    image: Tensor<f32>,
}

impl Compute for Waits {
    fn compute(&mut self, io: WaitsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        stream.synchronize_blocking()
    }
}

fn main() {}
