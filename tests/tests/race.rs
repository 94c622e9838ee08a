//! The race checker: every kind of race is reported, and the same with its edge is not. What is seen
//! depends on no luck: the checks hold under each seed, whatever the data is.
#![allow(missing_docs, reason = "a test binary")]

#[path = "race/asked.rs"]
mod asked;
#[path = "race/bare.rs"]
mod bare;
#[path = "race/cudarc.rs"]
mod cudarc;
#[path = "race/graph.rs"]
mod graph;
#[path = "race/platform.rs"]
mod platform;

use std::process::ExitCode;

use streamflow_tests::{Suite, child};

fn main() -> ExitCode {
    if let Some(role) = child::role() {
        return child::play(&role, platform::in_child);
    }
    let suite = asked::add(bare::add(Suite::new()));
    let suite = cudarc::add(suite);
    let suite = graph::add(suite);
    platform::add(suite).run()
}
