//! Random programs. Each is safe code, so that each must give the data of sequential execution, in whatever order the
//! device executes its work.
//!
//! - `STREAMFLOW_PROGRAMS_SECONDS=n` runs programs for `n` seconds, and not the first 8,000 (1,000 in the fast tier).
//! - `STREAMFLOW_PROGRAMS_SEED=n` runs only program `n`, in many ways, to reproduce a failure.

mod claims;
mod code;
mod count;
mod pieces;
mod program;
mod search;
mod shrink;
mod graphs {
    mod build;
    mod calls;
    mod code;
    mod draw;
    mod generate;
    mod item;
    mod known;
    mod libraries;
    mod operators;
    mod plan;
    mod script;
    mod shrink;

    pub(crate) use build::run;
    pub(crate) use code::{ITEM, LIBRARIES, print};
    pub(crate) use generate::flow as draw;
    pub(crate) use known::left_out_wait;
    pub(crate) use plan::Flow;
    pub(crate) use shrink::smaller;
}
mod threads {
    mod code;
    mod generate;
    mod plan;
    mod run;
    mod shrink;

    pub(crate) use code::print;
    pub(crate) use generate::threads as draw;
    pub(crate) use plan::Threads;
    pub(crate) use run::run;
    pub(crate) use shrink::smaller;
}

use streamflow_tests::Suite;
use streamflow_tests::forms::Form;

pub(crate) fn suite() -> Suite {
    let why = "a claim is left out on the thread that runs the graph";
    Suite::new()
        .except(Form::Workers, why, |suite| {
            suite.optional("programs_show_each_claim_that_is_left_out", "", claims::each_is_needed)
        })
        .plain("random_programs_give_the_data_of_sequential_execution::host", search::simulated)
        .plain("programs_that_once_failed_give_right_data::host", search::known)
        .cuda("random_programs_give_the_data_of_sequential_execution", search::on_a_gpu)
}
