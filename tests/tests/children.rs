//! Tests that may end, hang or poison a process. Most of them run in a process of their own.
#![allow(missing_docs, reason = "a test binary")]

mod bounds;
mod compiled_code;
mod contract;
mod cuda_driver;
mod faults;
mod nvrtc;
mod sizes;
mod sticky;
mod users_code;

use std::process::ExitCode;

use streamflow_tests::Binary;

fn main() -> ExitCode {
    // The suites with the longest tests come first, so that no core waits for the last test.
    Binary::new()
        .suite("sticky", sticky::suite)
        .suite("faults", faults::suite)
        .suite("bounds", bounds::suite)
        .suite("compiled_code", compiled_code::suite)
        .suite("contract", contract::suite)
        .suite("cuda_driver", cuda_driver::suite)
        .suite("nvrtc", nvrtc::suite)
        .suite("sizes", sizes::suite)
        .suite("users_code", users_code::suite)
        .children("bounds", bounds::in_child)
        .children("cuda_driver", cuda_driver::in_child)
        .children("faults", faults::in_child)
        .children("nvrtc", nvrtc::in_child)
        .children("sizes", sizes::in_child)
        .children("sticky", sticky::in_child)
        .children("users_code", users_code::in_child)
        .run()
}
