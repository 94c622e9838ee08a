//! The programs of NVIDIA's page *Stream Semantics* (nvmath-python): Fourier transforms on two streams, stateless and by plans.
//! No line of these programs records events or waits for them.
//!
//! `cargo run -p streamflow-examples --features all --bin stream_semantics` runs each program, compares its result with the
//! definition of the transform, and ends with code 1 if a result is wrong. The code is in `examples/src/stream_semantics.rs`.

use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::stream_semantics::StreamSemantics;

/// Runs the programs of nvmath-python's page about streams.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    StreamSemantics::new(&args.platform.open()?)?.run()?;
    Ok(())
}
