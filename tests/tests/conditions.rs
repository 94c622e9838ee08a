//! Conditions: when a node runs. Most graphs run on a simulated clock, so that each tick has an exact time.

mod allocations;
mod arrival;
mod awaited_data;
mod awaited_ports;
mod batches;
mod ended;
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
mod with_data;

use streamflow_tests::forms::Form;
use streamflow_tests::{Failed, Suite, check};

/// Runs the role of a child process.
pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match role {
        allocations::ROLE => allocations::in_child(),
        platform => ended::in_child(platform),
    }
}

pub(crate) fn suite() -> Suite {
    let suite = memory::add(messages::add(time::add(Suite::new())));
    let suite = refused::add(handles::add(suite));
    let suite = python_ports::add(wakes::add(own::add(suite)));
    let suite = joins::add(batches::add(allocations::add(suite)));
    let suite = awaited_data::add(awaited_ports::add(arrival::add(suite)));
    with_data::add(ended::add(suite))
}

/// Fails if allocations were made after the warm-up. With workers, a worker that polls for the first time may
/// make its lists at that moment.
fn check_no_allocations(warm: u64, last: u64) -> Result<(), Failed> {
    let made = last.saturating_sub(warm);
    let late = if Form::Workers.is_set() { 20 } else { 0 };
    check(warm > 0 && last > 0 && made <= late, || format!("{made} allocations"))
}
