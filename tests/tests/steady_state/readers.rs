//! Memory with more readers than an inline list has room for.

use streamflow::prelude::*;
use streamflow_tests::Failed;
use streamflow_tests::graph_runs::OnTick;
use streamflow_tests::kernels::{fill, slow_copy};

const LEN: usize = 8;

#[operator(streams(make))]
struct Makes {
    #[output]
    image: Tensor<f32>,
    on_tick: OnTick,
}

impl Compute for Makes {
    fn compute(&mut self, io: MakesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.make)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, 1.0))?;
        (self.on_tick)(cx.tick())?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator]
struct Reads {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Reads {
    fn compute(&mut self, io: ReadsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut copy, image, 0))?;
        Ok(())
    }
}

graph! {
    struct Readers(ticks: u64, on_tick: OnTick) {
        #[when(count(ticks))]
        let source: Makes = Makes::new(on_tick);
        let a: Reads = Reads::new();
        let b: Reads = Reads::new();
        let c: Reads = Reads::new();
        let d: Reads = Reads::new();
        let e: Reads = Reads::new();
        let f: Reads = Reads::new();
        let g: Reads = Reads::new();
        let h: Reads = Reads::new();
        let i: Reads = Reads::new();

        source.image >> a.image;
        source.image >> b.image;
        source.image >> c.image;
        source.image >> d.image;
        source.image >> e.image;
        source.image >> f.image;
        source.image >> g.image;
        source.image >> h.image;
        source.image >> i.image;
    }
}

/// Runs a graph in which each tensor is reused after nine streams have read it. The driver is queried about all
/// nine.
pub(crate) fn run(platform: &Platform, ticks: u64, on_tick: OnTick) -> Result<(), Failed> {
    Ok(Readers::new(platform, ticks, on_tick)?.run().map(drop)?)
}
