//! Device data that an operator emits before it has received a stream.

use streamflow::prelude::*;
use streamflow_tests::{Failed, check_error, check_text};

#[operator(streams(fill))]
struct Source {
    #[output]
    x: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut x = cx.tensor([4], &stream)?;
        stream.fill_bytes(&mut x, 0)?;
        io.x.set_cuda_stream(&stream).emit(x)
    }
}

/// An operator that emits device data without having received a stream.
#[operator]
struct Blind {
    #[input]
    x: &Tensor<f32>,
    #[output]
    y: Tensor<f32>,
}

impl Compute for Blind {
    fn compute(&mut self, io: BlindIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.x.discard();
        let stream = cx.default_stream()?;
        let mut y = cx.tensor([4], &stream)?;
        stream.fill_bytes(&mut y, 0)?;
        io.y.emit(y)
    }
}

#[operator]
struct Sink {
    #[input]
    y: &Tensor<f32>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.y.discard();
        Ok(())
    }
}

graph! {
    struct Emits() {
        const POOL: CudaStreamPool = CudaStreamPool::new();
        #[streams(POOL)]
        #[when(count(1))]
        let source: Source = Source::new();
        #[streams(POOL)]
        let blind: Blind = Blind::new();
        #[streams(none)]
        let sink: Sink = Sink::new();
        source.x >> blind.x;
        blind.y >> sink.y;
    }
}

pub(crate) fn emits(platform: &Platform) -> Result<(), Failed> {
    let run = Emits::new(platform).and_then(|mut graph| graph.run());
    let text = check_error("device data without a stream", run, |_| true)?;
    check_text(&text, &["`blind.y` emits device data", "has received no stream"])
}
