//! candle with its CUDA kernels inside of a graph of streamflow, on a GPU; without one, candle on the host and the simulator.

mod border;
mod drops;
mod graph;
mod kernels;
mod model;
mod network;
mod ordered;
#[path = "../../ramp.rs"]
mod ramp;
mod report;
mod ticks;

use std::process::ExitCode;
use std::sync::Arc;

use candle_core::Device;
use streamflow::prelude::*;

use model::Model;
use report::Report;

const HELP: &str = "\
candle inside of a graph of streamflow

    candle [all | start | ordered | ticks | drops] [--ticks N] [--slow-ms M]

start    candle, streamflow and one copy of libcuda start in one process
ordered  a slow producer, candle's network and kernels that read its result: 1,000 ticks with the order, and a tenth as
         many without the edge to candle and without the edge from it
ticks    100,000 ticks: right, in place, with flat memory, and what a hand-over costs
drops    candle's memory on threads without a context, and default streams
all      each of them, which is the default

--ticks N    so many ticks in the place of 1,000 and of 100,000
--slow-ms M  the producer takes about M milliseconds, 10 by default

Each line with `right` or `stale` is a check. The code is 1 if one has failed.
";

/// Clock cycles of a GPU in a millisecond, at about 1.8 GHz.
const CYCLES: f64 = 1.8e6;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool> {
    let (mut command, mut ticks, mut slow) = ("all".to_owned(), None, 10.0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value =
            || words.next().ok_or_else(|| Failure::msg(format!("{word} needs a value")));
        match word.as_str() {
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(true);
            }
            "--ticks" => ticks = Some(value()?.parse::<u64>()?),
            "--slow-ms" => slow = value()?.parse::<f64>()?,
            "all" | "start" | "ordered" | "ticks" | "drops" => command = word,
            _ => return Err(Failure::msg(format!("{word} is no command: see --help"))),
        }
    }
    let runs = |name| command == name || command == "all";
    let mut report = Report::default();
    start(&mut report)?;
    if command != "start" {
        let platform = Platform::detect()?;
        let models: Vec<_> = Model::all(&platform)?.into_iter().map(Arc::new).collect();
        let apart = network::least_difference(&network::rows()?);
        report.text(&format!("results: at least {apart} apart; {} is right", network::TOLERANCE));
        report.line(
            "results that can be told apart",
            u64::from(apart > 100.0 * network::TOLERANCE),
            1,
        );
        if runs("ordered") {
            let cycles = (slow * CYCLES) as u64;
            ordered::ordered(&platform, &models, ticks.unwrap_or(1000), cycles, &mut report)?;
        }
        if runs("ticks") {
            ticks::many(&platform, &models, ticks.unwrap_or(100_000), &mut report)?;
        }
        if runs("drops") {
            drops::drops(&platform, &models, &mut report)?;
        }
    }
    let failed = report.failed();
    println!("{}", if failed.is_empty() { "all is right" } else { "FAILED" });
    failed.iter().for_each(|line| println!("  {line}"));
    Ok(failed.is_empty())
}

/// All libraries start, and streamflow finds the library with which the program is linked.
fn start(report: &mut Report) -> Result<()> {
    match Device::new_cuda_with_stream(0) {
        Ok(_) => println!("candle: cuda"),
        Err(error) => println!("candle: {error}"),
    }
    println!("streamflow: {}", ramp::compute()?);
    let mapped = ramp::mapped();
    println!("libcuda: {mapped:?}");
    report.line("copies of libcuda", u64::from(mapped.len() == 1), 1);
    Ok(())
}
