//! Races in graphs: the content of a report, and the result of a run.

use std::sync::Arc;

use streamflow::driver::race::RaceReports;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_driver::driver::race::{RaceAccess, RaceAction, RaceKind, RaceReport};
use streamflow_driver::driver::{AccessMode, Direction};
use streamflow_tests::foreign::launch_unordered;
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};
use streamflow_tests::layers::DropWaits;
use streamflow_tests::ordered::MEMORY;
use streamflow_tests::races::{self, Program};
use streamflow_tests::{Failed, Suite, check, check_races, check_text};

const LEN: usize = 1003;

pub(super) fn add(suite: Suite) -> Suite {
    let suite = suite
        .both("a_run_returns_its_races_as_an_error", a_run_returns_its_races)
        .both("a_run_reports_an_image_that_nobody_wrote", an_unwritten_image)
        .seeded("launches_that_wait_hide_no_race", launches_that_wait)
        .both("a_harness_returns_its_races_as_an_error", a_harness_returns_its_races)
        .both("an_unordered_launch_that_the_caller_orders_does_not_race", an_ordered_launch);
    races::ALL.iter().fold(suite, |suite, &(name, program)| {
        suite.both(&format!("{name}_races_without_waits"), move |platform| {
            without_waits(platform, program)
        })
    })
}

#[operator(streams(fill))]
struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut image, 1.0, 0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that reads its input on a stream that does not come after the input.
#[operator(streams(extra))]
struct Impatient {
    #[input]
    image: &Tensor<f32>,
    line: u32,
}

impl Compute for Impatient {
    fn compute(&mut self, io: ImpatientIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let extra = cx.allocate_cuda_stream(io.extra)?;
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        let mut copy = cx.tensor([LEN], &extra)?;
        self.line = line!() + 1;
        launch_unordered::<slow_copy>(&extra, LEN, (&mut copy, image, 0))
    }
}

graph! {
    struct Hasty(count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);
        #[streams(STREAMS)] #[when(count(count))] let source: Source = Source::new();
        #[streams(STREAMS)] let impatient: Impatient = Impatient::new(0);
        source.image >> impatient.image;
    }
}

/// An operator that sends images, and may leave a row of them unwritten.
#[operator(streams(fill))]
struct Forgetful {
    #[output]
    image: Tensor<f32>,
    rows: usize,
    line: u32,
}

impl Compute for Forgetful {
    fn compute(&mut self, io: ForgetfulIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        self.line = line!() + 1;
        let mut image = cx.tensor([4, LEN], &stream)?;
        let written = image.slice_mut(..self.rows * LEN);
        let mut written = written.ok_or_else(|| Failure::msg("the rows are out of range"))?;
        stream.launch::<slow_fill>(written.len(), (&mut written, 1.0, 0))?;
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
        cx.download(image, &stream)?.wait_blocking()?;
        Ok(())
    }
}

graph! {
    struct Unwritten(rows: usize, count: u64) {
        #[when(count(count))] let source: Forgetful = Forgetful::new(rows, 0);
        let reads: Reads = Reads::new();
        source.image >> reads.image;
    }
}

/// Checks that the report names the bytes, and the place where their memory was allocated, or was allocated again
/// from the pool.
fn an_unwritten_image(platform: &Platform) -> Result<(), Failed> {
    for (action, runs_before) in [(RaceAction::Allocate, 0), (RaceAction::Recycle, 1)] {
        let platform = watched(platform)?;
        for _ in 0..runs_before {
            Unwritten::new(&platform, 4, 5)?.run()?;
        }
        let mut graph = Unwritten::new(&platform, 3, 5)?;
        let races = races_of(graph.run().map(drop))?;
        let text = races.to_string();
        let [RaceReport { kind, earlier, later, overlap, .. }] = &races.races[..] else {
            return Err(Failed::msg(races));
        };
        let row = 4 * LEN as u64;
        let in_node =
            |access: &RaceAccess, node| access.hook.as_ref().is_some_and(|hook| hook.node == node);
        check(*kind == RaceKind::Unwritten && *overlap == (3 * row..4 * row), || text.clone())?;
        check(earlier.action == action && in_node(earlier, "source"), || text.clone())?;
        check(earlier.location.is_some_and(|it| it.line() == graph.source().line), || {
            text.clone()
        })?;
        check(later.action == RaceAction::Copy("source"), || text.clone())?;
        check(in_node(later, "reads"), || text)?;
    }
    Ok(())
}

/// Returns a platform with a race checker on the same driver, whatever the build and the environment say.
fn watched(platform: &Platform) -> Result<Platform> {
    let builder = Platform::builder().race_check(true);
    Ok(builder.driver(platform.driver().clone())?)
}

fn races_of(run: Result<(), Error>) -> Result<RaceReports, Failed> {
    match run {
        Err(Error::Races(races)) => Ok(races),
        other => Err(Failed::msg(format!("no races, but {other:?}"))),
    }
}

/// Checks that the waits of `blocking_launches` do not count as order, since the program itself does not have
/// them.
fn launches_that_wait(seed: u64) -> Result<(), Failed> {
    let builder = Platform::builder().seed(seed).race_check(true).blocking_launches(true);
    let races = races_of(Hasty::new(&builder.host()?, 5)?.run().map(drop))?;
    check(races.races[0].times >= 1, || races.to_string())
}

fn a_run_returns_its_races(platform: &Platform) -> Result<(), Failed> {
    let platform = watched(platform)?;
    let mut graph = Hasty::new(&platform, 5)?;
    let races = races_of(graph.run().map(drop))?;
    let text = races.to_string();
    let RaceReport { earlier, later, overlap, times, .. } = &races.races[0];
    let kernel = |kernel: &str, argument| RaceAction::Kernel { kernel: kernel.into(), argument };
    check(earlier.action == kernel("slow_fill", "out"), || text.clone())?;
    check(later.action == kernel("slow_copy", "input"), || text.clone())?;
    check((earlier.mode, later.mode) == (AccessMode::Write, AccessMode::Read), || text.clone())?;
    check(earlier.stream.as_deref() == Some("`source.fill`"), || text.clone())?;
    check(later.stream.as_deref() == Some("`impatient.extra`"), || text.clone())?;
    check(*overlap == (0..4 * LEN as u64) && *times == 1, || text.clone())?;
    let sides = [("source", Direction::Outward), ("impatient", Direction::Inward)];
    for (side, (node, direction)) in [earlier, later].into_iter().zip(sides) {
        let Some(hook) = &side.hook else { return Err(Failed::msg(text)) };
        check((&*hook.node, &*hook.hook, hook.tick) == (node, "compute", 0), || text.clone())?;
        check(hook.port == Some((direction, "image")), || text.clone())?;
        check(side.location.is_some_and(|at| at.file().ends_with("race/graph.rs")), || {
            text.clone()
        })?;
    }
    let line = graph.impatient().line;
    check(later.location.is_some_and(|at| at.line() == line), || {
        format!("not line {line}: {text}")
    })?;
    check_text(
        &text,
        &[
            "earlier: kernel `slow_fill` writes `out` on `source.fill`\n           \
             in `source` (compute, tick 0, output `image`)\n           at ",
            "later:   kernel `slow_copy` reads `input` on `impatient.extra`\n           \
             in `impatient` (compute, tick 0, input `image`)\n           at ",
            "missing: `impatient.extra` must wait for an event that is recorded on `source.fill`",
            "earlier[\"kernel slow_fill writes out<br/>source.fill<br/>source, compute, tick 0\"]",
            "earlier -. \"missing: record, then wait\" .-> later",
        ],
    )?;
    // The error of the run has taken the races, so a later run begins without them.
    check_races(&platform)?;
    races_of(graph.run().map(drop)).map(|_| ())
}

fn a_harness_returns_its_races(platform: &Platform) -> Result<(), Failed> {
    let platform = watched(platform)?;
    let mut harness = OperatorHarness::new(&platform, Impatient::new(0))?;
    let mut image = platform.tensor([LEN], harness.stream())?;
    harness.stream().launch::<slow_fill>(LEN, (&mut image, 1.0, 0))?;
    harness.push(|ports| &mut ports.image, image)?;
    let races = races_of(harness.tick().map(|_| ()))?;
    check_text(&races.to_string(), &["`the harness`", "`Impatient.extra`"])?;
    Ok(harness.stop()?)
}

/// Checks an unordered launch that the caller orders by hand. Later uses of its memory wait as usual.
fn an_ordered_launch(platform: &Platform) -> Result<(), Failed> {
    let platform = watched(platform)?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let mut data = platform.buffer(LEN, &a)?;
    a.launch::<slow_fill>(LEN, (&mut data, 1.0, 20_000_000))?;
    b.wait(a.record()?)?;
    launch_unordered::<add_one>(&b, LEN, (&mut data,))?;
    a.launch::<add_one>(LEN, (&mut data,))?;
    check(a.download_blocking(&data)?.iter().all(|&x| x == 3.0), || "wrong data".into())?;
    check_races(&platform)
}

/// Checks programs that only waits order. The checker reports no race with the waits and one without them,
/// whether or not this run's data was wrong.
fn without_waits(platform: &Platform, program: Program) -> Result<(), Failed> {
    let builder = Platform::builder().memory(MEMORY).race_check(true);
    let whole = builder.clone().driver(platform.driver().clone())?;
    check(program(&whole)?, || "the data is wrong".into())?;
    check_races(&whole)?;
    // The faulty layer is above the checker, so the checker sees no waits.
    let broken = Arc::new(DropWaits::all(whole.driver().clone()));
    let broken = builder.driver(broken)?;
    program(&broken)?;
    let races = broken.take_races();
    check(!races.races.is_empty(), || "the checker reported no race without the waits".into())?;
    // Dropping the platform may free or recycle memory too early, which is a further race.
    drop(broken);
    let _more = whole.take_races();
    Ok(())
}
