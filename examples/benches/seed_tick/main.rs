//! What a tick of the seed's application costs the host: wired by hand, and as a graph.
//!
//! ```text
//! cargo bench -p streamflow-examples --bench seed_tick -- [--ptx FILE [--cpp LIB]] [--platform host|cuda] [--size RxC]...
//! ```
//!
//! The measures are those of a hand-written CUDA C++ program with two buffers of each kind, streams
//! and events: the host's time per tick while 200 ticks are queued, the wall time per tick until the
//! device has done them, and the latency of one tick. Medians of 15 batches, after warm-up; latency
//! over 500 ticks. The forms take turns, so that a machine that changes its speed changes all, and ratios
//! are medians of those of the turns.
//!
//! `queued`: nobody reads before all ticks are queued, as in the C++ program. `read`: each tick is read
//! on the host one tick later, as the example does it; its graph also waits with `stream_done`. A
//! graph's latency is that of a run of one tick, with its start and end.
//!
//! With `--ptx` the kernels are also those of that file: `source(float*, int)` and
//! `mulsum(const float*, const float*, float*, int)` as C++ mangles them, so that both programs run
//! the same PTX. With `--cpp` that program takes turns, too, as the library that `cpp.cu` makes of it: a process
//! of its own may run on another core, at another speed.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

mod cpp;
mod foreign;
mod forms;

use std::process::ExitCode;

use clap::Parser;
use streamflow::prelude::*;
use streamflow_examples::cli::{self, Failure, PlatformArgs};
use streamflow_examples::deliver::{Deliver, Report};
use streamflow_examples::seed_app::{HandWired, Streams};
use streamflow_examples::seed_graph::{CombineAndSum, CudaStreamApp, Source};

use cpp::Cpp;
use foreign::{Foreign, ForeignCombine, ForeignSource, Functions};
use forms::{ByHand, Form, Graph, Last, Named, Readable, Reading};

/// Measures a tick of the seed's application, by hand and as a graph.
#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,
    /// PTX with more kernels to run, beside our own
    #[arg(long)]
    ptx: Option<std::path::PathBuf>,
    /// The C++ program as a library, to take turns with the kernels of `--ptx`
    #[arg(long, requires = "ptx")]
    cpp: Option<std::path::PathBuf>,
    /// How many times 200 ticks are queued
    #[arg(long, default_value_t = 15)]
    batches: usize,
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
    fn last(&self) -> &Last {
        self.rx()
    }
}

impl Readable for QueuedForeign {
    fn last(&self) -> &Last {
        self.rx()
    }
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

/// The sink of the forms that read: that the values were there is all that counts.
fn looked_at() -> Report<f32> {
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
        // Each pair gives its streams back before the next one takes some.
        {
            let mut by_hand = HandWired::new(p, n, cols, Streams::Pool)?;
            let graph = |count| Queued::new(p, n, cols, count);
            let mut graph = Graph::new(graph(TICKS)?, graph(1)?);
            let mut by_hand = ByHand(|| by_hand.tick());
            forms::compare("queued", args.batches, ours(&mut by_hand, &mut graph))?;
        }
        if let Some(ptx) = &ptx {
            same_ptx(p, args, ptx, (rows, cols))?;
        }
        let mut by_hand = HandWired::new(p, n, cols, Streams::Pool)?;
        let graph = |count| CudaStreamApp::new(p, n, cols, count, looked_at());
        let mut graph = Reading::graph(graph(TICKS)?, graph(1)?);
        let mut by_hand = Reading::by_hand(|| by_hand.tick());
        forms::compare("read", args.batches, ours(&mut by_hand, &mut graph))?;
    }
    Ok(())
}

/// The two forms of the application that are ours.
fn ours<'a>(by_hand: &'a mut dyn Form, graph: &'a mut dyn Form) -> [Named<'a>; 2] {
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
        let [by_hand, graph] = ours(&mut by_hand, &mut graph);
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
    let graph = |count| ReadForeign::new(p, n, m, count, f.clone(), looked_at());
    let mut graph = Reading::graph(graph(TICKS)?, graph(1)?);
    let mut by_hand = Reading::by_hand(|| by_hand.tick());
    forms::compare("same PTX, read", args.batches, ours(&mut by_hand, &mut graph))?;
    Ok(())
}
