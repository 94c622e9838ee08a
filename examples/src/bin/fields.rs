//! A message with several fields: two images and a number that belong together travel along one edge.
//!
//! `cargo run -p streamflow-examples --bin fields` prints the mean difference of the two images for each pair, and ends
//! with code 1 if one is wrong.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::temporal::{accumulate, fade, pattern, reference};

/// Sends two images and their exposure as one message, and compares the images.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
}

const SHAPE: [usize; 2] = [48, 64];
const PAIRS: u64 = 5;

/// Each field of the struct is a message itself. The struct is device data, since one of its fields is device data.
#[derive(Debug, Message)]
struct Pair {
    left: Tensor<f32>,
    right: Tensor<f32>,
    exposure: f32,
}

/// Makes both images of a pair on one stream.
#[operator(streams(shoot))]
struct Stereo {
    #[output]
    pair: Pair,
}

impl Compute for Stereo {
    fn compute(&mut self, io: StereoIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.shoot)?;
        let number = cx.tick() as u32;
        let mut left = cx.tensor(SHAPE, &stream)?;
        let mut right = cx.tensor(SHAPE, &stream)?;
        stream.map::<pattern>((&mut left, 2 * number))?;
        stream.map::<pattern>((&mut right, 2 * number + 1))?;
        let exposure = 1.0 / (1 + number) as f32;
        io.pair.set_cuda_stream(&stream).emit(Pair { left, right, exposure })
    }
}

/// Takes the pair as its owner, and so may write the fields and send them on.
#[operator]
struct Expose {
    #[input]
    pair: Pair,
    #[output]
    exposed: Pair,
}

impl Compute for Expose {
    fn compute(&mut self, io: ExposeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut pair, stream) = io.pair.receive().receive_cuda_stream(cx)?;
        stream.map::<fade>((&mut pair.left, pair.exposure))?;
        stream.map::<fade>((&mut pair.right, pair.exposure))?;
        io.exposed.emit(pair)
    }
}

/// Takes the fields of the pair one by one: `left` is overwritten with the difference, and `right` is only read.
#[operator]
struct Compare {
    #[input]
    pair: Pair,
}

impl Compute for Compare {
    fn compute(&mut self, io: CompareIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (pair, stream) = io.pair.receive().receive_cuda_stream(cx)?;
        let Pair { mut left, right, exposure } = pair;
        stream.map::<accumulate>((&mut left, &right, -1.0))?;
        let difference = cx.download(&left, &stream)?;
        let found = mean(difference.wait_blocking()?.iter().map(|&x| f64::from(x)));
        let expected = f64::from(exposure) * mean_difference(cx.tick());
        writeln!(io::stdout(), "pair {}: exposure {exposure}, mean {found:.6}", cx.tick())?;
        if (found - expected).abs() > 1e-6 {
            return Err(Failure::msg(format!("the mean is {found}, and not {expected}")));
        }
        Ok(())
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let len = values.len() as f64;
    values.sum::<f64>() / len
}

/// The mean difference of a pair before its exposure, computed in `f64`.
fn mean_difference(tick: u64) -> f64 {
    let frame = |number| reference(SHAPE[0] * SHAPE[1], number, 0.0);
    mean(frame(2 * tick).into_iter()) - mean(frame(2 * tick + 1).into_iter())
}

graph! {
    struct Pairs(count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);

        #[streams(STREAMS)] #[when(count(count))]
        let stereo: Stereo = Stereo::new();
        #[streams(STREAMS)]
        let expose: Expose = Expose::new();
        #[streams(STREAMS)]
        let compare: Compare = Compare::new();

        stereo.pair >> expose.pair;
        expose.exposed >> compare.pair;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    Pairs::new(&args.platform.open()?, PAIRS)?.run()?;
    Ok(())
}
