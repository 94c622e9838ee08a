//! Graphs that run on a thread of their own, step by step, or for a limited time.

mod both;
mod drops;
mod failures;
mod gate;
mod handles;
mod leaks;
mod limits;
mod neighbours;
mod signals;
mod steps;
mod stop_on_signals;
mod turns;
mod waiting;

use streamflow_tests::{Failed, Suite};

/// Runs the role of a child process.
pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match role {
        leaks::ROLE => leaks::in_child(),
        role => stop_on_signals::in_child(role),
    }
}

pub(crate) fn suite() -> Suite {
    let groups = [
        steps::add,
        limits::add,
        handles::add,
        drops::add,
        failures::add,
        neighbours::add,
        turns::add,
        leaks::add,
        stop_on_signals::add,
        waiting::add,
    ];
    groups.into_iter().fold(Suite::new(), |suite, add| add(suite))
}
