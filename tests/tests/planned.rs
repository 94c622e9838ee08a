//! Planned streams: `Assign::Planned`. Which operators share a stream, and that a graph computes the same with it.
#![allow(missing_docs, reason = "a test binary")]

#[path = "planned/complete.rs"]
mod complete;
#[path = "planned/conditions.rs"]
mod conditions;
#[path = "planned/differing.rs"]
mod differing;
#[path = "planned/keeps.rs"]
mod keeps;
#[path = "planned/nodes.rs"]
mod nodes;
#[path = "planned/pools.rs"]
mod pools;
#[path = "planned/records.rs"]
mod records;
#[path = "planned/shapes.rs"]
mod shapes;
#[path = "planned/waits.rs"]
mod waits;

use std::process::ExitCode;

use streamflow_tests::Suite;

fn main() -> ExitCode {
    let suite = Suite::new();
    let suite = shapes::add(suite);
    let suite = conditions::add(suite);
    let suite = keeps::add(suite);
    let suite = pools::add(suite);
    let suite = waits::add(suite);
    let suite = differing::add(suite);
    let suite = complete::add(suite);
    records::add(suite).run()
}
