//! Conditions: when a node runs. Most graphs run on a simulated clock, so that each tick has an exact time.
#![allow(missing_docs, reason = "a test binary")]

mod conditions {
    pub(crate) mod allocations;
    pub(crate) mod batches;
    pub(crate) mod handles;
    pub(crate) mod joins;
    pub(crate) mod memory;
    pub(crate) mod messages;
    pub(crate) mod operators;
    pub(crate) mod own;
    pub(crate) mod python_ports;
    pub(crate) mod refused;
    pub(crate) mod time;
    pub(crate) mod wakes;
}

use std::process::ExitCode;

use conditions::{
    allocations, batches, handles, joins, memory, messages, own, python_ports, refused, time, wakes,
};
use streamflow_tests::allocations::Counting;
use streamflow_tests::{Suite, child};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    if let Some(role) = child::role() {
        return child::play(&role, |_| allocations::in_child());
    }
    let suite = memory::add(messages::add(time::add(Suite::new())));
    let suite = refused::add(handles::add(suite));
    let suite = python_ports::add(wakes::add(own::add(suite)));
    joins::add(batches::add(allocations::add(suite))).run()
}
