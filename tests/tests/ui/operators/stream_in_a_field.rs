// A tick's stream in a field, with its lifetime and without, and a stream that is taken out of it.
use streamflow::prelude::*;

#[operator]
pub struct Keep {
    #[input]
    image: &Tensor<f32>,
    stream: Option<Stream<'static>>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.stream = Some(stream);
        Ok(())
    }
}

#[operator]
pub struct Hold {
    #[input]
    image: &Tensor<f32>,
    streams: Vec<Stream>,
}

impl Compute for Hold {
    fn compute(&mut self, io: HoldIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (_, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.streams.push(stream);
        Ok(())
    }
}

fn main() {}
