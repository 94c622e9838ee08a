use streamflow::prelude::*;

#[operator(streams(fill))]
pub struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        on_another_thread(|| {
            let _ = stream.synchronize_blocking();
        });
        io.image.set_cuda_stream(&stream).emit(cx.tensor([8], &stream)?)
    }
}

fn on_another_thread(call: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(call);
    });
}

fn main() {}
