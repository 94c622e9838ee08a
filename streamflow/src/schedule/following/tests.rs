//! Tests of how often workers check which further nodes end after nodes have ended.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::rc::Rc;

use crate::platform::Platform;
use crate::prelude::*;
use crate::turns::hooks;

/// A source that sends the number of its tick.
#[operator]
struct Counts {
    #[output]
    n: u64,
}

impl Compute for Counts {
    fn compute(&mut self, io: CountsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick())
    }
}

/// An operator that holds numbers back until its `flush`, which sends their sum.
#[operator(flush)]
struct Sums {
    #[input]
    n: u64,
    #[output]
    sum: u64,
    #[state]
    held: u64,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.held += io.n.receive().into_data();
        Ok(())
    }
}

impl Flush for Sums {
    fn flush(&mut self, io: SumsFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.n.discard();
        io.sum.emit(std::mem::take(&mut self.held))?;
        Ok(Flushed::Done)
    }
}

/// A sink that stores the numbers received.
#[operator]
struct Keeps {
    #[input]
    n: u64,
    kept: Vec<u64>,
}

impl Compute for Keeps {
    fn compute(&mut self, io: KeepsIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.kept.push(io.n.receive().into_data());
        Ok(())
    }
}

/// The number of ticks of the source `long`.
const TICKS: u64 = 1000;

graph! {
    struct Beside {
        #[when(count(1))] let short: Counts = Counts::new();
        let first: Keeps = Keeps::new(Vec::new());
        #[when(count(TICKS))] let long: Counts = Counts::new();
        let sums: Sums = Sums::new();
        let last: Keeps = Keeps::new(Vec::new());
        short.n >> first.n;
        long.n >> sums.n;
        sums.sum >> last.n;
    }
}

/// A source that sends the number of its tick, and fails after `LONG` ticks if nobody has stopped the run.
#[operator]
struct Busy {
    #[output]
    n: u64,
}

impl Compute for Busy {
    fn compute(&mut self, io: BusyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == LONG {
            return Err(Failure::msg("the flush never begins"));
        }
        io.n.emit(cx.tick())
    }
}

/// A number of ticks that is large enough for each other thread of the system to run meanwhile.
const LONG: u64 = 1_000_000;

/// A source that sends a tensor.
#[operator(streams(work))]
struct Fills {
    #[output]
    image: Tensor<u32>,
}

impl Compute for Fills {
    fn compute(&mut self, io: FillsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([4], &stream)?;
        stream.fill_bytes(&mut image, 0)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that takes the messages of either input. Its `flush` sends the number of images received.
#[operator(flush)]
struct Either {
    #[input(optional)]
    image: &Tensor<u32>,
    #[input(optional)]
    n: u64,
    #[output]
    images: u64,
    #[state]
    got: u64,
}

impl Compute for Either {
    fn compute(&mut self, io: EitherIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        self.got += u64::from(image.is_some());
        io.n.discard();
        Ok(())
    }
}

impl Flush for Either {
    fn flush(&mut self, io: EitherFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.image.discard();
        io.n.discard();
        io.images.emit(std::mem::take(&mut self.got))?;
        Ok(Flushed::Done)
    }
}

/// A sink that stores the numbers received, and stops the run.
#[operator]
struct Stops {
    #[input]
    n: u64,
    kept: Vec<u64>,
}

impl Compute for Stops {
    fn compute(&mut self, io: StopsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.kept.push(io.n.receive().into_data());
        cx.stop_graph();
        Ok(())
    }
}

graph! {
    struct OneOfTwo {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(count(1))] let once: Fills = Fills::new();
        let busy: Busy = Busy::new();
        let eats: Keeps = Keeps::new(Vec::new());
        #[streams(STREAMS)] #[when(any(count(1), stream_done(image)))]
        let either: Either = Either::new();
        let last: Stops = Stops::new(Vec::new());
        once.image >> either.image;
        busy.n >> eats.n;
        #[copy] #[policy(pop)] busy.n >> either.n;
        either.images >> last.n;
    }
}

/// In the beginning, a message of either input is enough for `either`. After its first tick it waits for an image only, and
/// `once` sends no more messages.
#[test]
fn a_node_that_has_lost_one_of_several_conditions_is_flushed() {
    for workers in [None, Some(1), Some(2)] {
        let mut graph = OneOfTwo::new(&Platform::host().build().unwrap()).unwrap();
        if let Some(workers) = workers {
            graph.workers(workers).unwrap();
        }
        graph.run().unwrap();
        assert_eq!(graph.last().kept, [1], "{workers:?} workers");
    }
}

/// Counts how often the calling thread reaches a named point of the code.
fn count(point: &'static str, counted: Rc<Cell<u64>>) {
    hooks::at(point, move || {
        counted.set(counted.get() + 1);
        count(point, counted);
    });
}

/// `sums` waits for a message after each of its ticks. Nothing can follow from this wait as long as `long` goes on.
#[test]
fn a_wait_from_which_nothing_can_follow_asks_nothing() {
    let counted = Rc::new(Cell::new(0));
    count("a worker asks what follows from the end of nodes", counted.clone());
    let mut graph = Beside::new(&Platform::host().build().unwrap()).unwrap();
    let done = graph.workers(1).unwrap().run();
    hooks::clear();
    done.unwrap();
    assert_eq!(graph.last().kept, [TICKS * (TICKS - 1) / 2]);
    assert!((1..10).contains(&counted.get()), "{counted:?} questions");
}
