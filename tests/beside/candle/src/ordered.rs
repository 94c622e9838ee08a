//! candle behind a slow producer and before a reader, with the order and without. A report says of each wrong result where its data came from.

use std::sync::{Arc, PoisonError};

use streamflow::prelude::*;

use crate::graph::{Beside, Edges, Found, Outcome, Settings};
use crate::model::Model;
use crate::network::{IMAGES, NAMES};
use crate::report::Report;
use crate::ticks::given_back;

/// Runs a graph to its end.
///
/// # Errors
/// Those of the run, and one that cudarc has kept.
pub fn run(
    platform: &Platform,
    model: &Arc<Model>,
    settings: Settings,
    workers: usize,
) -> Result<Outcome> {
    let found = Found::default();
    let mut graph = Beside::new(platform, settings, model.clone(), model.place()?, found.clone())?;
    if workers > 0 {
        graph.workers(workers)?.run()?;
    } else {
        graph.run()?;
    }
    drop(graph);
    given_back()?;
    model.end()?;
    Ok(found.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// How many results are those of a row after the images', by its name.
fn of(outcome: &Outcome, name: usize) -> u64 {
    u64::from(outcome.counts[1 + IMAGES as usize + name])
}

/// The results that are those of another image.
fn of_others(outcome: &Outcome) -> u64 {
    outcome.counts[1..=IMAGES as usize].iter().copied().map(u64::from).sum()
}

/// Checks that all results are right with the edges, and that without one of them all are stale: made of the memory's
/// earlier content.
///
/// # Errors
/// Those of the runs.
pub fn ordered(
    platform: &Platform,
    models: &[Arc<Model>],
    ticks: u64,
    slow: u64,
    report: &mut Report,
) -> Result<()> {
    for model in models {
        let settings = Settings { ticks, slow, edges: Edges::Both, every: 1 };
        for (workers, name) in [(0, "in order"), (2, "in order, on two workers")] {
            let outcome = run(platform, model, settings, workers)?;
            report.line(&format!("{name}, {}", model.name()), u64::from(outcome.counts[0]), ticks);
            report.text(&format!("  worst difference from the CPU: {:e}", outcome.worst));
            if model.is_cuda() {
                report.line(&format!("in place, {}", model.name()), outcome.in_place, ticks);
            }
        }
        if !model.is_cuda() {
            report
                .text("skipped: no order between streams can be left out where candle has no GPU");
            continue;
        }
        let ticks = ticks.div_ceil(10);
        for (edges, name, row) in [
            (Edges::WithoutIn, "control without the edge to candle", 0),
            (Edges::WithoutOut, "control without the edge from candle", 1),
        ] {
            let outcome = run(platform, model, Settings { ticks, edges, ..settings }, 0)?;
            let stale = of(&outcome, row) + of_others(&outcome);
            report.stale(&format!("{name}, {}", model.name()), stale, ticks);
            report.text(&format!(
                "  {} {}, {} of another image, {} {}, {} of none of them, {} right",
                of(&outcome, row),
                NAMES[row],
                of_others(&outcome),
                of(&outcome, 2),
                NAMES[2],
                outcome.counts.last().copied().unwrap_or_default(),
                outcome.counts[0],
            ));
        }
    }
    Ok(())
}
