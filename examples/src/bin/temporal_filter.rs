//! Mixes each frame with the mean of the last few, and checks every value against plain Rust.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Parser;
use streamflow_examples::cli::{self, GraphArgs, PlatformArgs};
use streamflow_examples::report::{Format, Tick};
use streamflow_examples::temporal::{ReportFrame, TOLERANCE, TemporalFilter, reference};

/// Mixes each frame with the mean of the last four, and checks every value.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of ticks
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    count: u64,

    /// Rows of the frames
    #[arg(long, value_name = "R", default_value_t = 480, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,

    /// Columns of the frames
    #[arg(long, value_name = "C", default_value_t = 640, value_parser = clap::value_parser!(u32).range(1..))]
    cols: u32,

    /// Print one JSON object per tick
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    graph: GraphArgs,
}

/// The error for a value that differs from the reference.
#[derive(Debug, thiserror::Error)]
#[error("tick {tick}: value {index} is {found}, but the reference is {expected}")]
struct Wrong {
    tick: u64,
    index: usize,
    found: f32,
    expected: f64,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> streamflow::Result<()> {
    if args.graph.mermaid {
        return Ok(write!(io::stdout(), "{}", TemporalFilter::diagram().mermaid())?);
    }
    cli::check_size(args.rows, args.cols)?;
    let platform = args.platform.open_for(&args.graph)?;
    let format = if args.json { Format::Json } else { Format::Human };
    let (rows, cols) = (args.rows as usize, args.cols as usize);
    let checked = Arc::new(AtomicU64::new(0));
    let report = report([rows, cols], format, checked.clone());
    let mut graph = TemporalFilter::new(&platform, rows, cols, args.count, report)?;
    cli::say_where(&platform, format)?;
    args.graph.print(&args.graph.schedule(&mut graph)?.run()?)?;
    if format == Format::Human {
        let values = checked.load(Ordering::Relaxed);
        writeln!(io::stdout(), "all {values} values are within {TOLERANCE:.1e} of the reference")?;
    }
    Ok(())
}

/// Checks each frame and writes it to stdout.
fn report(shape: [usize; 2], format: Format, checked: Arc<AtomicU64>) -> ReportFrame {
    Box::new(move |tick, weight, values| {
        check(tick, weight, values)?;
        checked.fetch_add(values.len() as u64, Ordering::Relaxed);
        let tick = Tick { tick, shape: &shape, values };
        Ok(tick.write(&mut io::stdout().lock(), format)?)
    })
}

fn check(tick: u64, weight: f32, values: &[f32]) -> Result<(), Wrong> {
    let pairs = values.iter().zip(reference(values.len(), tick, weight));
    for (index, (&found, expected)) in pairs.enumerate() {
        let is_near = (f64::from(found) - expected).abs() <= TOLERANCE;
        if !is_near {
            return Err(Wrong { tick, index, found, expected });
        }
    }
    Ok(())
}
