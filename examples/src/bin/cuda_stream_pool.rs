//! Two sources on streams of a pool fill an image each; a third stream multiplies them and sums each
//! row; a fourth brings the sums to the host.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, Failure, PlatformArgs};
use streamflow_examples::report::{Format, Tick};
use streamflow_examples::seed_app::{HandWired, Streams};

/// Multiplies two images, made on streams of a pool, and sums each row.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// How many ticks to run
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,

    /// Rows of the images
    #[arg(long, value_name = "R", default_value_t = 2160, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,

    /// Columns of the images
    #[arg(long, value_name = "C", default_value_t = 3840, value_parser = clap::value_parser!(u32).range(1..))]
    cols: u32,

    /// Use no pool: everything runs on the default stream
    #[arg(long)]
    default_stream: bool,

    /// Write one JSON object per tick
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<(), Failure> {
    let bytes =
        u64::from(args.rows).checked_mul(u64::from(args.cols)).and_then(|n| n.checked_mul(4));
    if bytes.is_none_or(|bytes| bytes > isize::MAX as u64) {
        let (rows, cols) = (args.rows, args.cols);
        return Err(Failure::Usage(format!("no memory can hold {rows} rows of {cols} columns")));
    }
    let platform = args.platform.open()?;
    let streams = if args.default_stream { Streams::Default } else { Streams::Pool };
    let mut app = HandWired::new(&platform, args.rows as usize, args.cols, streams)?;

    let format = if args.json { Format::Json } else { Format::Human };
    let mut stdout = io::stdout().lock();
    if format == Format::Human {
        writeln!(
            stdout,
            "running on {}: {}",
            platform.name(),
            platform.device_info(device(0))?.name
        )?;
    }
    // One tick computes while the one before is read.
    let mut before: Option<(u64, Download<f32>)> = None;
    for tick in 0..args.count {
        let next = app.tick()?;
        if let Some((tick, sums)) = before.replace((tick, next)) {
            Tick { tick, values: sums.wait_blocking()? }.write(&mut stdout, format)?;
        }
    }
    if let Some((tick, sums)) = before {
        Tick { tick, values: sums.wait_blocking()? }.write(&mut stdout, format)?;
    }
    Ok(())
}
