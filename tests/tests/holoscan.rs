//! NVIDIA's tests of Holoscan's stream handling, by ID. Each checks *data* behind a slow kernel and has a control. The
//! table is in README.md.

mod awaited;
mod bad_input;
mod conditions;
mod failures;
mod forwarding;
mod gaps;
mod green;
mod gxf;
mod memory;
mod neighbours;
mod node_conditions;
mod operators;
mod python;
mod queues;
mod realtime;
mod start;
mod statistics;
mod streams;
mod table;

use streamflow_tests::{Failed, Suite};

/// The child's side.
pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match role {
        bad_input::NO_GPU => bad_input::without_gpu(),
        role => gaps::in_child(role),
    }
}

pub(crate) fn suite() -> Suite {
    let groups = [
        streams::tests,
        forwarding::tests,
        start::tests,
        conditions::tests,
        green::tests,
        memory::tests,
        python::tests,
        gxf::tests,
        awaited::tests,
        queues::tests,
        failures::tests,
        neighbours::tests,
        node_conditions::tests,
        gaps::tests,
        statistics::tests,
        realtime::tests,
        bad_input::tests,
    ];
    let suite = groups.into_iter().fold(Suite::new(), |suite, tests| tests(suite));
    table::tests(suite)
}
