//! NVIDIA's tests of Holoscan's stream handling, by their IDs, each with a check of *data* behind a slow
//! kernel, and with a control. The table is in README.md.
#![allow(missing_docs, reason = "a test binary")]

mod awaited;
mod conditions;
mod forwarding;
mod gaps;
mod green;
mod gxf;
mod memory;
mod neighbours;
mod operators;
mod python;
mod queues;
mod start;
mod streams;

use std::process::ExitCode;

use streamflow_tests::{Suite, child};

fn main() -> ExitCode {
    if let Some(role) = child::role() {
        return child::play(&role, gaps::in_child);
    }
    let (s, a, c) = (streams::tests, start::tests, conditions::tests);
    let (f, g, m, p) = (forwarding::tests, green::tests, memory::tests, python::tests);
    let (x, n, gaps) = (gxf::tests, neighbours::tests, gaps::tests);
    let groups = [s, f, a, c, g, m, p, x, awaited::tests, queues::tests, n, gaps];
    groups.into_iter().fold(Suite::new(), |suite, tests| tests(suite)).run()
}
