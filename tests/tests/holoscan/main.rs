//! NVIDIA's tests of Holoscan's stream handling, by their IDs, each with a check of *data* behind a slow
//! kernel, and with a control. The table is in README.md.
#![allow(missing_docs, reason = "a test binary")]

mod awaited;
mod conditions;
mod forwarding;
mod gaps;
mod gxf;
mod operators;
mod python;
mod start;
mod streams;

use std::process::ExitCode;

use streamflow_tests::{Suite, child};

fn main() -> ExitCode {
    if let Some(role) = child::role() {
        return child::play(&role, gaps::in_child);
    }
    let (s, a, c) = (streams::tests, start::tests, conditions::tests);
    let (f, g) = (forwarding::tests, gxf::tests);
    let groups = [s, f, a, c, python::tests, g, awaited::tests, gaps::tests];
    groups.into_iter().fold(Suite::new(), |suite, tests| tests(suite)).run()
}
