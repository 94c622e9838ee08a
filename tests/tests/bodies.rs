//! Bodies that misbehave: they print, lock, allocate, drop, call, panic, start threads and sleep, on the simulator.
//!
//! `STREAMFLOW_BODIES_SECONDS=n` runs random programs of such bodies for `n` seconds, and not the first 1,000.
//! `STREAMFLOW_BODIES_SEED=n` runs the program that a failure names.
#![allow(
    missing_docs,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test binary, whose bodies panic on purpose"
)]

mod deeds;
mod failing;
mod graphs;
mod random;
mod stuck;

use streamflow_tests::Suite;

pub(crate) use stuck::play as in_child;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .plain("bodies_that_misbehave_leave_right_data::host", graphs::on_one_thread)
        .plain("bodies_that_misbehave_leave_right_data_with_workers::host", graphs::with_workers)
        .plain("bodies_that_misbehave_leave_right_data_in_a_replayed_graph::host", graphs::replayed)
        .plain("bodies_that_misbehave_leave_right_data_between_threads::host", graphs::with_threads)
        .plain("slow_bodies_of_two_workers_run_at_once::host", graphs::at_once)
        .plain("a_host_body_that_fails_fails_its_run_and_no_later_one::host", failing::fails)
        .plain("a_host_body_that_fails_last_fails_its_run::host", failing::fails_last)
        .plain("a_kernel_that_panics_is_named_with_its_operator::host", failing::kernel)
        .plain("a_body_that_waits_for_its_caller_is_told_of::host", stuck::told)
        .plain("a_body_keeps_the_turn_and_is_reported::host", stuck::keeps_the_turn)
        .plain("random_bodies_leave_right_data::host", random::programs)
}
