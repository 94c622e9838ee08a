//! A graph whose ticks are replayed.

use streamflow::memory::MemoryOptions;
use streamflow::prelude::*;
use streamflow_tests::allocations::count;
use streamflow_tests::kernels::{add_one, fill};
use streamflow_tests::{Failed, check};

const LEN: usize = 64;

#[operator(streams(work))]
struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, 1.0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator]
struct Add {
    #[input]
    image: Tensor<f32>,
}

impl Compute for Add {
    fn compute(&mut self, io: AddIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        Ok(stream.launch::<add_one>(LEN, (&mut image,))?)
    }
}

graph! {
    #[replay]
    struct Replayed() {
        let source: Source = Source::new();
        let add: Add = Add::new();
        source.image >> add.image;
    }
}

pub(crate) fn replayed(platform: &Platform) -> Result<(), Failed> {
    // Few rotations of buffers, so that all graphs are warm.
    let memory = MemoryOptions::new().in_flight(2).small_in_flight(2);
    let platform = Platform::builder().memory(memory).driver(platform.driver().clone())?;
    let mut graph = Replayed::new(&platform)?;
    let mut run = |ticks: usize| (0..ticks).try_for_each(|_| graph.tick().map(drop));
    // Until the queues of the simulator are as long as they get.
    run(10 * super::WARM_UP)?;
    let (allocations, done) = count(|| run(super::TICKS));
    done?;
    let report = graph.end_run()?;
    check(allocations == 0, || format!("{allocations} allocations: {report}"))?;
    let replayed = report.replay.as_ref().map_or(0, |replay| replay.replayed);
    check(replayed > super::TICKS as u64, || report.to_string())
}
