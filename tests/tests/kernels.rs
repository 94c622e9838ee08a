//! All kernels of a program. The list is that of the binary, so nothing else is in it.
#![allow(missing_docs, reason = "a test binary")]

mod kernels_compile;
mod two_bodies;

use std::process::ExitCode;

use streamflow_tests::Binary;

fn main() -> ExitCode {
    Binary::new()
        .suite("kernels_compile", kernels_compile::suite)
        .suite("two_bodies", two_bodies::suite)
        .run()
}
