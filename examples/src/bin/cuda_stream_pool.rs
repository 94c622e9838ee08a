//! Two sources on streams of a pool fill an image each. A third stream multiplies the images and sums each row. A
//! fourth downloads the sums.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, GraphArgs, PlatformArgs};
use streamflow_examples::deliver::Report;
use streamflow_examples::report::{Format, Tick};
use streamflow_examples::seed_graph::CudaStreamApp;

/// Multiplies two images, made on streams of a pool, and sums each row.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of ticks
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,

    /// Rows of the images
    #[arg(long, value_name = "R", default_value_t = 2160, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,

    /// Columns of the images
    #[arg(long, value_name = "C", default_value_t = 3840, value_parser = clap::value_parser!(u32).range(1..))]
    cols: u32,

    /// Run everything on the default stream, without a pool
    #[arg(long)]
    default_stream: bool,

    /// Print one JSON object per tick
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    graph: GraphArgs,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    if args.graph.mermaid {
        return Ok(write!(io::stdout(), "{}", CudaStreamApp::diagram().mermaid())?);
    }
    cli::check_size(args.rows, args.cols)?;
    let platform = args.platform.open_for(&args.graph)?;
    let format = if args.json { Format::Json } else { Format::Human };
    let report = report(format);
    let (rows, cols, count) = (args.rows as usize, args.cols, args.count);
    let on_default = args.default_stream;
    let mut graph = CudaStreamApp::new(&platform, rows, cols, count, on_default, report)?;
    cli::say_where(&platform, format)?;
    args.graph.print(&args.graph.schedule(&mut graph)?.run()?)
}

/// Writes the sums of each tick to stdout.
fn report(format: Format) -> Report<f32> {
    Box::new(move |tick, values| {
        let tick = Tick { tick, shape: &[values.len()], values };
        Ok(tick.write(&mut io::stdout().lock(), format)?)
    })
}
