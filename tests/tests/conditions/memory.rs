//! `memory_available`: a node waits for free memory of an allocator instead of failing.

use std::sync::mpsc;
use std::thread;

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::prelude::*;
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check_equal, check_error};

use super::operators::{ms, simulated};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .seeded("a_node_waits_until_its_memory_is_given_back", given_back)
        .both("memory_that_another_thread_gives_back_wakes_the_scheduler", other_thread)
}

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
        stream.fill_bytes(&mut data, cx.tick() as u8)?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

#[operator]
struct Reader {
    #[input]
    data: &Tensor<f32>,
    seen: Seen<(u64, u8)>,
}

impl Compute for Reader {
    fn compute(&mut self, io: ReaderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let first = cx.download(data, &stream)?.wait_blocking()?[0];
        push_seen(&self.seen, (ms(cx), first.to_bits() as u8));
        Ok(())
    }
}

const LIMITS: MemoryLimits = MemoryLimits::blocks(400, 2);

macro_rules! filled {
    ($name:ident, $memory:ident, $($condition:tt)*) => {
        graph! {
            struct $name($memory: Allocator, seen: Seen<(u64, u8)>) {
                #[when(count(5) $($condition)*)]
                let filler: Filler = Filler::new($memory);
                #[when(periodic(10ms))]
                let reader: Reader = Reader::new(seen);
                #[capacity(4)]
                filler.data >> reader.data;
            }
        }
    };
}

filled!(Waits, memory, , memory_available(memory, blocks(1)));
filled!(WaitsForBytes, memory, , memory_available(memory, bytes(400)));
filled!(Fails, memory,);

fn given_back(seed: u64) -> Result<(), Failed> {
    let seen = Seen::default();
    let make = |limits| -> Result<(Platform, Allocator)> {
        let platform = simulated(seed)?.0;
        let allocator = platform.allocator("SMALL", device(0), limits)?;
        Ok((platform, allocator))
    };
    let all: Vec<(u64, u8)> = (0..5).map(|tick| (10 * u64::from(tick), tick)).collect();
    let (platform, memory) = make(LIMITS)?;
    Waits::new(&platform, memory, seen.clone())?.run()?;
    check_equal(take(&seen), all.clone())?;
    for limits in [LIMITS, MemoryLimits::stream_ordered().max_size(1024)] {
        let (platform, memory) = make(limits)?;
        WaitsForBytes::new(&platform, memory, seen.clone())?.run()?;
        check_equal(take(&seen), all.clone())?;
    }
    // Without the condition the source fails when both blocks of the allocator are in waiting messages.
    let (platform, memory) = make(LIMITS)?;
    let run = Fails::new(&platform, memory, seen.clone())?.run();
    check_error("no memory", run, |error| error.to_string().contains("`SMALL` is exhausted"))?;
    Ok(())
}

graph! {
    struct One(memory: Allocator, seen: Seen<(u64, u8)>) {
        #[when(count(3), memory_available(memory, blocks(2)))]
        let filler: Filler = Filler::new(memory);
        let reader: Reader = Reader::new(seen);
        filler.data >> reader.data;
    }
}

/// Checks that another thread gives a block back just when the graph begins to wait for it, or already waits.
fn other_thread(platform: &Platform) -> Result<(), Failed> {
    for round in 0..50 {
        let memory = platform.allocator("SMALL", device(0), LIMITS)?;
        let stream = platform.stream_pool("HELD", &CudaStreamPool::new())?.allocate("held")?;
        let held: Tensor<f32> = memory.tensor([100], &stream)?;
        let seen = Seen::default();
        let mut graph = One::new(platform, memory.clone(), seen.clone())?;
        let (begin, begins) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                let _begins = begins.recv();
                (0..round * 1000).for_each(|_| std::hint::spin_loop());
                drop(held);
            });
            let _sent = begin.send(());
            graph.run()
        })?;
        check_equal(take(&seen).iter().map(|(_, value)| *value).collect(), vec![0, 1, 2])?;
        check_equal(memory.used(), 0)?;
    }
    Ok(())
}
