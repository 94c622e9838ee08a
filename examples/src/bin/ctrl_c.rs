//! Ctrl-C: an endless graph runs on a thread of its own. The first Ctrl-C lets the tick finish and calls every `stop`
//! hook; the second ends the process at once. SIGTERM and SIGHUP do the same.
//!
//! `cargo run -p streamflow-examples --bin ctrl_c`, then press Ctrl-C: the program prints the run's report, and ends
//! with code 0. `--seconds 5` ends the run without you.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_examples::temporal::Camera;

/// Runs until Ctrl-C.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// End the run after this time
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
}

graph! {
    /// Frames without an end, 100 in a second.
    struct Endless(report: Report<f32>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(periodic(10ms))]
        let camera: Camera = Camera::new(48, 64);
        #[streams(STREAMS)]
        let deliver: Deliver<f32> = Deliver::new(report);

        camera.frame >> deliver.tensor;
        camera.number >> _;
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    let delivered = Arc::new(AtomicU64::new(0));
    let count = delivered.clone();
    let report: Report<f32> = Box::new(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let mut running = Endless::new(&args.platform.open()?, report)?.spawn()?;
    running.stop_on_signals()?;
    // From here on, the first signal stops the run instead of the process.
    writeln!(io::stdout(), "the graph runs; press Ctrl-C to stop it")?;

    if let Some(seconds) = args.seconds {
        match running.join_timeout(Duration::from_secs(seconds)) {
            Err(Error::StillRunning { .. }) => running.stop(),
            ended => return finish(&ended?, &delivered),
        }
    }
    finish(&running.join()?, &delivered)
}

/// Prints the report, and checks that every frame was delivered, also the last one, which the sink delivers in its `stop` hook.
fn finish(report: &streamflow::schedule::Report, delivered: &AtomicU64) -> Result<()> {
    write!(io::stdout(), "{report}")?;
    let (ticks, delivered) = (report.ticks("deliver"), delivered.load(Ordering::Relaxed));
    if ticks != Some(delivered) {
        let text = format!("{ticks:?} frames were received, and {delivered} delivered");
        return Err(Failure::msg(text));
    }
    Ok(())
}
