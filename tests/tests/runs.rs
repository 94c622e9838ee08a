//! Tests of how graphs run, end and fail. The suites run in each form.
#![allow(missing_docs, reason = "a test binary")]

mod futures;
mod graph_ends;
mod graph_failures;
mod graph_panics;
mod on_failure;
mod running;
mod workers;

use std::process::ExitCode;

use streamflow_tests::Binary;
use streamflow_tests::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    // The suites with the longest tests come first, so that no core waits for the last test.
    Binary::new()
        .suite("workers", workers::suite)
        .suite("graph_ends", graph_ends::suite)
        .suite("graph_failures", graph_failures::suite)
        .suite("graph_panics", graph_panics::suite)
        .suite("on_failure", on_failure::suite)
        .suite("futures", futures::suite)
        .suite("running", running::suite)
        .children("running", running::in_child)
        .run()
}
