//! Graphs on several workers: a slow branch slows nobody, nodes stay where they were put, and a seed repeats a run.
#![allow(missing_docs, reason = "a test binary")]

#[path = "workers/attacks.rs"]
mod attacks;
#[path = "workers/places.rs"]
mod places;
#[path = "workers/polling.rs"]
mod polling;
#[path = "workers/replay.rs"]
mod replay;
#[path = "workers/shared_memory.rs"]
mod shared_memory;
#[path = "workers/slow_branch.rs"]
mod slow_branch;

use std::process::ExitCode;

use streamflow_tests::Suite;

fn main() -> ExitCode {
    let suite = slow_branch::add_to(Suite::new());
    let suite = polling::add_to(replay::add_to(places::add_to(suite)));
    attacks::add_to(shared_memory::add_to(suite)).run()
}
