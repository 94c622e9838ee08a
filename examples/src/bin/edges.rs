//! Finds the edges of a photograph: decode, upload, grey, blur, two gradients on their own streams, their length,
//! download, encode.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Parser;
use streamflow::{Failure, Result};
use streamflow_examples::cli::{self, GraphArgs, PlatformArgs, Usage};
use streamflow_examples::edges::EdgesApp;
use streamflow_examples::{png_io, progress};

/// Finds the edges of a photograph.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The photograph, a PNG
    #[arg(value_name = "IN.png", required_unless_present = "mermaid")]
    input: Option<PathBuf>,

    /// The result, an 8-bit grey PNG, which is written completely or not at all
    #[arg(value_name = "OUT.png", required_unless_present = "mermaid")]
    output: Option<PathBuf>,

    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of runs of the pipeline; all results must be the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,

    #[command(flatten)]
    graph: GraphArgs,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    if args.graph.mermaid {
        return Ok(write!(io::stdout(), "{}", EdgesApp::diagram().mermaid())?);
    }
    let (Some(input), Some(output)) = (&args.input, &args.output) else {
        // This code is unreachable, since clap requires both arguments.
        return Err(Usage("name IN.png and OUT.png".into()).into());
    };
    let platform = args.platform.open_for(&args.graph)?;
    let image = png_io::read(input)?;

    let bar = progress::bar(args.repeat);
    let result = Arc::new(Mutex::new(Vec::new()));
    let (first, steps) = (result.clone(), bar.clone());
    let report = move |tick: u64, pixels: &[u8]| {
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        if tick == 0 {
            first.extend_from_slice(pixels);
        } else if *first != pixels {
            return Err(Failure::msg(format!("run {tick} found other edges than run 0")));
        }
        steps.inc(1);
        Ok(())
    };
    let mut graph = EdgesApp::new(&platform, &image, args.repeat, Box::new(report))?;
    let report = args.graph.schedule(&mut graph)?.run()?;
    bar.finish_and_clear();
    args.graph.print(&report)?;

    let (width, height) = (image.width, image.height);
    let pixels = result.lock().unwrap_or_else(PoisonError::into_inner);
    png_io::write_grey(output, width, height, &pixels)?;
    let (name, output) = (platform.name(), output.display());
    writeln!(io::stdout(), "{output}: edges of {width} x {height} pixels, found on {name}")?;
    Ok(())
}
