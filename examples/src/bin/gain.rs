//! Host data in, a kernel, results out: samples are uploaded, multiplied on the device, and downloaded.
//!
//! `cargo run -p streamflow-examples --bin gain` prints each block of results, and ends with code 1 if one is wrong.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};

/// Uploads blocks of samples, multiplies them on the device, and downloads the results.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
}

/// Multiplies each element in place.
#[kernel(map)]
fn scale(data: &mut f32, factor: f32) {
    *data *= factor;
}

/// Host data in: uploads one block in each tick.
#[operator(streams(copy))]
struct Upload {
    #[output]
    samples: Tensor<f32>,
    blocks: Vec<Vec<f32>>,
}

impl Compute for Upload {
    fn compute(&mut self, io: UploadIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let block = &self.blocks[cx.tick() as usize];
        let stream = cx.allocate_cuda_stream(io.copy)?;
        let mut pinned = cx.pinned(block.len())?; // page-locked memory of a pool
        pinned.as_mut_slice_blocking()?.copy_from_slice(block);
        let mut samples = cx.tensor([block.len()], &stream)?;
        stream.upload(&pinned, &mut samples)?; // queued: the host goes on
        io.samples.set_cuda_stream(&stream).emit(samples)
    }
}

/// Takes the tensor, so it may write it.
#[operator]
struct Gain {
    #[input]
    samples: Tensor<f32>,
    #[output]
    scaled: Tensor<f32>,
    factor: f32,
}

impl Compute for Gain {
    fn compute(&mut self, io: GainIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // From here on, work on `stream` comes after the upload: the device waits, not the host.
        let (mut samples, stream) = io.samples.receive().receive_cuda_stream(cx)?;
        stream.map::<scale>((&mut samples, self.factor))?;
        io.scaled.emit(samples)
    }
}

/// Results out: downloads each tensor. `&Tensor` only reads it.
#[operator]
struct Collect {
    #[input]
    scaled: &Tensor<f32>,
    results: Vec<Vec<f32>>,
}

impl Compute for Collect {
    fn compute(&mut self, io: CollectIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (scaled, stream) = io.scaled.receive().receive_cuda_stream(cx)?;
        let download = cx.download(scaled, &stream)?;
        self.results.push(download.wait_blocking()?.to_vec());
        Ok(())
    }
}

graph! {
    struct Amplifier(blocks: &[Vec<f32>], factor: f32) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);

        #[streams(STREAMS)] #[when(count(blocks.len() as u64))]
        let upload: Upload = Upload::new(blocks.to_vec());
        #[streams(STREAMS)]
        let gain: Gain = Gain::new(factor);
        #[streams(STREAMS)]
        let collect: Collect = Collect::new(Vec::new());

        upload.samples >> gain.samples;
        gain.scaled >> collect.scaled;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let blocks = [vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]];
    let mut graph = Amplifier::new(&args.platform.open()?, &blocks, 0.5)?;
    graph.run()?;
    for block in &graph.collect().results {
        writeln!(io::stdout(), "{block:?}")?;
    }
    if graph.collect().results != [[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]] {
        return Err(Failure::msg("a result is not half of its sample"));
    }
    Ok(())
}
