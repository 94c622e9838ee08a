//! Nodes that wait for memory of one allocator. `memory_available` reserves no memory, so such nodes share a
//! worker.

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::testing::{Explorer, explore};
use streamflow_tests::{Failed, Suite, check, check_text};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .plain("nodes_of_one_worker_wait_for_the_same_memory", on_one_worker)
        .plain("nodes_of_two_workers_may_find_the_same_memory", on_two_workers)
}

const TICKS: u64 = 4;

#[operator(streams(work))]
struct Filler {
    #[output]
    data: Tensor<f32>,
    memory: Allocator,
}

impl Compute for Filler {
    fn compute(&mut self, io: FillerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = self.memory.tensor([100], &stream)?;
        stream.fill_bytes(&mut data, 1)?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

#[operator]
struct Reader {
    #[input]
    data: Tensor<f32>,
    count: u64,
}

impl Compute for Reader {
    fn compute(&mut self, io: ReaderIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.data.discard();
        self.count += 1;
        Ok(())
    }
}

macro_rules! fillers {
    ($name:ident, $first:ident, $second:ident) => {
        graph! {
            struct $name(memory: Allocator) {
                #[when(count(TICKS), memory_available(memory, blocks(1)))] #[worker($first)]
                let a: Filler = Filler::new(memory.clone());
                #[when(count(TICKS), memory_available(memory, blocks(1)))] #[worker($second)]
                let b: Filler = Filler::new(memory);
                let of_a: Reader = Reader::new(0);
                let of_b: Reader = Reader::new(0);
                a.data >> of_a.data;
                b.data >> of_b.data;
            }
        }
    };
}

fillers!(Together, fills, fills);
fillers!(Apart, fills, more);

/// Returns an allocator with a single block.
fn small(platform: &Platform) -> Result<Allocator> {
    Ok(platform.allocator("SMALL", device(0), MemoryLimits::blocks(400, 1))?)
}

fn on_one_worker() -> Result<(), Failed> {
    Ok(explore(|platform| {
        for workers in [1, 2] {
            let mut graph = Together::new(platform, small(platform)?)?;
            graph.workers(workers)?.run()?;
            let counts = [graph.of_a().count, graph.of_b().count];
            assert_eq!(counts, [TICKS; 2]);
        }
        let mut graph = Apart::new(platform, small(platform)?)?;
        graph.workers(Workers::none())?.run()?;
        Ok(())
    })?)
}

/// Checks nodes on two workers. This is also the control of the other test, which would fail in the orders
/// explored here.
fn on_two_workers() -> Result<(), Failed> {
    let found = Explorer::new().run(|platform| {
        Apart::new(platform, small(platform)?)?.workers(1)?.run()?;
        Ok(())
    })?;
    check(found.failing.is_some(), || format!("no seed finds it: {found}"))?;
    check_text(&found.to_string(), &["`SMALL` is exhausted"])
}
