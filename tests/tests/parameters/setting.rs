//! When a value that was set takes effect.

use std::sync::mpsc;
use std::thread;

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::{Failed, Suite, check_equal};

use super::operators::{Cfar, Radar, Window, radar, radar_that_calls};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_value_that_is_set_before_a_run_is_there_in_start_and_in_the_first_tick", before)
        .both("a_value_that_another_thread_sets_in_a_run_is_there_in_the_next_tick", during)
        .both("a_value_that_a_node_sets_is_there_in_the_next_tick_of_the_other", by_a_node)
        .both("a_value_stays_in_the_next_run_and_can_be_set_between_runs", between)
        .both("a_handle_follows_a_field_that_the_program_changes_between_runs", changed_field)
        .both("a_value_that_was_set_wins_over_a_changed_field", set_and_changed_field)
        .both("a_handle_of_a_dropped_graph_returns_an_error", dropped)
        .both("a_generic_operator_has_parameters", generic)
        .both("a_node_without_parameters_has_an_empty_handle", none)
        .both("a_harness_sets_parameters", harness)
}

fn before(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 3)?;
    let handle = graph.params();
    check_equal(handle.cfar().threshold(), 0.25)?;
    handle.cfar().set_threshold(0.75)?;
    check_equal(graph.params().cfar().threshold(), 0.75)?;
    graph.run()?;
    check_equal(&graph.cfar().at_start, &vec![0.75])?;
    check_equal(graph.cfar().thresholds(), vec![0.75; 3])
}

/// The source blocks in tick 3 until the other thread has set the value, so the fourth frame is the first one
/// with that value.
fn during(platform: &Platform) -> Result<(), Failed> {
    let (reached, is_reached) = mpsc::channel();
    let (set, is_set) = mpsc::channel();
    let on_tick = move |tick| {
        if tick == 3 {
            let _ = reached.send(());
            let _ = is_set.recv();
        }
    };
    let mut graph = Radar::new(platform, 6, 0.25, Box::new(on_tick))?;
    let handle = graph.params();
    let other = thread::spawn(move || {
        let _ = is_reached.recv();
        let done = handle.cfar().set_threshold(0.5);
        let _ = set.send(());
        done
    });
    let report = graph.run()?;
    other.join().map_err(|_| Failed::msg("the other thread panicked"))??;
    let seen = graph.cfar().thresholds();
    check_equal(seen, [0.25; 3].into_iter().chain([0.5; 3]).collect())?;
    let changes: Vec<_> =
        report.parameters.iter().map(|change| (change.tick, &*change.value)).collect();
    check_equal(changes, vec![(3, "0.5")])
}

fn by_a_node(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar_that_calls(platform, 4, |handle, tick| {
        // The second value that is set in a tick replaces the first.
        let _ = handle.cfar().set_threshold(0.9);
        let _ = handle.cfar().set_threshold(tick as f32 / 8.0);
    })?;
    let report = graph.run()?;
    check_equal(graph.cfar().thresholds(), vec![0.0, 0.125, 0.25, 0.375])?;
    check_equal(report.parameters.len(), 4)
}

fn between(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 1)?;
    let handle = graph.params();
    handle.cfar().set_threshold(0.5)?;
    check_equal(graph.run()?.parameters.len(), 1)?;
    check_equal(graph.run()?.parameters.len(), 0)?;
    handle.cfar().set_threshold(1.0)?;
    check_equal(graph.run()?.parameters.len(), 1)?;
    check_equal(graph.cfar().thresholds(), vec![0.5, 0.5, 1.0])
}

fn changed_field(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 1)?;
    let handle = graph.params();
    graph.cfar_mut().change_field(0.625);
    let report = graph.run()?;
    check_equal(graph.cfar().thresholds(), vec![0.625])?;
    check_equal((handle.cfar().threshold(), report.parameters.len()), (0.625, 0))
}

fn set_and_changed_field(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 1)?;
    graph.params().cfar().set_threshold(0.5)?;
    graph.cfar_mut().change_field(0.625);
    graph.run()?;
    check_equal(graph.cfar().thresholds(), vec![0.5])?;
    check_equal(graph.params().cfar().threshold(), 0.5)
}

fn dropped(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 1)?;
    let handle = graph.params();
    let cfar = handle.cfar().clone();
    graph.run()?;
    cfar.set_threshold(0.5)?;
    drop(graph);
    let text = "parameter `threshold` of node `cfar` can't be set: its graph was dropped; make a new graph, and take \
                the handle of that one";
    for done in [handle.cfar().set_threshold(0.75), cfar.set_threshold(0.75)] {
        check_equal(done.map_err(|error| error.to_string()), Err(text.to_owned()))?;
    }
    check_equal((cfar.threshold(), handle.cfar().window().guard), (0.5, 2))?;
    let file =
        "[cfar]\nthreshold = 0.5\nwindow = { guard = 1, training = 1 }\n[scale]\nfactor = \"two\"";
    let error = handle.load_params_str("radar.toml", file).map_err(|error| error.to_string());
    check_equal(error.is_err_and(|text| text.contains("its graph was dropped")), true)
}

fn generic(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 2)?;
    graph.params().scale().set_factor("two".to_owned())?;
    graph.run()?;
    check_equal(&graph.scale().seen, &vec!["two".to_owned(); 2])
}

fn none(platform: &Platform) -> Result<(), Failed> {
    let none = *radar(platform, 1)?.params().source();
    check_equal(format!("{none:?}"), "NoParams".to_owned())
}

fn harness(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Cfar::with(0.25))?;
    let params = harness.params().clone();
    for threshold in [0.25, 0.5, 1.0] {
        params.set_threshold(threshold)?;
        params.set_window(Window { guard: 1, training: 3 })?;
        harness.push(|ports| &mut ports.frame, 7)?;
        check_equal(harness.tick()?, true)?;
    }
    check_equal(params.set_threshold(1.5).is_err(), true)?;
    let seen = [0.25, 0.5, 1.0].map(|threshold| (threshold, Window { guard: 1, training: 3 }));
    check_equal(&harness.operator().seen[..], &seen)?;
    Ok(harness.stop()?)
}
