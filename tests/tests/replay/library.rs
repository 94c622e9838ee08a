//! Calls of libraries in a replayed graph. A tick of the radar is one launch, and calls that differ are sent to
//! the driver.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::driver::{Driver, Recorder};
use streamflow::library::HostBody;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_examples::radar::{
    Antenna, Average, CODE, Compress, Detect, PULSES, SAMPLES, TARGETS, THRESHOLD, over_pulses,
    score,
};
use streamflow_math::operators::Fft;
use streamflow_tests::foreign::{Captures, CopyLibrary, filling};
use streamflow_tests::forms::Form;
use streamflow_tests::seen;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::data::{FEW, TICKS, few, replayed};
use super::nodes::{Fold, Got, LEN};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_tick_of_the_radar_is_one_launch_of_a_graph::host", || {
            radar(Arc::new(HostDriver::builder().seed(0).build()))
        })
        .cuda("a_tick_of_the_radar_is_one_launch_of_a_graph", |_| {
            radar(Arc::new(CudaDriver::new()?))
        })
        .both("a_call_of_a_library_is_replayed", same)
        .both("a_call_whose_value_changes_is_sent_with_it", changing)
        .both("a_call_that_may_not_be_captured_is_sent", never)
        .cuda("a_call_that_queues_nothing_where_it_is_captured_is_sent", nothing)
}

graph! {
    /// The radar without its disk, since the disk has a thread of its own.
    #[replay]
    struct Radar(show: Report<u8>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);

        #[streams(STREAMS)]
        let antenna: Antenna = Antenna::new(platform)?;
        #[streams(none)]
        let compress: Compress = Compress::new(platform.upload(&CODE)?);
        #[streams(STREAMS)]
        let doppler: Fft<f32> = Fft::forward(over_pulses());
        #[streams(none)]
        let average: Average = Average::new(platform.upload(&[0.0; PULSES * SAMPLES])?);
        #[streams(none)]
        let detect: Detect = Detect::new(THRESHOLD);
        #[streams(STREAMS)]
        let show: Deliver<u8> = Deliver::new(show);

        antenna.echoes >> compress.echoes;
        compress.ranges >> doppler.signal;
        doppler.spectrum >> average.cells;
        average.average >> detect.map;
        detect.found >> show.tensor;
    }
}

/// The number of ticks until each rotation of buffers has a CUDA graph.
const WARM: u64 = 12;
const STEADY: u64 = 6;

fn radar(below: Arc<dyn Driver>) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(below));
    let driver = Arc::new(Replaying::over(recorder.clone()));
    let platform = Platform::builder().memory(FEW).driver(driver)?;
    let scores = Arc::new(Mutex::new(Vec::new()));
    let seen = scores.clone();
    let show: Report<u8> = Box::new(move |_, found: &[u8]| {
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(score(found));
        Ok(())
    });
    let mut graph = Radar::new(&platform, show)?;
    for _ in 0..WARM {
        graph.tick()?;
    }
    recorder.clear();
    for _ in 0..STEADY {
        graph.tick()?;
    }
    let calls = recorder.calls();
    graph.end_run()?;
    drop(graph);
    let count = |wanted: fn(&Call) -> bool| calls.iter().filter(|call| wanted(call)).count() as u64;
    check_equal(count(|call| matches!(call, Call::LaunchGraph { .. })), STEADY)?;
    let is_sent = |call: &&Call| {
        matches!(
            call,
            Call::Library { .. }
                | Call::Launch { .. }
                | Call::Copy { .. }
                | Call::CreateGraph { .. }
        )
    };
    let sent = calls.iter().find(is_sent);
    check(sent.is_none(), || {
        format!("after warm-up: {}", sent.map_or(String::new(), Call::to_string))
    })?;
    let scores = scores.lock().unwrap_or_else(PoisonError::into_inner);
    check_equal(&scores[..], &[(TARGETS.len(), 0); (WARM + STEADY) as usize][..])
}

/// An operator that fills a tensor by a library's call, with a number that changes after every `every` ticks.
#[operator(streams(work), no_new)]
struct Filled {
    #[output]
    image: Tensor<u32>,
    library: CopyLibrary,
    body: HostBody,
    every: u64,
    captures: Captures,
}

impl Filled {
    fn new(platform: &Platform, every: u64, captures: Captures) -> Result<Self> {
        Ok(Self { library: CopyLibrary::new(platform)?, body: filling(), every, captures })
    }
}

impl Compute for Filled {
    fn compute(&mut self, io: FilledIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        let byte = (1 + cx.tick() / self.every) as u8;
        self.library.fill(&self.body, &stream, &mut image, byte, self.captures)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

graph! {
    #[replay]
    struct Fills(ticks: u64, every: u64, captures: Captures, got: Got) {
        #[when(count(ticks))] let filled: Filled = Filled::new(platform, every, captures)?;
        let fold: Fold = Fold::new(None, got);
        filled.image >> fold.image;
    }
}

fn expected(every: u64) -> Vec<u32> {
    let fold = (0..TICKS).fold(0_u32, |fold, tick| {
        let image = u32::from_ne_bytes([(1 + tick / every) as u8; 4]);
        fold.wrapping_mul(31).wrapping_add(image)
    });
    vec![fold; LEN]
}

/// Runs the graph. Returns how many passes were replayed, and the report's text.
fn run(platform: &Platform, every: u64, captures: Captures) -> Result<(u64, String), Failed> {
    let got = Got::default();
    let report = Fills::new(&few(platform)?, TICKS, every, captures, got.clone())?.run()?;
    check_equal(seen::all(&got), vec![expected(every)])?;
    Ok((replayed(&report)?.replayed, report.to_string()))
}

fn same(platform: &Platform) -> Result<(), Failed> {
    let (replayed, report) = run(platform, u64::MAX, Captures::All)?;
    check(replayed > TICKS * 3 / 4, || report)
}

fn changing(platform: &Platform) -> Result<(), Failed> {
    let (replayed, report) = run(platform, 1, Captures::All)?;
    // If the number changes in every tick, no tick has the calls of an earlier tick.
    check(replayed == 0 || Form::Replayed.is_set(), || report)?;
    // The number changes every 20 ticks: each value comes often enough to get a CUDA graph before the next one.
    let (replayed, report) = run(platform, 20, Captures::All)?;
    check(replayed > TICKS / 2 || Form::Replayed.is_set(), || report)
}

fn never(platform: &Platform) -> Result<(), Failed> {
    let (replayed, report) = run(platform, u64::MAX, Captures::Never)?;
    check_equal(replayed, 0)?;
    check_text(&report, &["a call of a library that may not be captured, in `filled`"])
}

fn nothing(platform: &Platform) -> Result<(), Failed> {
    let (replayed, report) = run(platform, u64::MAX, Captures::Nothing)?;
    check_equal(replayed, 0)?;
    check_text(
        &report,
        &["a call of a library that could not be captured; the log has the error, in `filled`"],
    )
}
