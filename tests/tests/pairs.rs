//! Compares the two bodies of each kernel. The list of kernels is that of the whole binary, so no other suite is
//! in it.
#![allow(missing_docs, reason = "a test binary")]

mod two_bodies;

use std::process::ExitCode;

use streamflow_tests::Binary;

fn main() -> ExitCode {
    Binary::new().suite("two_bodies", two_bodies::suite).run()
}
