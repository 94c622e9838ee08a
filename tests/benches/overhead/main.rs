//! The host's time for a graph without its driver calls: nanoseconds per operator for receive, stream and emit.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench overhead
//! cargo bench -p streamflow-tests --bench overhead -- u64
//! cargo bench -p streamflow-tests --bench overhead -- u64 "two operators"
//! cargo bench -p streamflow-tests --bench overhead -- chains
//! cargo bench -p streamflow-tests --bench overhead -- chains "stream 500" 20000
//! cargo bench -p streamflow-tests --bench overhead -- chains "stream 500" 20000 graph
//! ```
//!
//! A chain of operators, each with its own stream, runs on a driver that does nothing, so the time is streamflow's.
//! `pass` only forwards a tensor; `launch` also queues a kernel on it. Each is compared with the same program wired by
//! hand: the same streams, waits, records and launches. The two programs take turns, so that a change of the machine's
//! speed affects both. The results are medians.
//!
//! The rows of `device_chains.rs` are longer chains of operators that make a tensor each. The last argument, `graph` or
//! `hand`, runs one form alone, for programs that count from outside.
//!
//! The other rows, of `host_data.rs`, are graphs that pass a `u64`. The argument `u64` measures these alone,
//! and a row's name after it this row alone. Per operator, a long graph should cost no more than a short one. The argument
//! `libraries` measures calls of libraries' plans, of `libraries.rs`, in the same way.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

mod device_chains;
mod host_data;
mod libraries;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use streamflow::prelude::*;
use streamflow_tests::kernels::add_one;
use streamflow_tests::layers::Null;

use crate::device_chains::Selection;

const TICKS: u64 = 20_000;
const ROUNDS: usize = 11;
const WARM_UP: u64 = 100;

#[operator(streams(make))]
struct Source {
    #[output]
    data: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.make)?;
        io.data.set_cuda_stream(&stream).emit(cx.tensor([256], &stream)?)
    }
}

#[operator]
struct Pass {
    #[input]
    data: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Pass {
    fn compute(&mut self, io: PassIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, _) = io.data.receive().receive_cuda_stream(cx)?;
        io.out.emit(data)
    }
}

#[operator]
struct Work {
    #[input]
    data: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Work {
    fn compute(&mut self, io: WorkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        stream.launch::<add_one>(data.len(), (&mut data,))?;
        io.out.emit(data)
    }
}

#[operator]
struct End {
    #[input]
    data: &Tensor<f32>,
}

impl Compute for End {
    fn compute(&mut self, io: EndIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = io.data.receive().receive_cuda_stream(cx)?;
        Ok(())
    }
}

macro_rules! chain {
    ($name:ident, $stage:ident, $first:ident $($next:ident after $before:ident)*, $last:ident) => {
        graph! {
            struct $name(count: u64) {
                const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(32);
                #[streams(STREAMS)] #[when(count(count))] let source: Source = Source::new();
                #[streams(STREAMS)] let $first: $stage = $stage::new();
                $(#[streams(STREAMS)] let $next: $stage = $stage::new();)*
                #[streams(STREAMS)] let end: End = End::new();
                source.data >> $first.data;
                $($before.out >> $next.data;)*
                $last.out >> end.data;
            }
        }
    };
}

macro_rules! chains {
    ($two:ident, $four:ident, $sixteen:ident, $stage:ident) => {
        chain!($two, $stage, a b after a, b);
        chain!($four, $stage, a b after a c after b d after c, d);
        chain!($sixteen, $stage, a b after a c after b d after c e after d f after e g after f
            h after g i after h j after i k after j l after k m after l n after m o after n
            p after o, p);
    };
}

chains!(Pass2, Pass4, Pass16, Pass);
chains!(Work2, Work4, Work16, Work);

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<()> {
    let null = Arc::new(Null::new(Platform::host().build()?.driver().clone()));
    let platform = Platform::builder().driver(null.clone())?;
    // Cargo passes `--bench` to every benchmark.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    match arguments.next().as_deref() {
        Some("u64") => return host_data::measure(&null, &platform, arguments.next()),
        Some("libraries") => return libraries::measure(&null, &platform, arguments.next()),
        Some("chains") => {
            let (row, tasks, form) = (arguments.next(), arguments.next(), arguments.next());
            let tasks = tasks.and_then(|tasks| tasks.parse().ok());
            return device_chains::measure(&null, &platform, &Selection { row, tasks, form });
        }
        _ => {}
    }
    println!("{:<8}{:>9}{:>12}{:>12}{:>8}", "work", "operators", "graph", "by hand", "ratio");
    macro_rules! rows {
        ($work:expr, $name:expr, $two:ident, $four:ident, $sixteen:ident) => {{
            let mut totals = Vec::new();
            rows!(@one totals, $work, $name, 2, $two);
            rows!(@one totals, $work, $name, 4, $four);
            rows!(@one totals, $work, $name, 16, $sixteen);
            // The cost of one operator is the slope between a chain with 14 more operators and the shortest chain. It
            // excludes the fixed cost of a tick and of the first and last node.
            let slope = |pick: fn(&(f64, f64)) -> f64| (pick(&totals[2]) - pick(&totals[0])) / 14.0;
            let (graph, by_hand) = (slope(|t| t.0), slope(|t| t.1));
            println!("{:<8}{:>9}{graph:>9.1} ns{by_hand:>9.1} ns{:>8.2}   per additional operator", $name, "+1", graph / by_hand);
        }};
        (@one $totals:ident, $work:expr, $name:expr, $stages:expr, $graph:ident) => {
            $graph::new(&platform, WARM_UP)?.run()?;
            let mut graph = $graph::new(&platform, TICKS)?;
            let mut by_hand = ByHand::new(&platform, $stages, $work)?;
            (0..WARM_UP).try_for_each(|_| by_hand.tick())?;
            wait_until_idle(&by_hand)?;
            let both = null.off(|| compare(TICKS, || graph.run().map(drop), || Ok(by_hand.run(TICKS)?)))?;
            let (a, b) = both;
            println!("{:<8}{:>9}{a:>9.1} ns{b:>9.1} ns{:>8.2}   per tick", $name, $stages, a / b);
            $totals.push(both);
        };
    }
    rows!(false, "pass", Pass2, Pass4, Pass16);
    rows!(true, "launch", Work2, Work4, Work16);
    device_chains::measure(&null, &platform, &Selection::default())?;
    host_data::measure(&null, &platform, None)?;
    libraries::measure(&null, &platform, None)
}

fn wait_until_idle(by_hand: &ByHand) -> Result<()> {
    Ok(by_hand.streams.iter().try_for_each(CudaStream::synchronize_blocking)?)
}

/// Returns the nanoseconds per tick of both programs, which take turns.
fn compare(
    ticks: u64,
    mut one: impl FnMut() -> Result<(), Error>,
    mut other: impl FnMut() -> Result<(), Error>,
) -> Result<(f64, f64)> {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        let runs: [&mut dyn FnMut() -> Result<(), Error>; 2] = [&mut one, &mut other];
        for (run, times) in runs.into_iter().zip(&mut times) {
            let start = Instant::now();
            run()?;
            // The first round warms up and is not counted.
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e9 / ticks as f64);
            }
        }
    }
    let [one, other] = times.map(median);
    Ok((one, other))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The same program without a graph: each stage has a stream, which waits for the previous stage.
struct ByHand {
    platform: Platform,
    streams: Vec<CudaStream>,
    launches: bool,
}

impl ByHand {
    fn new(platform: &Platform, stages: usize, launches: bool) -> Result<Self> {
        let pool = platform.stream_pool("by hand", &CudaStreamPool::new())?;
        let streams =
            (0..stages + 2).map(|_| pool.allocate("a stage")).collect::<Result<_, Error>>()?;
        Ok(Self { platform: platform.clone(), streams, launches })
    }

    fn tick(&mut self) -> Result<()> {
        let [source, stages @ .., end] = &self.streams[..] else { return Ok(()) };
        let mut data: Tensor<f32> = self.platform.tensor([256], source)?;
        let mut ready = source.record()?;
        for stream in stages {
            stream.wait(ready)?;
            if self.launches {
                stream.launch::<add_one>(data.len(), (&mut data,))?;
            }
            ready = stream.record()?;
        }
        Ok(end.wait(ready)?)
    }

    fn run(&mut self, ticks: u64) -> Result<()> {
        (0..ticks).try_for_each(|_| self.tick())?;
        wait_until_idle(self)
    }
}
