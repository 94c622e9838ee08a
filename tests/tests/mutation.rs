//! The edges that the runtime issues, dropped one at a time: each must be missed by the race checker,
//! and by the data.
#![allow(missing_docs, reason = "a test binary")]

mod mutation {
    pub(crate) mod build;
    pub(crate) mod drop_each;
    pub(crate) mod graphs;
    pub(crate) mod notice;
    pub(crate) mod operators;
    pub(crate) mod order;
    pub(crate) mod plan;
    pub(crate) mod random;
    pub(crate) mod runs;
}

use std::process::ExitCode;

use mutation::drop_each;
use streamflow_tests::Suite;

fn main() -> ExitCode {
    Suite::new().plain("each_mutation_of_an_edge_is_noticed_both_ways", drop_each::all).run()
}
