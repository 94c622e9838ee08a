// One `compute` with three mistakes of order: a stream before its message, device data without its stream, and
// a second stream for one message.
use streamflow::prelude::*;

#[operator(streams(extra))]
pub struct Add {
    #[input]
    one: &Tensor<f32>,
    #[input]
    two: &Tensor<f32>,
    #[output]
    sum: Tensor<f32>,
}

impl Compute for Add {
    fn compute(&mut self, io: AddIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (one, stream) = io.one.receive_cuda_stream(cx)?;
        let two = io.two.receive().into_data();
        let extra = cx.allocate_cuda_stream(io.extra)?;
        let sum = cx.tensor(one.shape(), &stream)?;
        let _ = two;
        io.sum.set_cuda_stream(&stream).set_cuda_stream(&extra).emit(sum)
    }
}

fn main() {}
