use streamflow::prelude::*;

#[operator]
pub struct Blur {
    #[input]
    #[output]
    both: Tensor<f32>,
    #[input]
    #[input(optional)]
    twice: &Tensor<f32>,
    #[inptu]
    slip: &Tensor<f32>,
    forgotten: &Tensor<f32>,
    #[input(opt)]
    maybe: &Tensor<f32>,
    #[input(optional, queue = 3)]
    queued: &Tensor<f32>,
    #[input = "optional"]
    assigned: &Tensor<f32>,
    #[output(optional)]
    out: Tensor<f32>,
}

// The operator's items still exist.
impl Compute for Blur {
    fn compute(&mut self, io: BlurIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.both.discard();
        io.twice.discard();
        io.slip.discard();
        io.forgotten.discard();
        io.maybe.discard();
        io.queued.discard();
        io.assigned.discard();
        let stream = cx.default_stream()?;
        io.out.set_cuda_stream(&stream).emit(cx.tensor([1], &stream)?)
    }
}

fn main() {}
