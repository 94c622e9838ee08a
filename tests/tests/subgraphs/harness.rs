//! Graphs with ports in a `GraphHarness`, without a graph around them.

mod conditions;
mod errors;

use streamflow::operator::BooleanHandle;
use streamflow::prelude::*;
use streamflow::testing::GraphHarness;
use streamflow_tests::setup::uploaded;
use streamflow_tests::stereo::fill_bytes;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::arrays::Gather;
use super::parameters::Pair;
use super::{Depth, List, Listed, Preprocess, Sums, Thread};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_harness_runs_a_graph_alone", values)
        .both("an_input_in_a_harness_reaches_each_node_that_reads_it", two_readers)
        .both("an_output_in_a_harness_is_read_inside_too", read_inside)
        .both("a_harness_runs_a_graph_in_a_graph", nested)
        .both("an_input_in_a_harness_is_one_edge_of_many", of_many)
        .both("a_node_that_does_not_tick_is_seen_in_a_harness", gate)
        .both("messages_of_a_harness_have_times_and_numbers", conditions::metadata)
        .both("branches_in_a_harness_have_one_origin", conditions::branches)
        .both("conditions_in_a_harness_wait", conditions::conditions)
        .both(
            "a_stream_that_is_not_done_keeps_a_node_in_a_harness_waiting",
            conditions::stream_done,
        )
        .both("parameters_are_set_in_a_harness", parameters)
        .both("an_error_in_a_harness_names_the_path_and_ends_the_run", errors::of_a_tick)
        .both("all_errors_at_the_end_of_a_harness_are_returned", errors::of_the_end)
        .both("a_graph_that_is_not_made_has_no_harness", errors::not_made)
        .ordered("device_data_in_a_harness_is_ordered", ordered)
}

/// Takes the message that an output must have.
macro_rules! taken {
    ($harness:expr, $port:ident) => {
        $harness.take(|ports| &mut ports.$port).ok_or(Failed::msg("no message was emitted"))
    };
}
use taken;

fn ran(ran: bool) -> Result<(), Failed> {
    check(ran, || "no node was ready".into())
}

fn waits(ran: bool) -> Result<(), Failed> {
    check(!ran, || "a node was ready".into())
}

fn values(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Preprocess::new())?;
    waits(harness.tick()?)?;
    for first in [1, 2, 3] {
        let frame = uploaded(platform, &[first, 10 * first], harness.stream())?;
        harness.push(|ports| &mut ports.frame, frame)?;
    }
    check(harness.take(|ports| &mut ports.image).is_none(), || "it came from no tick".into())?;
    // Each call moves one message through both nodes.
    for _ in 0..3 {
        ran(harness.tick()?)?;
    }
    waits(harness.tick()?)?;
    for first in [1.0, 2.0, 3.0] {
        let emitted = taken!(harness, image)?;
        check(emitted.sent.is_some(), || "the message has no point".into())?;
        let image = harness.stream().download_blocking(&emitted.message)?;
        check_equal(image, vec![-first, -10.0 * first])?;
    }
    check(harness.take(|ports| &mut ports.image).is_none(), || "a fourth message".into())?;
    Ok(harness.stop()?)
}

fn two_readers(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Sums::new())?;
    harness.push(|ports| &mut ports.back, 10)?;
    waits(harness.tick()?)?;
    check(harness.take(|ports| &mut ports.sum).is_none(), || "a message is missing".into())?;
    harness.push(|ports| &mut ports.n, 1)?;
    ran(harness.tick()?)?;
    check_equal(*taken!(harness, sum)?.message, 21)?;
    check_equal((harness.graph().one().last, harness.graph().two().last), (11, 21))?;
    Ok(harness.stop()?)
}

fn read_inside(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Listed::new())?;
    for n in [5, 6] {
        harness.push(|ports| &mut ports.n, n)?;
        ran(harness.tick()?)?;
    }
    // Messages wait until they are taken, also beyond the end of the run.
    harness.stop()?;
    check_equal(harness.graph().list().got.clone(), vec![5, 6])?;
    check_equal([*taken!(harness, out)?.message, *taken!(harness, out)?.message], [5, 6])?;
    harness.graph_mut().list_mut().got.clear();
    harness.push(|ports| &mut ports.n, 7)?;
    ran(harness.tick()?)?;
    check_equal(harness.graph().list().got.clone(), vec![7])?;
    check_equal(*taken!(harness, out)?.message, 7)?;
    Ok(harness.stop()?)
}

fn nested(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Depth::new())?;
    let left = uploaded(platform, &[1_u8, 2], harness.stream())?;
    let right = uploaded(platform, &[10_u8, 20], harness.stream())?;
    harness.push(|ports| &mut ports.left, left)?;
    // The nodes of the graph that has its message tick. The other graph inside waits.
    ran(harness.tick()?)?;
    check(harness.take(|ports| &mut ports.depth).is_none(), || "a message is missing".into())?;
    harness.push(|ports| &mut ports.right, right)?;
    ran(harness.tick()?)?;
    let depth = taken!(harness, depth)?;
    check_equal(harness.stream().download_blocking(&depth.message)?, vec![9.0, 18.0])?;
    waits(harness.tick()?)?;
    Ok(harness.stop()?)
}

graph! {
    /// Gathers the numbers of an array, and those of another input.
    struct Gathered {
        input n: &u64;
        input other: &u64;
        let threads: [Thread; 2] = |_| Thread::new(Vec::new());
        let gather: Gather = Gather::new(Vec::new());
        n >> (threads[0].n, threads[1].n);
        for i in 0..2 {
            threads[i].out >> gather.numbers;
        }
        other >> gather.numbers;
    }
}

fn of_many(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Gathered::new())?;
    for (n, other) in [(1, 10), (2, 20)] {
        harness.push(|ports| &mut ports.n, n)?;
        ran(harness.tick()?)?;
        waits(harness.tick()?)?;
        harness.push(|ports| &mut ports.other, other)?;
        ran(harness.tick()?)?;
    }
    check_equal(harness.graph().gather().got.clone(), vec![vec![1, 1, 10], vec![2, 2, 20]])?;
    Ok(harness.stop()?)
}

graph! {
    /// Sends the numbers on while the gate is open, and lists them.
    struct Gated(open: BooleanHandle) {
        input n: &u64;
        output out: Shared<u64>;
        #[when(boolean(open))]
        let thread: Thread = Thread::new(Vec::new());
        let list: List = List::new(Vec::new());
        n >> thread.n;
        thread.out >> (out, list.n);
    }
}

/// Pushes a number, and checks that it comes out and is listed.
fn goes_through(harness: &mut GraphHarness<Gated>, n: u64) -> Result<(), Failed> {
    harness.push(|ports| &mut ports.n, n)?;
    ran(harness.tick()?)?;
    check_equal(*taken!(harness, out)?.message, n)?;
    check_equal(harness.graph().list().got.last(), Some(&n))
}

/// Checks that the checks of a number fail if a node does not tick.
fn gate(platform: &Platform) -> Result<(), Failed> {
    let open = BooleanHandle::new(true);
    let mut harness = GraphHarness::new(platform, Gated::new(open.clone()))?;
    goes_through(&mut harness, 1)?;
    open.set(false)?;
    let failed = goes_through(&mut harness, 2);
    check(failed.is_err(), || "a node that did not tick was not noticed".into())?;
    check_equal(harness.graph().list().got.clone(), vec![1])?;
    check(harness.take(|ports| &mut ports.out).is_none(), || "it did not tick".into())?;
    open.set(true)?;
    ran(harness.tick()?)?;
    check_equal(*taken!(harness, out)?.message, 2)?;
    Ok(harness.stop()?)
}

fn parameters(platform: &Platform) -> Result<(), Failed> {
    let mut harness = GraphHarness::new(platform, Pair::new(2))?;
    let product = |harness: &mut GraphHarness<Pair>| -> Result<u64, Failed> {
        harness.push(|ports| &mut ports.n, 7)?;
        ran(harness.tick()?)?;
        Ok(*taken!(harness, out)?.message)
    };
    check_equal(product(&mut harness)?, 14)?;
    harness.params().other().set_by(10)?;
    check_equal(product(&mut harness)?, 140)?;
    let params = harness.params().clone();
    params.load_params_str("pair.toml", "one.by = 3\nother.by = 1")?;
    check_equal(product(&mut harness)?, 21)?;
    check_equal(params.one().by(), 3)?;
    Ok(harness.stop()?)
}

/// Pushes a frame that the harness's stream still writes. Returns whether the graph has read what was written, and the harness what the
/// graph has written.
fn ordered(platform: &Platform) -> Result<bool> {
    let mut harness = GraphHarness::new(platform, Preprocess::new())?;
    let mut frame = platform.tensor([1003], harness.stream())?;
    harness.stream().launch::<fill_bytes>(frame.len(), (&mut frame, 7))?;
    harness.push(|ports| &mut ports.frame, frame)?;
    harness.tick()?;
    let Some(emitted) = harness.take(|ports| &mut ports.image) else { return Ok(false) };
    let image = harness.stream().download_blocking(&emitted.message)?;
    harness.stop()?;
    Ok(image.iter().all(|seen| *seen == -7.0))
}
