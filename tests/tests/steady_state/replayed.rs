//! A graph whose ticks are replayed.

use streamflow::library::HostBody;
use streamflow::memory::MemoryOptions;
use streamflow::prelude::*;
use streamflow_tests::allocations::count;
use streamflow_tests::foreign::{Captures, CopyLibrary, filling};
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

/// An operator that makes two launches, a query that divides the pass, and a library's call with another value in
/// each tick.
#[operator(streams(work), no_new)]
struct Differs {
    #[output]
    image: Tensor<f32>,
    library: CopyLibrary,
    body: HostBody,
}

impl Differs {
    fn new(platform: &Platform) -> Result<Self> {
        Ok(Self { library: CopyLibrary::new(platform)?, body: filling() })
    }
}

impl Compute for Differs {
    fn compute(&mut self, io: DiffersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut image, 1.0))?;
        stream.launch::<add_one>(LEN, (&mut image,))?;
        stream.is_complete()?;
        let mut filled = cx.tensor([LEN], &stream)?;
        // Each tick makes another call: there are more combinations of a byte and a length than ticks in the test.
        let (byte, len) = (cx.tick() as u8, 1 + (cx.tick() / 256) as usize % LEN);
        let mut part = filled.slice_mut(..len).ok_or_else(|| Failure::msg("it is longer"))?;
        self.library.fill(&self.body, &stream, &mut part, byte, Captures::All)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

graph! {
    #[replay]
    struct Differing() {
        let differs: Differs = Differs::new(platform)?;
        let add: Add = Add::new();
        differs.image >> add.image;
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
    let platform = few(platform)?;
    let mut graph = Replayed::new(&platform)?;
    no_allocations(|| Ok(graph.tick().map(drop)?))?;
    let report = graph.end_run()?;
    let replayed = report.replay.as_ref().map_or(0, |replay| replay.replayed);
    check(replayed > super::TICKS as u64, || report.to_string())
}

/// Checks a graph with many more differing calls than replay keeps. Replay stays on, since the launches before
/// these calls are replayed.
pub(crate) fn with_other_calls(platform: &Platform) -> Result<(), Failed> {
    let platform = few(platform)?;
    let mut graph = Differing::new(&platform)?;
    no_allocations(|| Ok(graph.tick().map(drop)?))?;
    let report = graph.end_run()?;
    let is_on = report.replay.as_ref().is_some_and(|replay| replay.off.is_none());
    check(is_on, || report.to_string())
}

/// Returns a platform with few rotations of buffers, so that the warm-up covers all lanes.
fn few(platform: &Platform) -> Result<Platform> {
    let memory = MemoryOptions::new().in_flight(2).small_in_flight(2);
    Ok(Platform::builder().memory(memory).driver(platform.driver().clone())?)
}

fn no_allocations(mut tick: impl FnMut() -> Result<()>) -> Result<(), Failed> {
    let mut run = |ticks: usize| (0..ticks).try_for_each(|_| tick());
    // After so many ticks, the queues of the simulator are as long as they get.
    run(10 * super::WARM_UP)?;
    let (allocations, done) = count(|| run(super::TICKS));
    done?;
    check(allocations == 0, || format!("{allocations} allocations"))
}
