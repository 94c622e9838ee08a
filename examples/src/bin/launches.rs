//! A program's own layer: a driver that wraps another driver and counts the launches of each kernel.
//!
//! `cargo run -p streamflow-examples --bin launches` prints the counts, and ends with code 1 if one is wrong.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Parser;
use streamflow::prelude::*;
use streamflow_driver::driver::{Driver, DriverResult, Launch, Layer, RawStream};
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::temporal::{fade, pattern};

/// Runs a graph of two operators on a driver that counts launches, and prints how often each kernel was launched.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
}

/// Counts the launches that have succeeded, by the name of the kernel. All other calls go to the driver below.
#[derive(Debug)]
struct Launches {
    below: Arc<dyn Driver>,
    counts: Mutex<BTreeMap<String, u64>>,
}

impl Launches {
    fn new(below: Arc<dyn Driver>) -> Self {
        Self { below, counts: Mutex::default() }
    }

    fn counts(&self) -> BTreeMap<String, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

// SAFETY: each call is passed to the driver below, with its arguments and its answer.
unsafe impl Layer for Launches {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        // SAFETY: the caller keeps the contract of `Driver::launch`, and the call is passed on unchanged.
        unsafe { self.below.launch(stream, launch) }?;
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(launch.name.to_owned()).or_default() += 1;
        Ok(())
    }
}

const FRAMES: u64 = 4;

/// Makes a frame.
#[operator(streams(shoot))]
struct Camera {
    #[output]
    frame: Tensor<f32>,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.shoot)?;
        let mut frame = cx.tensor([64], &stream)?;
        stream.map::<pattern>((&mut frame, cx.tick() as u32))?;
        io.frame.set_cuda_stream(&stream).emit(frame)
    }
}

/// Fades a frame twice.
#[operator]
struct Fade {
    #[input]
    frame: Tensor<f32>,
}

impl Compute for Fade {
    fn compute(&mut self, io: FadeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut frame, stream) = io.frame.receive().receive_cuda_stream(cx)?;
        for _ in 0..2 {
            stream.map::<fade>((&mut frame, 0.5))?;
        }
        Ok(())
    }
}

graph! {
    /// Frames that are faded.
    struct Faded(frames: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(count(frames))]
        let camera: Camera = Camera::new();
        #[streams(STREAMS)]
        let fade: Fade = Fade::new();

        camera.frame >> fade.frame;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let launches = Arc::new(Launches::new(args.platform.open()?.driver().clone()));
    let platform = Platform::builder().driver(launches.clone())?;
    Faded::new(&platform, FRAMES)?.run()?;
    let counts = launches.counts();
    let mut out = io::stdout().lock();
    for (kernel, count) in &counts {
        writeln!(out, "{kernel}: {count} launches")?;
    }
    let expected = [("fade".to_owned(), 2 * FRAMES), ("pattern".to_owned(), FRAMES)];
    if counts != BTreeMap::from(expected) {
        return Err(Failure::msg(format!("the counts are wrong: {counts:?}")));
    }
    Ok(())
}
