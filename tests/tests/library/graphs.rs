//! A graph of operators with two plans each. `.ci/run workers` runs it with workers, too.

use streamflow_tests::{Suite, plans};

pub(crate) fn add(suite: Suite) -> Suite {
    let why = "the libraries' calls are sent after the kernels of their tick, which a launch of a graph has done by then";
    suite.ordered_unless_replayed("a_graph_of_plans_has_right_data", why, |platform| {
        plans::is_right(platform, 8)
    })
}
