//! Several threads set parameters while the graph runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::testing::{Explorer, OperatorHarness, scope};
use streamflow_tests::{Failed, Suite, Tier, check, check_equal};

use super::operators::{Cfar, Radar, Window, radar};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_value_of_two_fields_is_never_torn", torn)
        .both("the_last_value_that_is_set_is_never_lost", last)
        .both("the_values_of_a_file_arrive_in_one_tick", together)
        .both("a_handle_is_for_any_thread", for_any_thread)
        .host("no_order_of_threads_loses_a_value", explored)
}

/// Checks that no window is torn: two threads set windows of two equal fields as fast as they can, during all
/// ticks.
fn torn(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 2000)?;
    let (handle, done) = (graph.params(), AtomicBool::new(false));
    thread::scope(|scope| {
        for first in [0, 1] {
            let (handle, done) = (handle.clone(), &done);
            scope.spawn(move || {
                for number in (first..).step_by(2) {
                    if done.load(Ordering::Relaxed) || number > 10_000_000 {
                        break;
                    }
                    let _ = handle.cfar().set_window(Window { guard: number, training: number });
                }
            });
        }
        let ran = graph.run();
        done.store(true, Ordering::Relaxed);
        ran
    })?;
    let is_torn = |(_, window): &&(f32, Window)| window.guard != window.training;
    let torn = graph
        .cfar()
        .seen
        .iter()
        .skip(1)
        .filter(is_torn)
        .find(|(_, of)| (of.guard, of.training) != (2, 8));
    check(torn.is_none(), || format!("{torn:?}"))
}

/// Checks that the last of 100 values that another thread sets takes effect. The run goes on until it sees that
/// value.
fn last(platform: &Platform) -> Result<(), Failed> {
    let harness = OperatorHarness::new(platform, Cfar::with(0.0))?;
    let params = harness.params().clone();
    let mut harness = harness;
    let setter =
        thread::spawn(move || (1..=100).try_for_each(|n| params.set_threshold(n as f32 / 100.0)));
    while harness.operator().seen.last().is_none_or(|(threshold, _)| *threshold < 1.0) {
        harness.push(|ports| &mut ports.frame, 0)?;
        harness.tick()?;
    }
    setter.join().map_err(|_| Failed::msg("the setter panicked"))??;
    let seen = harness.operator().thresholds();
    check(seen.is_sorted(), || format!("{seen:?}"))?;
    Ok(harness.stop()?)
}

/// Checks that the values of one file are set together. Each file has equal numbers, also in different parameters
/// of the node.
fn together(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 500)?;
    let (handle, done) = (graph.params(), AtomicBool::new(false));
    let file = |number: u32| {
        format!(
            "[cfar]\nthreshold = {}\nwindow = {{ guard = {number}, training = {number} }}\n[scale]\nfactor = \"x\"",
            f64::from(number) / 1024.0
        )
    };
    handle.load_params_str("first", &file(0))?;
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0..1024).cycle().take(100_000) {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let _ = handle.load_params_str("next", &file(number));
            }
        });
        let ran = graph.run();
        done.store(true, Ordering::Relaxed);
        ran
    })?;
    let mixed =
        graph.cfar().seen.iter().find(|(threshold, of)| threshold * 1024.0 != of.guard as f32);
    check(mixed.is_none(), || format!("{mixed:?}"))
}

fn for_any_thread(platform: &Platform) -> Result<(), Failed> {
    fn check_handle<G: Graph>(graph: &G) -> G::Handle {
        fn is_shared<T: Clone + Send + Sync + 'static>(value: T) -> T {
            value
        }
        is_shared(graph.handle())
    }
    let graph: Radar = radar(platform, 1)?;
    let handle = check_handle(&graph);
    handle.cfar().set_threshold(0.5)?;
    check_equal(graph.params().cfar().threshold(), 0.5)
}

/// Checks in explored orders of threads that a value that was set before a tick is seen in the tick.
fn explored(_: &Platform) -> Result<(), Failed> {
    Ok(Explorer::new()
        .seeds(Tier::from_env()?.cases(200))
        .run(|platform| {
            let mut harness = OperatorHarness::new(platform, Cfar::with(0.0))?;
            let (one, two) = (harness.params().clone(), harness.params().clone());
            let mut tick = || -> Result<(f32, Window)> {
                harness.push(|ports| &mut ports.frame, 0)?;
                harness.tick()?;
                harness.operator().seen.last().cloned().ok_or_else(|| Failure::msg("no tick"))
            };
            tick()?;
            scope(|scope| {
                let one = scope.spawn(move || one.set_threshold(0.5).and(one.set_threshold(0.75)));
                let two = scope.spawn(move || two.set_window(Window { guard: 4, training: 4 }));
                tick()?;
                tick()?;
                let done = [one.join(), two.join()];
                done.into_iter()
                    .try_for_each(|done| done.map_err(|_| Failure::msg("it panicked"))?)
            })?;
            let (seen, wanted) = (tick()?, (0.75, Window { guard: 4, training: 4 }));
            if seen == wanted { Ok(()) } else { Err(Failure::msg(format!("{seen:?}"))) }
        })?
        .check()?)
}
