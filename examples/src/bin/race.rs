//! A program with a race, and the report of the race checker.

use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::temporal::{pattern, share};

/// Runs a graph that reads an image on a stream that does not wait for the image's writer, and prints
/// the report of the race checker: exit code 1.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
}

/// Makes an image.
#[operator(streams(fill))]
struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([64, 256], &stream)?;
        stream.map::<pattern>((&mut image, cx.tick() as u32))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Halves each value, and does not wait for the writer of the image.
#[operator(streams(extra))]
struct Hasty {
    #[input]
    image: &Tensor<f32>,
}

impl Compute for Hasty {
    fn compute(&mut self, io: HastyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _ordered) = io.image.receive().receive_cuda_stream(cx)?;
        let extra = cx.allocate_cuda_stream(io.extra)?;
        let mut half = cx.tensor(image.shape(), &extra)?;
        // SAFETY: the contract is broken on purpose: `extra` does not wait for the image. `launch` would make it wait.
        unsafe { extra.launch_unordered::<share>(image.len(), (&mut half, image, 0.5)) }?;
        Ok(())
    }
}

graph! {
    /// A source of images, and an operator that reads each image without waiting for its writer.
    struct Race(count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);

        #[streams(STREAMS)] #[when(count(count))]
        let source: Source = Source::new();
        #[streams(STREAMS)]
        let hasty: Hasty = Hasty::new();

        source.image >> hasty.image;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    // The checker is on by default only in debug builds.
    let builder = Platform::builder().race_check(true);
    let platform = builder.driver(args.platform.open()?.driver().clone())?;
    Race::new(&platform, 10)?.run()?;
    Ok(())
}
