//! The race checker reports every kind of race, and does not report the same program with its dependency. The reports
//! depend on neither the seed nor the data.
#![allow(missing_docs, reason = "a test binary")]

#[path = "race/bare.rs"]
mod bare;
#[path = "race/cudarc.rs"]
mod cudarc;
#[path = "race/graph.rs"]
mod graph;
#[path = "race/platform.rs"]
mod platform;
#[path = "race/queries.rs"]
mod queries;

use std::process::ExitCode;

use streamflow_tests::{Suite, child};

fn main() -> ExitCode {
    if let Some(role) = child::role() {
        return child::play(&role, platform::in_child);
    }
    let suite = queries::add(bare::add(Suite::new()));
    let suite = cudarc::add(suite);
    let suite = graph::add(suite);
    platform::add(suite).run()
}
