//! Operators with branches: a tick sends on at most one of the outputs that are declared as `#[output(branch)]`.

mod stalls;

use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::testing::OperatorHarness;
use streamflow_tests::each_order::in_each_order;
use streamflow_tests::kernels::fill;
use streamflow_tests::{Failed, Suite, check_equal, runs};

pub(crate) fn suite() -> Suite {
    stalls::add(Suite::new())
        .both("each_tensor_goes_along_its_branch", each_branch)
        .both("a_tick_may_choose_no_branch", no_branch)
        .both("a_flush_chooses_a_branch", flushed)
        .both("a_harness_takes_from_the_chosen_branch", harness)
        .plain("branches_join_in_each_order::host", || {
            in_each_order(
                2,
                |platform| Sorted::new(platform, 7),
                |graph, done| {
                    done.map(drop)?;
                    judge(graph)
                },
            )
        })
}

/// A source of tensors with 1 to 3 elements, each the number of the tick.
#[operator(streams(fill))]
struct Tensors {
    #[output]
    out: Tensor<f32>,
}

impl Compute for Tensors {
    fn compute(&mut self, io: TensorsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let length = 1 + cx.tick() as usize % 3;
        let mut out = cx.tensor([length], &stream)?;
        stream.launch::<fill>(length, (&mut out, cx.tick() as f32))?;
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

/// Sends tensors of one element along one branch, those of two along another one, and drops all others.
#[operator]
struct Route<T: Element> {
    #[input]
    tensor: Tensor<T>,
    #[output(branch)]
    small: Tensor<T>,
    #[output(branch)]
    large: Tensor<T>,
}

impl<T: Element> Compute for Route<T> {
    fn compute(&mut self, io: RouteIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, _) = io.tensor.receive().receive_cuda_stream(cx)?;
        match tensor.len() {
            1 => io.branch.small().emit(tensor),
            2 => io.branch.large().emit(tensor),
            _ => Ok(()),
        }
    }
}

/// Keeps the values of both branches, each with the number of elements.
#[operator]
struct Join {
    #[input(optional)]
    small: &Tensor<f32>,
    #[input(optional)]
    large: &Tensor<f32>,
    kept: Vec<Vec<f32>>,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (small, stream) = io.small.receive().receive_cuda_stream(cx)?;
        let (large, _) = io.large.receive().receive_cuda_stream(cx)?;
        for tensor in [small, large].into_iter().flatten() {
            self.kept.push(cx.download(tensor, &stream)?.wait_blocking()?.to_vec());
        }
        Ok(())
    }
}

graph! {
    struct Sorted(count: u64) {
        #[when(count(count))]
        let tensors: Tensors = Tensors::new();
        let route: Route<f32> = Route::new();
        let join: Join = Join::new(Vec::new());
        tensors.out >> route.tensor;
        route.small >> join.small;
        route.large >> join.large;
    }
}

runs!(Sorted);

/// Checks the tensors of 7 ticks. The order at two optional inputs is that of the scheduler.
fn judge(graph: &mut Sorted) -> Result<(), Failed> {
    let mut kept = std::mem::take(&mut graph.join_mut().kept);
    kept.sort_by(|a, b| a[0].total_cmp(&b[0]));
    check_equal(kept, vec![vec![0.0], vec![1.0, 1.0], vec![3.0], vec![4.0, 4.0], vec![6.0]])
}

fn each_branch(platform: &Platform) -> Result<(), Failed> {
    for workers in [Workers::none(), Workers::new(2)] {
        let mut graph = Sorted::new(platform, 7)?;
        graph.workers(workers)?;
        for _ in 0..2 {
            let report = graph.run()?;
            judge(&mut graph)?;
            check_equal(report.nodes.iter().all(|node| node.silent_outputs.is_empty()), true)?;
        }
    }
    Ok(())
}

/// Sends even numbers along one branch and odd ones along another one, up to `last`.
#[operator]
struct Parity {
    #[input]
    n: &u64,
    #[output(branch)]
    even: u64,
    #[output(branch)]
    odd: u64,
    last: u64,
}

impl Compute for Parity {
    fn compute(&mut self, io: ParityIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        match n {
            n if n > self.last => Ok(()),
            n if n.is_multiple_of(2) => io.branch.even().emit(n),
            n => io.branch.odd().emit(n),
        }
    }
}

/// A source of the multiples of `by`.
#[operator]
struct Count {
    #[output]
    n: u64,
    by: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.n.emit(cx.tick() * self.by)
    }
}

#[operator]
struct List {
    #[input]
    n: &u64,
    got: Vec<u64>,
}

impl Compute for List {
    fn compute(&mut self, io: ListIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.got.push(*io.n.receive().into_data());
        Ok(())
    }
}

graph! {
    struct Lists(by: u64, last: u64) {
        #[when(count(4))]
        let count: Count = Count::new(by);
        let parity: Parity = Parity::new(last);
        let even: List = List::new(Vec::new());
        let odd: List = List::new(Vec::new());
        count.n >> parity.n;
        parity.even >> even.n;
        parity.odd >> odd.n;
    }
}

/// Checks that a tick may send nothing, and that a branch counts as silent only if no branch was chosen.
fn no_branch(platform: &Platform) -> Result<(), Failed> {
    let silent = |by, last| -> Result<_, Failed> {
        let mut graph = Lists::new(platform, by, last)?;
        let report = graph.run()?;
        let got = [graph.even().got.clone(), graph.odd().got.clone()];
        Ok((got, report.nodes[1].silent_outputs.clone()))
    };
    check_equal(silent(1, 2)?, ([vec![0, 2], vec![1]], Vec::new()))?;
    check_equal(silent(2, 4)?, ([vec![0, 2, 4], Vec::new()], Vec::new()))?;
    let mut graph = Unread::new(platform)?;
    check_equal(graph.run()?.nodes[1].silent_outputs.clone(), vec!["even", "odd"])
}

/// A source of the number 9.
#[operator]
struct Nine {
    #[output]
    n: u64,
}

impl Compute for Nine {
    fn compute(&mut self, io: NineIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.n.emit(9)
    }
}

graph! {
    struct Unread {
        #[when(count(2))]
        let nine: Nine = Nine::new();
        let parity: Parity = Parity::new(8);
        let even: List = List::new(Vec::new());
        let odd: List = List::new(Vec::new());
        nine.n >> parity.n;
        parity.even >> even.n;
        parity.odd >> odd.n;
    }
}

/// Holds each number back, and sends the sum along one of two branches when its input has ended.
#[operator(flush)]
struct Sum {
    #[input]
    n: u64,
    #[output(branch)]
    even: u64,
    #[output(branch)]
    odd: u64,
    #[state]
    sum: u64,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sum += io.n.receive().into_data();
        Ok(())
    }
}

impl Flush for Sum {
    fn flush(&mut self, io: SumFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        io.n.discard();
        match self.sum {
            sum if sum.is_multiple_of(2) => io.branch.even().emit(sum)?,
            sum => io.branch.odd().emit(sum)?,
        }
        Ok(Flushed::Done)
    }
}

graph! {
    struct Sums(count: u64) {
        #[when(count(count))]
        let source: Count = Count::new(1);
        let sum: Sum = Sum::new();
        let even: List = List::new(Vec::new());
        let odd: List = List::new(Vec::new());
        source.n >> sum.n;
        sum.even >> even.n;
        sum.odd >> odd.n;
    }
}

fn flushed(platform: &Platform) -> Result<(), Failed> {
    for (count, wanted) in [(3, [vec![], vec![3]]), (4, [vec![6], vec![]])] {
        let mut graph = Sums::new(platform, count)?;
        graph.run()?;
        check_equal([graph.even().got.clone(), graph.odd().got.clone()], wanted)?;
    }
    Ok(())
}

fn harness(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Parity::new(9))?;
    for n in [4, 5, 11] {
        harness.push(|ports| &mut ports.n, n)?;
        check_equal(harness.tick()?, true)?;
        let even = harness.take(|ports| &mut ports.even).map(|taken| *taken.message);
        let odd = harness.take(|ports| &mut ports.odd).map(|taken| *taken.message);
        let wanted = match n {
            11 => (None, None),
            n if n % 2 == 0 => (Some(n), None),
            n => (None, Some(n)),
        };
        check_equal((even, odd), wanted)?;
    }
    Ok(harness.stop()?)
}
