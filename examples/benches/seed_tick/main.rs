//! The host's time for a tick of NVIDIA's CudaStreamPool example: wired by hand, and as a graph.
//!
//! ```text
//! cargo bench -p streamflow-examples --bench seed_tick -- [--ptx FILE [--cpp LIB]] [--platform host|cuda] [--size RxC]...
//! ```
//!
//! The measurements are those of a hand-written CUDA C++ program with two buffers of each kind, streams and events: the host's
//! time per tick while 200 ticks are queued, the wall time per tick until the device has done them, and the latency of one tick.
//! The results are medians of 15 batches, after a warm-up; the latency is over 500 ticks. The forms take turns, so that a change
//! of the machine's speed affects all forms. Ratios are medians of the ratios of the turns.
//!
//! In the measurement `queued`, the host reads after all ticks are queued, as in the C++ program. In `read`, the host reads each
//! tick one tick later, as the example does; the graph of `read` also waits with `stream_done`. A graph's latency is that of a
//! run of one tick, with its start and end.
//!
//! With `--ptx`, the forms also run with the kernels of that file: `source(float*, int)` and
//! `mulsum(const float*, const float*, float*, int)` with mangled C++ names, so that both programs run the same PTX.
//! With `--cpp`, the C++ program takes turns too, as the library that `cpp.cu` is compiled to: a separate process could
//! run on another core, at another speed.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

mod cpp;
mod foreign;
mod forms;

use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, PlatformArgs};
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_examples::seed_app::{HandWired, Streams};
use streamflow_examples::seed_graph::{CombineAndSum, CudaStreamApp, Source};

use cpp::Cpp;
use foreign::{Foreign, ForeignCombine, ForeignSource, Functions};
use forms::{ByHand, Form, Graph, Last, Named, Readable, Reading};

/// Measures a tick of NVIDIA's CudaStreamPool example, by hand and as a graph.
#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
    /// PTX file with kernels, for additional measurements
    #[arg(long)]
    ptx: Option<std::path::PathBuf>,
    /// Library of the C++ program, to measure in turns with the kernels of `--ptx`
    #[arg(long, requires = "ptx")]
    cpp: Option<std::path::PathBuf>,
    /// Number of batches of 200 ticks
    #[arg(long, default_value_t = 15)]
    batches: usize,
    /// Rows and columns, for example 128x256
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
        _ => Err(format!("`{text}` is not a size; write rows and columns, for example 128x256")),
    }
}

const TICKS: u64 = 200;
const LATENCIES: usize = 500;

graph! {
    struct Queued(rows: usize, cols: u32, count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);
        #[streams(STREAMS)] #[when(count(count))] let source1: Source = Source::new(rows, cols);
        #[streams(STREAMS)] #[when(count(count))] let source2: Source = Source::new(rows, cols);
        #[streams(STREAMS)] let combine_and_sum: CombineAndSum = CombineAndSum::new();
        #[streams(STREAMS)] let rx: Last = Last::new(count);
        source1.image >> combine_and_sum.in1;
        source2.image >> combine_and_sum.in2;
        combine_and_sum.out >> rx.tensor;
    }
}

graph! {
    struct QueuedForeign(rows: usize, cols: usize, count: u64, f: Functions) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);
        #[streams(STREAMS)] #[when(count(count))]
        let source1: ForeignSource = ForeignSource::new([rows, cols], f.clone());
        #[streams(STREAMS)] #[when(count(count))]
        let source2: ForeignSource = ForeignSource::new([rows, cols], f.clone());
        #[streams(STREAMS)] let combine_and_sum: ForeignCombine = ForeignCombine::new(f);
        #[streams(STREAMS)] let rx: Last = Last::new(count);
        source1.image >> combine_and_sum.in1;
        source2.image >> combine_and_sum.in2;
        combine_and_sum.out >> rx.tensor;
    }
}

graph! {
    struct ReadForeign(rows: usize, cols: usize, count: u64, f: Functions, report: Report<f32>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);
        #[streams(STREAMS)] #[when(count(count))]
        let source1: ForeignSource = ForeignSource::new([rows, cols], f.clone());
        #[streams(STREAMS)] #[when(count(count))]
        let source2: ForeignSource = ForeignSource::new([rows, cols], f.clone());
        #[streams(STREAMS)] let combine_and_sum: ForeignCombine = ForeignCombine::new(f);
        #[streams(STREAMS)] #[when(stream_done(tensor))]
        let rx: Deliver<f32> = Deliver::new(report);
        source1.image >> combine_and_sum.in1;
        source2.image >> combine_and_sum.in2;
        combine_and_sum.out >> rx.tensor;
    }
}

impl Readable for Queued {
    fn run(&mut self) -> Result<()> {
        Ok(Self::run(self).map(drop)?)
    }

    fn last(&self) -> &Last {
        self.rx()
    }
}

impl Readable for QueuedForeign {
    fn run(&mut self) -> Result<()> {
        Ok(Self::run(self).map(drop)?)
    }

    fn last(&self) -> &Last {
        self.rx()
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

/// Returns the report callback of the forms that read. The callback discards the values.
fn discard() -> Report<f32> {
    Box::new(|_, values| {
        std::hint::black_box(values);
        Ok(())
    })
}

fn run(args: &Args) -> Result<(), Failure> {
    let platform = args.platform.open()?;
    let p = &platform;
    let ptx = args.ptx.as_ref().map(std::fs::read).transpose()?;
    let default = [(1, 256), (128, 256), (2160, 3840)];
    let sizes = if args.size.is_empty() { &default[..] } else { &args.size };
    for &(rows, cols) in sizes {
        let n = rows as usize;
        println!("{}, {rows} x {cols}, microseconds per tick", platform.name());
        // The block ends the two forms, so that their streams are free before the next two forms allocate streams.
        {
            let mut by_hand = HandWired::new(p, n, cols, Streams::Pool)?;
            let graph = |count| Queued::new(p, n, cols, count);
            let mut graph = Graph::new(graph(TICKS)?, graph(1)?);
            let mut by_hand = ByHand(|| Ok(by_hand.tick()?));
            forms::compare("queued", args.batches, named(&mut by_hand, &mut graph))?;
        }
        if let Some(ptx) = &ptx {
            same_ptx(p, args, ptx, (rows, cols))?;
        }
        let mut by_hand = HandWired::new(p, n, cols, Streams::Pool)?;
        let graph = |count| CudaStreamApp::new(p, n, cols, count, false, discard());
        let (mut many, mut one) = (graph(TICKS)?, graph(1)?);
        let mut graph =
            Reading::graph(move || Ok(many.run().map(drop)?), move || Ok(one.run().map(drop)?));
        let mut by_hand = Reading::by_hand(|| Ok(by_hand.tick()?));
        forms::compare("read", args.batches, named(&mut by_hand, &mut graph))?;
    }
    Ok(())
}

/// Returns the two forms that use streamflow, with their names.
fn named<'a>(by_hand: &'a mut dyn Form, graph: &'a mut dyn Form) -> [Named<'a>; 2] {
    [("by hand", by_hand), ("graph", graph)]
}

fn same_ptx(
    p: &Platform,
    args: &Args,
    ptx: &[u8],
    (rows, cols): (u32, u32),
) -> Result<(), Failure> {
    let (n, m) = (rows as usize, cols as usize);
    let f = Functions::new(p, ptx)?;
    {
        let mut by_hand = Foreign::new(p, [n, m], f.clone())?;
        let graph = |count| QueuedForeign::new(p, n, m, count, f.clone());
        let mut graph = Graph::new(graph(TICKS)?, graph(1)?);
        let mut by_hand = ByHand(|| by_hand.tick());
        let [by_hand, graph] = named(&mut by_hand, &mut graph);
        let name = "same PTX, queued";
        match &args.cpp {
            None => forms::compare(name, args.batches, [by_hand, graph])?,
            Some(cpp) => {
                let library = cpp::open(cpp)?;
                let mut cpp = Cpp::new(library, rows, cols)?;
                forms::compare(name, args.batches, [("C++", &mut cpp), by_hand, graph])?;
            }
        }
    }
    let mut by_hand = Foreign::new(p, [n, m], f.clone())?;
    let graph = |count| ReadForeign::new(p, n, m, count, f.clone(), discard());
    let (mut many, mut one) = (graph(TICKS)?, graph(1)?);
    let mut graph =
        Reading::graph(move || Ok(many.run().map(drop)?), move || Ok(one.run().map(drop)?));
    let mut by_hand = Reading::by_hand(|| by_hand.tick());
    forms::compare("same PTX, read", args.batches, named(&mut by_hand, &mut graph))?;
    Ok(())
}
