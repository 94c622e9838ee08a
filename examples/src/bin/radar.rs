//! A radar: finds the targets that its simulated antenna sees, and writes its maps as PNGs.
//!
//! `cargo run --release -p streamflow-examples --features all --bin radar` runs for 10 s, or until Ctrl-C. With
//! `--report` the program prints at the end what each node did. The program ends with code 1 at the first map
//! that lacks a target, or has a false one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, GraphArgs, PlatformArgs, Usage};
use streamflow_examples::png_io;
use streamflow_examples::radar::{CODE, Radar, TARGETS, THRESHOLD, picture, score};
use streamflow_examples::report::Format;

/// Finds the targets of a radar, and writes its maps.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of maps
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,

    /// Maps per second
    #[arg(long, value_name = "F", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    hz: u32,

    /// How many times the power of the noise a target has
    #[arg(long, value_name = "T", default_value_t = THRESHOLD)]
    threshold: f32,

    /// Directory of the maps, which is made if it is missing
    #[arg(long, value_name = "DIR", default_value = "radar-maps")]
    out: PathBuf,

    #[command(flatten)]
    graph: GraphArgs,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    if args.graph.mermaid {
        return Ok(write!(io::stdout(), "{}", Radar::diagram().mermaid())?);
    }
    let platform = args.platform.open_for(&args.graph)?;
    let directory = args.out.clone();
    let write = Box::new(move |number, map: &[f32]| write(&directory, number, map));
    let interval = Duration::from_secs(1) / args.hz;
    let mut graph = Radar::new(&platform, &CODE, args.count, interval, Box::new(check), write)?;
    // Any thread can set the threshold, also during the run.
    graph.params().detect().set_threshold(args.threshold).map_err(|e| Usage(e.to_string()))?;
    fs::create_dir_all(&args.out)?;

    args.graph.schedule(&mut graph)?;
    let running = graph.spawn()?;
    running.stop_on_signals()?;
    cli::say_where(&platform, Format::Human)?;
    writeln!(io::stdout(), "the radar runs; press Ctrl-C to stop it")?;
    let report = running.join()?;
    args.graph.print(&report)?;
    let [maps, written] = ["show", "disk"].map(|node| report.ticks(node).unwrap_or_default());
    let directory = args.out.display();
    writeln!(io::stdout(), "{maps} maps have all targets; {written} of them are in {directory}")?;
    Ok(())
}

/// Compares the targets that were found with the true ones.
fn check(number: u64, found: &[u8]) -> Result<()> {
    match score(found) {
        (hits, 0) if hits == TARGETS.len() => Ok(()),
        (hits, false_alarms) => Err(Failure::msg(format!(
            "map {number} has {hits} of {} targets and {false_alarms} false alarms",
            TARGETS.len()
        ))),
    }
}

/// Writes a picture of a map, and beside the map the graph that made it.
fn write(directory: &Path, number: u64, map: &[f32]) -> Result<()> {
    let image = picture::draw(number, map, &Radar::diagram().dot());
    Ok(png_io::write_rgb(&directory.join(format!("{number:06}.png")), &image)?)
}
