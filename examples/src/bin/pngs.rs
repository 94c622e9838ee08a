//! A PNG per tick: each frame of a graph is downloaded, and written as a file of its own while the next one is computed.
//!
//! `cargo run -p streamflow-examples --features all --bin pngs -- frames` writes `frames/0000.png` and so on.
//! The program ends with code 1 if a file can't be written; each file is complete or not there.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_examples::temporal::Camera;
use streamflow_examples::{png_io, progress};

/// Writes each frame as a PNG.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The directory of the files, which is made if it is missing
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,

    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of frames
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    count: u64,
}

const ROWS: u32 = 48;
const COLS: u32 = 64;

graph! {
    /// Frames, and a sink that delivers each of them one tick later, when it is downloaded.
    struct Recording(count: u64, write: Report<f32>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(count(count))]
        let camera: Camera = Camera::new(ROWS as usize, COLS as usize);
        #[streams(STREAMS)]
        let deliver: Deliver<f32> = Deliver::new(write);

        camera.frame >> deliver.tensor;
        camera.number >> _;
    }
}

/// Writes a frame of values from 0 to 1.
fn write(directory: &Path, tick: u64, values: &[f32]) -> Result<()> {
    let grey: Vec<u8> = values.iter().map(|x| (255.0 * x).round() as u8).collect();
    Ok(png_io::write_grey(&directory.join(format!("{tick:04}.png")), COLS, ROWS, &grey)?)
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let platform = args.platform.open()?;
    fs::create_dir_all(&args.directory)?;
    let bar = progress::bar(args.count);
    let (steps, directory) = (bar.clone(), args.directory.clone());
    let write = move |tick: u64, values: &[f32]| {
        write(&directory, tick, values)?;
        steps.inc(1);
        Ok(())
    };
    Recording::new(&platform, args.count, Box::new(write))?.run()?;
    bar.finish_and_clear();
    let directory = args.directory.display();
    writeln!(io::stdout(), "{} files are in {directory}", args.count)?;
    Ok(())
}
