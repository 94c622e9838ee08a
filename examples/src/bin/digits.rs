//! Reads digits with a small network: two products of matrices on the device, each with its bias.
//!
//! `cargo run -p streamflow-examples --features all --bin digits` says how many digits were read right. The program
//! ends with code 1 if these are fewer than 9 of 10.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, GraphArgs, PlatformArgs};
use streamflow_examples::digits::{BATCH, Digits, Network, classes, labels};

/// Reads digits with a small network.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of batches
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    count: u64,

    #[command(flatten)]
    graph: GraphArgs,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    if args.graph.mermaid {
        return Ok(write!(io::stdout(), "{}", Digits::diagram().mermaid())?);
    }
    let platform = args.platform.open_for(&args.graph)?;
    let right = Arc::new(AtomicUsize::new(0));
    let counted = right.clone();
    let count = move |tick, outputs: &[f32]| {
        let both = classes(outputs).into_iter().zip(labels(tick));
        counted.fetch_add(both.filter(|(read, shown)| read == shown).count(), Ordering::Relaxed);
        Ok(())
    };
    let mut graph = Digits::new(&platform, &Network::train(), args.count, Box::new(count))?;
    args.graph.schedule(&mut graph)?;
    let report = graph.run()?;
    args.graph.print(&report)?;
    let (right, all) = (right.load(Ordering::Relaxed), args.count as usize * BATCH);
    writeln!(io::stdout(), "{right} of {all} digits are read right")?;
    if 10 * right < 9 * all {
        return Err(Failure::msg("these are too few"));
    }
    Ok(())
}
