//! In an explored test, workers take turns, so a seed repeats a run with the order of its ticks and of its driver
//! calls.

use std::collections::HashSet;
use std::sync::Arc;

use streamflow::driver::Recorder;
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::testing::{Explorer, explore};
use streamflow_tests::kernels::{add_one, fill};
use streamflow_tests::layers::DropWaits;
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(crate) fn add_to(suite: Suite) -> Suite {
    suite
        .plain("a_seed_repeats_the_order_of_two_workers", || repeats(2))
        .plain("a_seed_repeats_the_order_of_four_workers", || repeats(4))
        .plain("on_one_thread_each_seed_has_the_same_order_of_ticks", one_thread)
        .plain("an_exploration_of_workers_names_its_bound_of_two_preemptions", bounded)
        .plain("a_fault_between_workers_is_found_and_repeated_by_its_seed", found)
}

/// The nodes and their ticks, in the order in which the hooks were called.
type Ticks = Seen<(String, u64)>;

#[operator(streams(out))]
struct Source {
    #[output]
    image: Tensor<f32>,
    ticks: Ticks,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.ticks, (cx.node().to_owned(), cx.tick()));
        let stream = cx.allocate_cuda_stream(io.out)?;
        let mut image = cx.tensor([4], &stream)?;
        stream.launch::<fill>(4, (&mut image, cx.tick() as f32))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator]
struct Next {
    #[input]
    image: Tensor<f32>,
    #[output]
    next: Tensor<f32>,
    ticks: Ticks,
}

impl Compute for Next {
    fn compute(&mut self, io: NextIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.ticks, (cx.node().to_owned(), cx.tick()));
        let (mut image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        stream.launch::<add_one>(4, (&mut image,))?;
        io.next.emit(image)
    }
}

#[operator]
struct Both {
    #[input]
    left: &Tensor<f32>,
    #[input]
    right: &Tensor<f32>,
    ticks: Ticks,
}

impl Compute for Both {
    fn compute(&mut self, io: BothIo<'_>, cx: &ExecutionContext) -> Result<()> {
        push_seen(&self.ticks, (cx.node().to_owned(), cx.tick()));
        let (left, stream) = io.left.receive().receive_cuda_stream(cx)?;
        let (right, _) = io.right.receive().receive_cuda_stream(cx)?;
        let (left, right) = (cx.download(left, &stream)?, cx.download(right, &stream)?);
        let expected = cx.tick() as f32 + 1.0;
        let is_right = |values: &[f32]| values == [expected; 4];
        if is_right(left.wait_blocking()?) && is_right(right.wait_blocking()?) {
            Ok(())
        } else {
            Err(Failure::msg("the data is wrong"))
        }
    }
}

graph! {
    struct TwoWays(count: u64, ticks: Ticks) {
        #[when(count(count))] let one: Source = Source::new(ticks.clone());
        #[when(count(count))] let two: Source = Source::new(ticks.clone());
        let left: Next = Next::new(ticks.clone());
        let right: Next = Next::new(ticks.clone());
        let both: Both = Both::new(ticks);
        one.image >> left.image;
        two.image >> right.image;
        left.next >> both.left;
        right.next >> both.right;
    }
}

const TICKS: u64 = 4;

/// The order in which a run made its ticks and its driver calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Order {
    ticks: Vec<(String, u64)>,
    calls: String,
}

fn order(platform: &Platform, workers: &Workers) -> Result<Order> {
    let recorder = Arc::new(Recorder::new(platform.driver().clone()));
    let ticks = Ticks::default();
    let platform = Platform::builder().driver(recorder.clone())?;
    TwoWays::new(&platform, TICKS, ticks.clone())?.workers(workers.clone())?.run()?;
    Ok(Order { ticks: take(&ticks), calls: recorder.text() })
}

const SEEDS: usize = 24;

/// Returns the orders of all seeds.
fn orders(workers: &Workers) -> Result<Vec<Order>, Failed> {
    let mut orders = Vec::new();
    let explorer = Explorer::new().seeds(SEEDS as u64).race_check(true);
    let explored = explorer.run(|platform| {
        orders.push(order(platform, workers)?);
        Ok(())
    });
    explored?.check()?;
    check_equal(orders.len(), SEEDS)?;
    Ok(orders)
}

fn repeats(workers: usize) -> Result<(), Failed> {
    let workers = Workers::new(workers);
    let (first, second) = (orders(&workers)?, orders(&workers)?);
    for (seed, (first, second)) in first.iter().zip(&second).enumerate() {
        check(first == second, || format!("seed {seed}:\n{first:#?}\n{second:#?}"))?;
        check_equal(first.ticks.len(), 5 * TICKS as usize)?;
    }
    // The seeds must give several orders. If there were only one, comparing two runs would show nothing.
    let ticks: HashSet<_> = first.iter().map(|order| &order.ticks).collect();
    let calls: HashSet<_> = first.iter().map(|order| &order.calls).collect();
    let (ticks, calls) = (ticks.len(), calls.len());
    check(ticks >= 8 && calls >= 8, || format!("{ticks} orders of ticks, {calls} of calls"))?;
    // `explore` runs the same test with more seeds.
    Ok(explore(|platform| order(platform, &workers).map(drop))?)
}

/// The control: with one thread all seeds give the same order, so the seeds order the workers' turns.
fn one_thread() -> Result<(), Failed> {
    let ticks: HashSet<_> =
        orders(&Workers::none())?.into_iter().map(|order| order.ticks).collect();
    check_equal(ticks.len(), 1)
}

/// Visits the first of the states that two workers can reach.
fn bounded() -> Result<(), Failed> {
    let found = Explorer::new().max_runs(200).run_exhaustively(|platform| {
        let mut graph = TwoWays::new(platform, 1, Ticks::default())?;
        Ok(graph.workers(2)?.run().map(drop)?)
    })?;
    check_equal(found.preemptions, Some(2))?;
    check(found.failing.is_none() && found.runs == 200, || found.to_string())
}

fn without_waits(platform: &Platform) -> Result<()> {
    let driver = Arc::new(DropWaits::all(platform.driver().clone()));
    let platform = Platform::builder().driver(driver)?;
    Ok(TwoWays::new(&platform, TICKS, Ticks::default())?.workers(2)?.run().map(drop)?)
}

fn found() -> Result<(), Failed> {
    // The race checker is off, so that the data alone must show the fault.
    let explorer = Explorer::new().race_check(false);
    let found = explorer.clone().run(without_waits)?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(found)) };
    let Some(seed) = failing.seed else { return Err(Failed::msg(&failing.replay)) };
    let again = explorer.first_seed(seed).seeds(1).run(without_waits)?;
    check(again.failing == found.failing, || format!("{again}, after {found}"))
}
