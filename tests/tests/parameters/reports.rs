//! The lines of a run's report about parameters.

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::operators::{Window, radar, radar_that_calls};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_report_names_node_parameter_tick_and_value", names)
        .both("a_report_keeps_the_last_thousand_changes_and_counts_the_others", bounded)
        .both("a_value_that_no_tick_has_taken_over_is_not_in_the_report", not_taken_over)
}

fn names(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar_that_calls(platform, 4, |handle, tick| {
        if tick == 2 {
            let _ = handle.cfar().set_threshold(0.5);
            let _ = handle.scale().set_factor("two".to_owned());
        }
    })?;
    graph.params().cfar().set_window(Window { guard: 1, training: 2 })?;
    let report = graph.run()?;
    let found: Vec<_> = report
        .parameters
        .iter()
        .map(|change| (&*change.node, change.parameter, change.tick, &*change.value))
        .collect();
    let wanted = vec![
        ("cfar", "window", 0, "Window { guard: 1, training: 2 }"),
        ("cfar", "threshold", 2, "0.5"),
        ("scale", "factor", 2, "\"two\""),
    ];
    check_equal(found, wanted)?;
    let text = report.to_string();
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in ["parameter from tick value", "cfar.threshold 2 0.5"] {
        check(lines.iter().any(|one| one == line), || text.clone())?;
    }
    Ok(())
}

fn bounded(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar_that_calls(platform, 1005, |handle, tick| {
        let _ = handle.cfar().set_threshold(tick as f32 / 2048.0);
    })?;
    let report = graph.run()?;
    let ticks: Vec<u64> = report.parameters.iter().map(|change| change.tick).collect();
    check_equal(ticks, (5..1005).collect())?;
    check_equal(report.parameters_omitted, 5)?;
    check(report.to_string().contains("5 earlier changes"), || report.to_string())?;
    check_equal(graph.run()?.parameters.len(), 1000)
}

/// Checks a value that is set after the run has ended: the next run begins with it.
fn not_taken_over(platform: &Platform) -> Result<(), Failed> {
    let mut graph = radar(platform, 1)?;
    let first = graph.run()?;
    graph.params().cfar().set_threshold(0.5)?;
    let second = graph.run()?;
    check_equal((first.parameters.len(), second.parameters.len()), (0, 1))?;
    check_equal(graph.cfar().thresholds(), vec![0.25, 0.5])
}
