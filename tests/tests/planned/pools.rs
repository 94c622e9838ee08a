//! Stream pools with planned streams: pools are never merged, and a plan takes no more streams from a pool than
//! operators with streams of their own would.

use streamflow::prelude::*;
use streamflow::testing::explore;
use streamflow_tests::greedy::greedy;
use streamflow_tests::kernels::mixing::map;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, seen};

use super::nodes::*;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("pools_are_never_merged", two_pools)
        .both("a_pool_that_holds_a_stream_for_each_operator_is_large_enough", exact)
        .both("a_plan_leaves_room_for_streams_that_are_named_at_run_time", undeclared)
        .both("a_plan_uses_all_streams_of_a_small_pool_in_turn", small)
        .both("a_plan_does_with_one_set_where_an_operator_takes_what_is_left", greedy_operator)
        .plain("workers_that_ask_at_the_same_time_find_no_pool_exhausted", asking_at_once)
        .both("a_wrong_depth_is_an_error", wrong_depth)
}

const TICKS: u64 = 6;

graph! {
    struct TwoPools(noted: Noted, got: Got) {
        let ONE: CudaStreamPool = planned(1);
        let OTHER: CudaStreamPool = planned(1);
        #[streams(ONE)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(ONE)] let a: Step = Step::new(1, noted.clone());
        #[streams(OTHER)] let b: Step = Step::new(2, noted.clone());
        #[streams(ONE)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        a.out >> b.image;
        b.out >> sink.image;
    }
}

fn two_pools(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    TwoPools::new(platform, noted.clone(), Got::default())?.run()?;
    check(share(&noted, "a", "sink") && !share(&noted, "a", "b"), || {
        format!("{:?}", seen::all(&noted))
    })
}

/// An operator that allocates one more stream in a late tick, by a name that is made at run time.
#[operator]
struct Late {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    noted: Noted,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        note(&self.noted, cx, &stream);
        if cx.tick() < TICKS - 2 {
            let mut out = cx.tensor([LEN], &stream)?;
            stream.launch::<map>(LEN, (&mut out, image, 4, 0))?;
            return io.out.emit(out);
        }
        let other = cx.allocate_cuda_stream_named("late")?;
        let mut out = cx.tensor([LEN], &other)?;
        other.launch::<map>(LEN, (&mut out, image, 4, 0))?;
        io.out.set_cuda_stream(&other).emit(out)
    }
}

graph! {
    /// A graph with two operators that may run at the same time, and one that follows the first.
    struct Exact(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let b: Late = Late::new(noted.clone());
        #[streams(STREAMS)] let end: Sink = Sink::new(noted.clone(), got.clone());
        #[streams(STREAMS)] let other: Sink = Sink::new(noted, got);
        source.image >> (a.image, b.image);
        a.out >> end.image;
        b.out >> other.image;
    }
}

/// Checks that a pool of the size for a stream per operator is enough: five streams, and the one that is
/// allocated late.
fn exact(platform: &Platform) -> Result<(), Failed> {
    let (noted, got) = (Noted::default(), Got::default());
    // `greedy` fixes the order of ticks, so the results of both sinks are compared in the order of their arrival.
    let graph = Exact::new(platform, per_operator().max_size(6), noted.clone(), got.clone())?;
    greedy(graph)?.run()?;
    let expected = seen::take(&got);
    for depth in [1, 2, 4, 64] {
        let streams = planned(depth).max_size(6);
        greedy(Exact::new(platform, streams, noted.clone(), got.clone())?)?.run()?;
        check_equal(seen::take(&got), expected.clone())?;
    }
    Ok(())
}

/// Checks that the chain of `a` and `end`, which has two nodes, uses two streams alternately, and not more,
/// although the depth is larger.
fn undeclared(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    let streams = planned(8).max_size(6);
    Exact::new(platform, streams, noted.clone(), Got::default())?.run()?;
    let mut all: Vec<String> =
        ["a", "b", "end", "other"].iter().flat_map(|node| streams_of(&noted, node)).collect();
    all.sort_unstable();
    all.dedup();
    check(all.len() <= 4, || format!("{} streams for four operators", all.len()))
}

graph! {
    /// A graph with a chain of three operators.
    struct Small(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let b: Step = Step::new(2, noted.clone());
        #[streams(STREAMS)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        a.out >> b.image;
        b.out >> sink.image;
    }
}

/// Checks a pool with room for three sets of streams: three ticks may overlap, although the plan asks for more.
fn small(platform: &Platform) -> Result<(), Failed> {
    let noted = Noted::default();
    let graph = Small::new(platform, planned(64).max_size(4), noted.clone(), Got::default())?;
    greedy(graph)?.run()?;
    let streams = streams_of(&noted, "a");
    let differ =
        |ticks: &[String]| ticks[0] != ticks[1] && ticks[0] != ticks[2] && ticks[1] != ticks[2];
    check(streams.windows(3).all(differ), || format!("{streams:?}"))?;
    check(share(&noted, "a", "sink"), || format!("{:?}", seen::all(&noted)))
}

/// An operator that takes all streams that the pool has left, and works without more.
#[operator]
struct Taking {
    #[input]
    image: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    taken: usize,
}

impl Compute for Taking {
    fn compute(&mut self, io: TakingIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<map>(LEN, (&mut out, image, 1, 0))?;
        while cx.allocate_cuda_stream_named(&format!("more {}", self.taken)).is_ok() {
            self.taken += 1;
        }
        io.out.emit(out)
    }
}

graph! {
    struct Took(streams: CudaStreamPool, noted: Noted, got: Got) {
        let STREAMS: CudaStreamPool = streams;
        let OTHERS: CudaStreamPool = CudaStreamPool::new();
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let taking: Taking = Taking::new(0);
        #[streams(OTHERS)] let sink: Sink = Sink::new(noted, got);
        source.image >> a.image;
        a.out >> taking.image;
        taking.out >> sink.image;
    }
}

fn greedy_operator(platform: &Platform) -> Result<(), Failed> {
    let (expected, got) = (Got::default(), Got::default());
    let per_operator = per_operator().max_size(4);
    Took::new(platform, per_operator, Noted::default(), expected.clone())?.run()?;
    for depth in [1, 2, 4] {
        got.lock().map_err(|_| Failed::msg("a test has panicked"))?.clear();
        let streams = planned(depth).max_size(4);
        greedy(Took::new(platform, streams, Noted::default(), got.clone())?)?.run()?;
        check_equal(seen::all(&got), seen::all(&expected))?;
    }
    Ok(())
}

graph! {
    /// A graph with a chain of two operators, and two single operators. A pool with a stream for each operator thus
    /// has one stream to spare.
    struct Asking(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] #[when(count(TICKS))] let second: Source = Source::new();
        #[streams(STREAMS)] #[when(count(TICKS))] let third: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted.clone());
        #[streams(STREAMS)] let end: Step = Step::new(2, noted.clone());
        #[streams(STREAMS)] let b: Step = Step::new(3, noted.clone());
        #[streams(STREAMS)] let c: Step = Step::new(4, noted);
        source.image >> a.image;
        a.out >> end.image;
        end.out >> _;
        second.image >> b.image;
        b.out >> _;
        third.image >> c.image;
        c.out >> _;
    }
}

fn asking_at_once() -> Result<(), Failed> {
    for workers in [2, 4] {
        explore(|platform| {
            let mut graph = Asking::new(platform, planned(4).max_size(7), Noted::default())?;
            graph.workers(workers)?.run()?;
            Ok(())
        })?;
    }
    Ok(())
}

fn wrong_depth(platform: &Platform) -> Result<(), Failed> {
    for (depth, text) in [(0, "depth 0; give at least 1"), (65, "a depth above 64; give less")] {
        let made = TwoSteps::new(platform, planned(depth), Noted::default());
        let is_right = |error: &Error| matches!(error, Error::PoolDescription { .. });
        check_text(&check_error("new", made.map(drop), is_right)?, &["`STREAMS`", text])?;
    }
    Ok(())
}

graph! {
    struct TwoSteps(streams: CudaStreamPool, noted: Noted) {
        let STREAMS: CudaStreamPool = streams;
        #[streams(STREAMS)] #[when(count(TICKS))] let source: Source = Source::new();
        #[streams(STREAMS)] let a: Step = Step::new(1, noted);
        source.image >> a.image;
        a.out >> _;
    }
}
