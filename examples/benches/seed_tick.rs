//! What a tick of the seed's application costs the host, wired by hand.
//!
//! ```text
//! cargo bench -p streamflow-examples --bench seed_tick -- [--ptx FILE] [--platform host|cuda] [--size RxC]...
//! ```
//!
//! The measures are those of a hand-written CUDA C++ program with two buffers of each kind, streams
//! and events: the host's time per tick while 200 ticks are queued, the wall time per tick until the
//! device has done them, and the latency of one tick. Medians of 15 batches, after warm-up; latency
//! over 500 ticks.
//!
//! With `--ptx` the kernels are those of that file: `source(float*, int)` and
//! `mulsum(const float*, const float*, float*, int)` as C++ mangles them, so that both programs run
//! the same PTX.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use streamflow::kernel::Function;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, Failure, PlatformArgs};
use streamflow_examples::seed_app::{HandWired, Streams};

/// Measures a tick of the seed's application, wired by hand.
#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
    /// PTX with the kernels to run instead of our own
    #[arg(long)]
    ptx: Option<std::path::PathBuf>,
    /// Rows and columns, as 128x256
    #[arg(long, value_parser = size)]
    size: Vec<(u32, u32)>,
    /// Added by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('x').map(|(rows, cols)| (rows.parse(), cols.parse()));
    match parts {
        Some((Ok(rows), Ok(cols))) if rows > 0 && cols > 0 => Ok((rows, cols)),
        _ => Err(format!("`{text}` is not of the form 128x256")),
    }
}

const TICKS: usize = 200;
const BATCHES: usize = 15;
const LATENCIES: usize = 500;

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<(), Failure> {
    let platform = args.platform.open()?;
    let ptx = args.ptx.as_ref().map(std::fs::read).transpose()?;
    let default = [(1, 256), (128, 256), (2160, 3840)];
    let sizes = if args.size.is_empty() { &default[..] } else { &args.size };
    for &(rows, cols) in sizes {
        let mut app = HandWired::new(&platform, rows as usize, cols, Streams::Pool)?;
        report("streamflow", &platform, rows, cols, || app.tick())?;
        if let Some(ptx) = &ptx {
            let mut app = Foreign::new(&platform, rows as usize, cols, ptx)?;
            report("same PTX", &platform, rows, cols, || app.tick())?;
        }
    }
    Ok(())
}

fn report(
    name: &str,
    platform: &Platform,
    rows: u32,
    cols: u32,
    mut tick: impl FnMut() -> Result<Download<f32>>,
) -> Result<()> {
    let (mut host, mut wall, mut latency) = (Vec::new(), Vec::new(), Vec::new());
    for batch in 0..=BATCHES {
        let start = Instant::now();
        let mut last = tick()?;
        for _ in 1..TICKS {
            last = tick()?;
        }
        let queued = start.elapsed();
        last.wait_blocking()?;
        let done = start.elapsed();
        // The first is the warm-up.
        if batch > 0 {
            host.push(queued.as_secs_f64() * 1e6 / TICKS as f64);
            wall.push(done.as_secs_f64() * 1e6 / TICKS as f64);
        }
    }
    for _ in 0..LATENCIES {
        let start = Instant::now();
        tick()?.wait_blocking()?;
        latency.push(start.elapsed().as_secs_f64() * 1e6);
    }
    println!(
        "{name:<10} {:<4} {rows:>5} x {cols:<5} host {:8.2}  wall {:8.2}  latency p50 {:8.2} p99 {:8.2} us",
        platform.name(),
        quantile(&mut host, 0.5),
        quantile(&mut wall, 0.5),
        quantile(&mut latency, 0.5),
        quantile(&mut latency, 0.99),
    );
    Ok(())
}

fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * q).round() as usize]
}

/// The application with kernels of foreign PTX.
struct Foreign {
    platform: Platform,
    rows: usize,
    cols: usize,
    streams: [CudaStream; 4],
    source: Function,
    mulsum: Function,
}

impl Foreign {
    fn new(platform: &Platform, rows: usize, cols: u32, ptx: &[u8]) -> Result<Self> {
        // SAFETY: `--ptx` names a file with PTX, which is text.
        let module = unsafe { platform.module(device(0), ptx) }?;
        let pool = platform.stream_pool("STREAMS", &CudaStreamPool::new().max_size(5))?;
        let names = ["source1", "source2", "combine_and_sum", "rx"];
        let [a, b, c, d] = names.map(|name| pool.allocate(name));
        Ok(Self {
            platform: platform.clone(),
            rows,
            cols: cols as usize,
            streams: [a?, b?, c?, d?],
            source: module.function("_Z6sourcePfi")?,
            mulsum: module.function("_Z6mulsumPKfS0_Pfi")?,
        })
    }

    fn tick(&mut self) -> Result<Download<f32>> {
        let [source1, source2, combine, sink] = &self.streams;
        let (a, b) = (self.fill(source1)?, self.fill(source2)?);
        let mut sums = self.platform.tensor([self.rows], combine)?;
        let grid = Grid::blocks(self.rows).threads(256);
        // SAFETY: `mulsum(const float* a, const float* b, float* out, int cols)` reads rows x cols
        // elements of each image and writes one per block.
        unsafe {
            combine.launch_function(&self.mulsum, grid, |args| {
                args.read_address("a", &a);
                args.read_address("b", &b);
                args.write_address("out", &mut sums);
                args.scalar(self.cols as i32);
            })
        }?;
        self.platform.download(&sums, sink)
    }

    fn fill(&self, stream: &CudaStream) -> Result<Tensor<f32>> {
        let mut image = self.platform.tensor([self.rows, self.cols], stream)?;
        let len = image.len();
        // SAFETY: `source(float* out, int n)` writes the first n elements.
        unsafe {
            stream.launch_function(&self.source, Grid::elements(len).threads(256), |args| {
                args.write_address("out", &mut image);
                args.scalar(len as i32);
            })
        }?;
        Ok(image)
    }
}
