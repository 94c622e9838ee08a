//! The dependencies of the patterns of Task Bench. The tests' build script also includes this file, to write the graphs.

use crate::random::Random;

/// How many tasks a step has at most.
pub const COLUMNS: usize = 16;

/// How many steps a tick has.
pub const STEPS: usize = 16;

/// The names of all patterns.
pub const PATTERNS: [&str; 6] = ["trivial", "tree", "dom", "fft", "stencil", "random"];

/// Returns how many tasks a step has. In the pattern `tree` the first step has one task, and each step has twice as many
/// as the step before.
pub fn width(pattern: &str, step: usize) -> usize {
    match pattern {
        "tree" => COLUMNS.min(1 << step.min(STEPS)),
        _ => COLUMNS,
    }
}

/// Returns which columns of the previous step a task reads, in the order of its inputs.
pub fn dependencies(pattern: &str, step: usize, column: usize) -> Vec<usize> {
    let Some(before) = step.checked_sub(1) else { return Vec::new() };
    let tasks = width(pattern, before);
    match pattern {
        "trivial" => Vec::new(),
        "tree" if tasks < width(pattern, step) => vec![column / 2],
        "tree" => vec![column],
        "dom" => (column.saturating_sub(1)..=column).collect(),
        "fft" => vec![column, column ^ (1 << (before % COLUMNS.ilog2() as usize))],
        "stencil" => (column.saturating_sub(1)..tasks.min(column + 2)).collect(),
        _ => drawn(step, column, tasks),
    }
}

/// Draws one to five different columns.
fn drawn(step: usize, column: usize, tasks: usize) -> Vec<usize> {
    let mut random = Random::new((step * COLUMNS + column) as u64);
    let mut columns: Vec<usize> = (0..tasks).collect();
    let count = 1 + random.below(5);
    for place in 0..count {
        columns.swap(place, place + random.below(tasks - place));
    }
    columns.truncate(count);
    columns
}
