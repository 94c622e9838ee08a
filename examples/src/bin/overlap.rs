//! Uploads, computes and downloads an image in chunks: on one stream, and on several streams, where copies and kernels
//! overlap. Checks every value, and prints the device's times and their ratio.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs, Usage};
use streamflow_examples::overlap::Overlap;
use streamflow_examples::report::Format;

/// Uploads, computes and downloads in chunks, on one stream and on several, and compares the times.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of measurements
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,

    /// Rows of the image
    #[arg(long, value_name = "R", default_value_t = 2160, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,

    /// Columns of the image
    #[arg(long, value_name = "C", default_value_t = 3840, value_parser = clap::value_parser!(u32).range(1..))]
    cols: u32,

    /// Number of chunks of the image, each of whole rows
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    chunks: u32,

    /// Use the default stream for the measurement with one stream
    #[arg(long)]
    default_stream: bool,

    /// Print one JSON object per measurement
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    cli::check_size(args.rows, args.cols)?;
    let (rows, chunks) = (args.rows, args.chunks);
    if chunks > rows {
        return Err(Usage(format!(
            "{rows} rows can't be divided into {chunks} chunks; choose at most {rows} chunks"
        ))
        .into());
    }
    let platform = args.platform.open()?;
    let format = if args.json { Format::Json } else { Format::Human };
    cli::say_where(&platform, format)?;
    let mut overlap = Overlap::new(&platform, rows as usize, args.cols as usize, chunks as usize)?;
    // Runs once before the measurements, so that loading the kernel is not measured.
    overlap.on_one()?;
    overlap.check()??;
    for run in 0..args.count {
        let one = if args.default_stream {
            overlap.on(platform.default_stream(device(0))?)?
        } else {
            overlap.on_one()?
        };
        overlap.check()??;
        let several = overlap.on_several()?;
        overlap.check()??;
        let times = Times { run, chunks, streams: overlap.streams(), one, several };
        times.write(&mut io::stdout().lock(), format, platform.is_simulated())?;
    }
    Ok(())
}

/// The times of one measurement.
struct Times {
    run: u64,
    chunks: u32,
    streams: usize,
    one: Duration,
    several: Duration,
}

impl Times {
    /// Writes the times. Times of the simulator are marked as simulated, since they say nothing about a device.
    fn write(&self, to: &mut impl Write, format: Format, simulated: bool) -> io::Result<()> {
        let Self { run, chunks, streams, .. } = self;
        let [one, several] = [self.one, self.several].map(|time| time.as_secs_f64() * 1e3);
        let ratio = one / several;
        match format {
            Format::Human => {
                let unit = if simulated { "simulated ms" } else { "ms" };
                writeln!(
                    to,
                    "run {run}: {one:.3} {unit} on one stream, {several:.3} {unit} on {streams}, \
                     ratio {ratio:.2}"
                )?;
            }
            Format::Json => {
                let clock = if simulated { "simulated" } else { "device" };
                writeln!(
                    to,
                    r#"{{"run":{run},"chunks":{chunks},"streams":{streams},"clock":"{clock}","one_ms":{one:?},"several_ms":{several:?},"ratio":{ratio:?}}}"#
                )?;
            }
        }
        to.flush()
    }
}
