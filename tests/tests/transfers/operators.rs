//! The operators at both ends of a transfer.

use streamflow::prelude::*;
use streamflow_tests::kernels::{add_one, fill, slow_fill};
use streamflow_tests::tensors::{LEN, SLOW};

/// An operator that overwrites its image with `tick + 1`, by a slow kernel.
#[operator(streams(work))]
pub(crate) struct SlowSource {
    #[output]
    image: Tensor<f32>,
}

impl Compute for SlowSource {
    fn compute(&mut self, io: SlowSourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, -1.0))?;
        stream.launch::<slow_fill>(LEN, (&mut image, cx.tick() as f32 + 1.0, SLOW))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that takes its message and adds one in place, on its own device.
#[operator]
pub(crate) struct AddOne {
    #[input]
    image: Tensor<f32>,
    #[output]
    sum: Tensor<f32>,
}

impl Compute for AddOne {
    fn compute(&mut self, io: AddOneIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        stream.launch::<add_one>(image.len(), (&mut image,))?;
        io.sum.emit(image)
    }
}
