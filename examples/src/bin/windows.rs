//! Means of windows of frames: an operator holds frames back, and its `flush` sends the mean of the last, shorter
//! window.
//!
//! `cargo run -p streamflow-examples --bin windows` prints the mean of each window, and ends with code 1 if one is wrong.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::temporal::{Camera, accumulate, fade, reference};

/// Averages frames over windows. The last window is not full.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of frames
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    count: u64,
}

const SHAPE: [usize; 2] = [48, 64];

/// How many frames a window has.
const WINDOW: u64 = 4;

/// The mean of a window, on the device, and how many frames it has.
#[derive(Debug, Message)]
struct Mean {
    frame: Tensor<f32>,
    frames: u64,
}

/// Adds frames up, and sends their mean when [`WINDOW`] frames were added.
#[operator(flush)]
struct Window {
    #[input]
    frame: Tensor<f32>,
    #[output]
    mean: Mean,
    /// The sum of the frames of a window that is not full; `None` between two windows.
    #[state]
    sum: Option<Tensor<f32>>,
    #[state]
    frames: u64,
}

impl Compute for Window {
    fn compute(&mut self, io: WindowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (frame, stream) = io.frame.receive().receive_cuda_stream(cx)?;
        self.frames += 1;
        let mut sum = match self.sum.take() {
            None => frame,
            Some(mut sum) => {
                stream.map::<accumulate>((&mut sum, &frame, 1.0))?;
                sum
            }
        };
        if self.frames < WINDOW {
            self.sum = Some(sum);
            return Ok(());
        }
        self.frames = 0;
        stream.map::<fade>((&mut sum, 1.0 / WINDOW as f32))?;
        io.mean.emit(Mean { frame: sum, frames: WINDOW })
    }
}

/// Sends the mean of the last frames, when the camera has ended. Without `flush`, these frames would be lost.
impl Flush for Window {
    fn flush(&mut self, io: WindowFlushIo<'_>, cx: &ExecutionContext) -> Result<Flushed> {
        // `compute` takes each frame, so no frame is left at the input.
        let (_none, stream) = io.frame.receive().receive_cuda_stream(cx)?;
        let frames = std::mem::take(&mut self.frames);
        if let Some(mut sum) = self.sum.take() {
            stream.map::<fade>((&mut sum, 1.0 / frames as f32))?;
            io.mean.emit(Mean { frame: sum, frames })?;
        }
        Ok(Flushed::Done)
    }
}

/// Compares each mean with a mean that is computed in `f64`.
#[operator]
struct Check {
    #[input]
    mean: &Mean,
    /// The number of frames in the earlier windows.
    #[state]
    before: u64,
}

impl Compute for Check {
    fn compute(&mut self, io: CheckIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mean, stream) = io.mean.receive().receive_cuda_stream(cx)?;
        let download = cx.download(&mean.frame, &stream)?;
        let found = average(download.wait_blocking()?.iter().map(|&x| f64::from(x)));
        let numbers = self.before..self.before + mean.frames;
        self.before = numbers.end;
        let means = numbers.map(|number| average(reference(len(), number, 0.0).into_iter()));
        let expected = means.sum::<f64>() / mean.frames as f64;
        writeln!(io::stdout(), "window of {} frames: mean {found:.6}", mean.frames)?;
        if (found - expected).abs() > 1e-6 {
            return Err(Failure::msg(format!("the mean is {found}, and not {expected}")));
        }
        Ok(())
    }
}

/// How many values a frame has.
fn len() -> usize {
    SHAPE[0] * SHAPE[1]
}

fn average(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let len = values.len() as f64;
    values.sum::<f64>() / len
}

graph! {
    struct Windows(count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);

        #[streams(STREAMS)] #[when(count(count))]
        let camera: Camera = Camera::new(SHAPE[0], SHAPE[1]);
        #[streams(STREAMS)]
        let window: Window = Window::new();
        #[streams(STREAMS)]
        let check: Check = Check::new();

        camera.frame >> window.frame;
        camera.number >> _;
        window.mean >> check.mean;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let mut graph = Windows::new(&args.platform.open()?, args.count)?;
    graph.run()?;
    if graph.check().before != args.count {
        return Err(Failure::msg(format!(
            "{} frames came, of {}",
            graph.check().before,
            args.count
        )));
    }
    Ok(())
}
