//! Checks that a run leaves no memory and no stream behind.

use std::sync::Arc;

use streamflow::driver::Recorder;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::{Failed, Suite, allocations, check, child};

pub(crate) const ROLE: &str = "leaks";

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("runs_that_are_dropped_leave_no_memory", || child::run("running", ROLE, &[]))
        .plain("runs_that_are_dropped_leave_no_stream", streams)
}

/// An operator that fills tensors.
#[operator(streams(fill))]
struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([64], &stream)?;
        stream.launch::<slow_fill>(64, (&mut image, cx.tick() as f32, 50))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// A sink that receives tensors whose work is complete.
#[operator]
struct Sink {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.image.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

graph! {
    struct Images {
        let source: Source = Source::new();
        #[when(stream_done(image))] let sink: Sink = Sink::new();
        #[capacity(4)] source.image >> sink.image;
    }
}

/// Ends a run in one of several ways.
fn round(platform: &Platform, round: u32) -> Result<()> {
    let mut graph = Images::new(platform)?;
    match round % 5 {
        0 => drop(graph.spawn()?),
        1 => {
            let running = graph.spawn()?;
            running.report()?;
            running.pause()?;
        }
        2 => {
            let running = graph.spawn()?;
            running.report()?;
            running.stop();
            running.join()?;
        }
        3 => {
            for _ in 0..=round % 4 {
                graph.tick()?;
            }
        }
        _ => {
            graph.tick()?;
            graph.run_for(3)?;
            graph.spawn()?.stop();
        }
    }
    Ok(())
}

/// Runs in a process of its own, since other tests would allocate at the same time.
pub(crate) fn in_child() -> Result<(), Failed> {
    let driver = Arc::new(Replaying::new(HostDriver::builder().seed(3).build()));
    let platform = Platform::builder().driver(driver)?;
    // The first rounds let lists grow to the size they need, and threads make their first allocations.
    let measure = |from: u32| -> Result<i64> {
        (from..from + 100).try_for_each(|number| round(&platform, number))?;
        Ok(allocations::live_bytes())
    };
    let mut live = Vec::new();
    for part in 0..8 {
        live.push(measure(100 * part)?);
    }
    // How far a run gets before it ends depends on its thread, so a pool may come to hold some more blocks. If
    // graphs were leaked in one of the five ways, it would be 80 times some hundred bytes.
    let (first, last) = (live[3], live[7]);
    check(last - first < 10_000, || format!("bytes after each 100 rounds: {live:?}"))
}

fn streams() -> Result<(), Failed> {
    for seed in 0..4 {
        let driver = Replaying::new(HostDriver::builder().seed(seed).build());
        let recorder = Arc::new(Recorder::new(Arc::new(driver)));
        let platform = Platform::builder().driver(recorder.clone())?;
        let made = || recorder.count(|call| matches!(call, Call::CreateStream { .. }));
        (0..50).try_for_each(|number| round(&platform, number))?;
        let before = made();
        (0..200).try_for_each(|number| round(&platform, number))?;
        // Streams of graphs that were dropped are used again.
        check(made() <= before + 2, || format!("{} streams, then {}", before, made()))?;
    }
    Ok(())
}
