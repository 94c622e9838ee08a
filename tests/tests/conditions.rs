//! Conditions: when a node runs. Most graphs run on a simulated clock, so that each tick has an exact time.

mod allocations;
mod batches;
mod handles;
mod joins;
mod memory;
mod messages;
mod operators;
mod own;
mod python_ports;
mod refused;
mod time;
mod wakes;

use streamflow_tests::{Failed, Suite};

/// The child's side.
pub(crate) fn in_child(_: &str) -> Result<(), Failed> {
    allocations::in_child()
}

pub(crate) fn suite() -> Suite {
    let suite = memory::add(messages::add(time::add(Suite::new())));
    let suite = refused::add(handles::add(suite));
    let suite = python_ports::add(wakes::add(own::add(suite)));
    joins::add(batches::add(allocations::add(suite)))
}
