//! Metadata: values that travel with a message beside its data. A source says when its frame was acquired and which
//! number it has, another operator adds a value by name, and the sink reads all of them.
//!
//! `cargo run -p streamflow-examples --bin metadata` prints the metadata of each frame, and ends with code 1 if it is wrong.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use streamflow::message::Metadata;
use streamflow::prelude::*;
use streamflow::time::Timestamp;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::temporal::{fade, pattern};

/// Sends frames with the number and the time of their camera, and with a gain that another operator adds.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
}

const FRAMES: u64 = 4;

/// The number of the camera's first frame. The numbers grow in steps of ten.
const FIRST: u64 = 100;

/// The time at which the camera has acquired a frame.
fn acquired(number: u64) -> Timestamp {
    Timestamp(1_000_000 * number)
}

/// The gain of a frame, which an operator adds to the metadata.
fn gain(number: u64) -> f32 {
    1.0 / number as f32
}

/// Sets the time and the number of each frame. By default, these are the moment of `emit` and the number of the tick.
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
        let number = FIRST + 10 * cx.tick();
        let output = io.frame.set_cuda_stream(&stream);
        output.acquired(acquired(number)).sequence(number).emit(frame)
    }
}

/// Adds a value by name. The other metadata is passed on by the runtime.
#[operator]
struct Amplify {
    #[input]
    frame: Tensor<f32>,
    #[output]
    amplified: Tensor<f32>,
}

impl Compute for Amplify {
    fn compute(&mut self, io: AmplifyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let frame = io.frame.receive();
        let number = frame.metadata().and_then(Metadata::sequence).unwrap_or_default();
        let (mut frame, stream) = frame.receive_cuda_stream(cx)?;
        stream.map::<fade>((&mut frame, gain(number)))?;
        io.amplified.emit_with(frame, |metadata| metadata.set("gain", gain(number)))
    }
}

/// Reads the metadata. Metadata can be read before the stream of the data is received.
#[operator]
struct Print {
    #[input]
    frame: &Tensor<f32>,
}

impl Compute for Print {
    fn compute(&mut self, io: PrintIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let frame = io.frame.receive();
        let Some(metadata) = frame.metadata() else {
            return Err(Failure::msg("a required input has a message, and each has metadata"));
        };
        let gain = metadata.get("gain").and_then(|value| value.as_float());
        let found = (metadata.acquired(), metadata.sequence(), gain);
        let number = FIRST + 10 * cx.tick();
        let expected = (Some(acquired(number)), Some(number), Some(f64::from(self::gain(number))));
        if found != expected {
            return Err(Failure::msg(format!("{found:?}, and not {expected:?}")));
        }
        writeln!(io::stdout(), "frame {number}, acquired at {} ns", acquired(number).0)?;
        for (name, value) in metadata.iter() {
            writeln!(io::stdout(), "    {name} = {value}")?;
        }
        let _data = frame.receive_cuda_stream(cx)?;
        Ok(())
    }
}

graph! {
    struct Recording(count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);

        #[streams(STREAMS)] #[when(count(count))]
        let camera: Camera = Camera::new();
        #[streams(STREAMS)]
        let amplify: Amplify = Amplify::new();
        #[streams(STREAMS)]
        let print: Print = Print::new();

        camera.frame >> amplify.frame;
        amplify.amplified >> print.frame;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    Recording::new(&args.platform.open()?, FRAMES)?.run()?;
    Ok(())
}
