//! Parameters: fields of an operator that any thread, or a file, sets while the graph runs.
//!
//! `cargo run -p streamflow-examples --bin parameters` raises the gain in the middle of a run and prints which tick had
//! which value. `--params FILE` reads the first values from a file in TOML, as
//!
//! ```toml
//! [amplify]
//! gain = 0.25
//! ```
//!
//! The program ends with code 1 if the file is wrong, or if a frame was made with another gain than the report says.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use clap::Parser;
use streamflow::operator::AsyncHandle;
use streamflow::param::ParamChange;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::temporal::{Camera, fade, reference};

/// Sets a parameter of an operator while its graph runs.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// A file with the first values
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
}

const SHAPE: [usize; 2] = [48, 64];
const FRAMES: u64 = 8;

/// The first frame that has the gain which another thread sets during the run.
const RAISED: u64 = 4;

/// Multiplies each frame by a gain.
#[operator(map = fade)]
struct Amplify {
    #[input]
    frame: Tensor<f32>,
    #[output]
    amplified: Tensor<f32>,
    /// The factor of each value, the same for a whole tick.
    #[param(range = 0.0..=1.0)]
    gain: f32,
}

/// Finds the gain of each frame from its data, and sends the gain to another thread.
#[operator]
struct Measure {
    #[input]
    frame: &Tensor<f32>,
    gains: Sender<f64>,
}

impl Compute for Measure {
    fn compute(&mut self, io: MeasureIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (frame, stream) = io.frame.receive().receive_cuda_stream(cx)?;
        let download = cx.download(frame, &stream)?;
        let sum: f64 = download.wait_blocking()?.iter().map(|&x| f64::from(x)).sum();
        let expected: f64 = reference(frame.len(), cx.tick(), 0.0).iter().sum();
        Ok(self.gains.send(sum / expected)?)
    }
}

graph! {
    struct Recording(notices: AsyncHandle, gains: Sender<f64>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);

        // The camera makes a frame when another thread gives a notice.
        #[streams(STREAMS)] #[when(asynchronous(notices))]
        let camera: Camera = Camera::new(SHAPE[0], SHAPE[1]);
        #[streams(STREAMS)]
        let amplify: Amplify = Amplify::new(0.5);
        #[streams(STREAMS)]
        let measure: Measure = Measure::new(gains);

        camera.frame >> amplify.frame;
        amplify.amplified >> measure.frame;
        camera.number >> _;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let notices = AsyncHandle::new();
    let (sender, gains) = channel();
    let mut graph = Recording::new(&args.platform.open()?, notices.clone(), sender)?;
    if let Some(file) = &args.params {
        graph.load_params(file)?;
    }

    // The handle can be cloned, and any thread can set parameters by it.
    let params = graph.params();
    let knob = thread::spawn(move || turn(&params, &notices, &gains));
    let run = graph.run();
    // Drops the graph's sender, so that the other thread does not wait for frames of a run that has failed.
    drop(graph);
    let gains = knob.join().map_err(|_| Failure::msg("the thread panicked"))?;
    let report = run?;
    check(&report.parameters, &gains?)
}

/// The work of the other thread: permits frames one by one, and raises the gain after half of them. Returns the gains that the
/// frames had.
fn turn(
    params: &RecordingHandle,
    notices: &AsyncHandle,
    gains: &Receiver<f64>,
) -> Result<Vec<f64>> {
    let mut found = Vec::new();
    for frame in 0..FRAMES {
        if frame == RAISED {
            params.amplify().set_gain(1.0)?;
        }
        notices.notify()?;
        found.push(gains.recv()?);
    }
    Ok(found)
}

/// Checks the gain of each frame against the report, which names the first tick that had a value.
fn check(changes: &[ParamChange], gains: &[f64]) -> Result<()> {
    for change in changes {
        let ParamChange { node, parameter, value, tick, .. } = change;
        writeln!(io::stdout(), "{node}.{parameter} = {value} from tick {tick} on")?;
    }
    if changes.last().map(|change| change.tick) != Some(RAISED) {
        return Err(Failure::msg(format!("the gain was not raised in tick {RAISED}")));
    }
    for (frame, gain) in (0..).zip(gains) {
        writeln!(io::stdout(), "frame {frame}: gain {gain:.3}")?;
        let expected = if frame < RAISED { gains[0] } else { 1.0 };
        if (gain - expected).abs() > 1e-6 {
            return Err(Failure::msg(format!("frame {frame} has gain {gain}, and not {expected}")));
        }
    }
    Ok(())
}
