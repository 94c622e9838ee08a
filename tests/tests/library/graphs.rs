//! A graph of operators with two plans each. `.ci/run workers` runs it with workers, too.

use streamflow_tests::{Suite, plans};

pub(crate) fn add(suite: Suite) -> Suite {
    suite.ordered("a_graph_of_plans_has_right_data", |platform| plans::is_right(platform, 8))
}
