//! Random graphs end in the same way on one thread, with workers, and in each explored order: with optional inputs, queues and
//! policies, `count`, `finish`, `flush`, conditions, joins, failures, feedback and graphs inside. The report accounts for each
//! message.
//!
//! - `STREAMFLOW_ENDS_SECONDS=n` runs graphs for `n` seconds, and not the first 200.
//! - `STREAMFLOW_ENDS_SEED=n` runs only graph `n`, in many ways, to reproduce a failure.

mod build;
mod code;
mod draw;
mod judge;
mod operators;
mod plan;
mod run;
mod search;
mod shrink;

use streamflow_tests::Suite;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .plain("random_graphs_have_one_end_in_each_order::host", search::random)
        .plain("graphs_whose_end_once_depended_on_timing_have_one::host", search::known)
}
