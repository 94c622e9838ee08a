// A value that lives beyond the tick is made with a stream, and must not keep it.
use streamflow::prelude::*;

#[operator(streams(work))]
pub struct Transform {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Transform {
    fn start(&mut self, streams: TransformStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(streams.work)?;
        cx.on_stream(&stream, |stream| Ok(stream))?;
        Ok(())
    }

    fn compute(&mut self, io: TransformIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        io.image.set_cuda_stream(&stream).emit(cx.tensor([8], &stream)?)
    }
}

fn main() {}
