//! Checks that all kernels of a program compile. The list of kernels is that of the whole binary, so no other
//! suite is in it.
#![allow(missing_docs, reason = "a test binary")]

mod kernels_compile;

use std::process::ExitCode;

use streamflow_tests::Binary;

fn main() -> ExitCode {
    Binary::new().suite("kernels_compile", kernels_compile::suite).run()
}
