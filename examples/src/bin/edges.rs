//! Finds the edges of a photograph: decode, upload, grey, blur, two gradients on streams of their
//! own, their length, download, encode.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use streamflow_examples::cli::{self, Failure, PlatformArgs};
use streamflow_examples::edges::Edges;
use streamflow_examples::{png_io, progress};

/// Finds the edges of a photograph.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The photograph, a PNG
    #[arg(value_name = "IN.png")]
    input: PathBuf,

    /// Where the edges go, an 8-bit grey PNG; it appears whole or not at all
    #[arg(value_name = "OUT.png")]
    output: PathBuf,

    #[command(flatten)]
    platform: PlatformArgs,

    /// How often to run the pipeline; the last result is written
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<(), Failure> {
    let platform = args.platform.open()?;
    let image = png_io::read(&args.input)?;
    let mut edges = Edges::new(&platform, &image)?;

    let bar = progress::bar(args.repeat);
    let mut result = edges.run()?;
    for _ in 1..args.repeat {
        // The next run is queued before the last one is waited for, so that the device stays busy.
        let next = edges.run()?;
        result.wait_blocking()?;
        result = next;
        bar.inc(1);
    }
    let pixels = result.wait_blocking()?;
    bar.finish_and_clear();

    let (width, height) = (image.width, image.height);
    png_io::write_grey(&args.output, width, height, pixels)?;
    let (name, output) = (platform.name(), args.output.display());
    writeln!(io::stdout(), "{output}: edges of {width} x {height} pixels, found on {name}")?;
    Ok(())
}
