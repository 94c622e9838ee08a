//! Graphs that run on a thread of their own, step by step, or for a limited time.
#![allow(missing_docs, reason = "a test binary")]

mod running {
    pub(crate) mod both;
    pub(crate) mod drops;
    pub(crate) mod failures;
    pub(crate) mod gate;
    pub(crate) mod handles;
    pub(crate) mod leaks;
    pub(crate) mod limits;
    pub(crate) mod neighbours;
    pub(crate) mod signals;
    pub(crate) mod steps;
    pub(crate) mod stop_on_signals;
    pub(crate) mod turns;
    pub(crate) mod waiting;
}

use std::process::ExitCode;

use running::{
    drops, failures, handles, leaks, limits, neighbours, steps, stop_on_signals, turns, waiting,
};
use streamflow_tests::allocations::Counting;
use streamflow_tests::{Suite, child};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    if let Some(role) = child::role() {
        return child::play(&role, |role| match role {
            leaks::ROLE => leaks::in_child(),
            role => stop_on_signals::in_child(role),
        });
    }
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
    groups.into_iter().fold(Suite::new(), |suite, add| add(suite)).run()
}
