//! NVIDIA's tests of Holoscan's stream handling, by their IDs, each with a check of *data* behind a slow
//! kernel, and with a control. The table is in README.md.
#![allow(missing_docs, reason = "a test binary")]

mod conditions;
mod gxf;
mod operators;
mod python;
mod start;
mod streams;

use std::process::ExitCode;

use streamflow_tests::Suite;

fn main() -> ExitCode {
    let groups = [streams::tests, start::tests, conditions::tests, python::tests, gxf::tests];
    groups.into_iter().fold(Suite::new(), |suite, tests| tests(suite)).run()
}
