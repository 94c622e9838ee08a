//! Tests that count in the whole process, or that take all memory of the device. They run one at a time.
#![allow(missing_docs, reason = "a test binary")]

mod api_trace;
mod errors;
mod free_memory;
mod nvmath_results;
mod steady_state;

use std::process::ExitCode;

use streamflow_tests::Binary;
use streamflow_tests::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    Binary::new()
        .suite("api_trace", api_trace::suite)
        .suite("errors", errors::suite)
        .suite("free_memory", free_memory::suite)
        .suite("nvmath_results", nvmath_results::suite)
        .suite("steady_state", steady_state::suite)
        .children("errors", errors::in_child)
        .run_one_at_a_time()
}
