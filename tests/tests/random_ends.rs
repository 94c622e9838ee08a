//! Random graphs end in the same way on one thread, with workers, and in each explored order: with optional inputs, queues and
//! policies, `count`, `finish`, `flush`, conditions, joins, failures and feedback. The report accounts for each message.
//!
//! - `STREAMFLOW_ENDS_SECONDS=n` runs graphs for `n` seconds, and not the first 200.
//! - `STREAMFLOW_ENDS_SEED=n` runs only graph `n`, in many ways, to reproduce a failure.
#![allow(missing_docs, reason = "a test binary")]

mod random_ends {
    pub(crate) mod build;
    pub(crate) mod code;
    pub(crate) mod draw;
    pub(crate) mod judge;
    pub(crate) mod operators;
    pub(crate) mod plan;
    pub(crate) mod run;
    pub(crate) mod search;
    pub(crate) mod shrink;
}

use std::process::ExitCode;

use random_ends::search;
use streamflow_tests::Suite;

fn main() -> ExitCode {
    Suite::new()
        .plain("random_graphs_have_one_end_in_each_order::host", search::random)
        .plain("graphs_whose_end_once_depended_on_timing_have_one::host", search::known)
        .run()
}
