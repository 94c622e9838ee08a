// An `OnStream` is made and used on a stream of the operator: not on a stream that the operator owns
// itself, and not without a stream.
use streamflow::context::OnStream;
use streamflow::prelude::*;

#[operator(streams(work))]
pub struct Transform {
    #[output]
    image: Tensor<f32>,
    plan: Option<OnStream<u64>>,
    own: CudaStream,
}

impl Compute for Transform {
    fn start(&mut self, _: TransformStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        self.plan = Some(cx.on_stream(&self.own, |_| Ok(7))?);
        Ok(())
    }

    fn compute(&mut self, io: TransformIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        if let Some(plan) = &mut self.plan {
            plan.with(&self.own, |plan| *plan += 1)?;
            plan.value += 1;
        }
        io.image.set_cuda_stream(&stream).emit(cx.tensor([8], &stream)?)
    }
}

fn main() {}
