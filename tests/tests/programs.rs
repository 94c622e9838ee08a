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
    mod nested;
    mod operators;
    mod plan;
    mod script;
    mod shapes;
    mod shrink;
    mod twins;

    pub(crate) use code::{ITEM, LIBRARIES, print};
    pub(crate) use generate::{flow as draw, nested as draw_nested};
    pub(crate) use known::left_out_wait;
    pub(crate) use nested::run;
    pub(crate) use plan::Flow;
    pub(crate) use shrink::smaller;
    pub(crate) use twins::{are_the_same, have_the_same_calls};
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

/// Why calls are not compared in a form.
const CALLS: &str =
    "the calls of workers, and of a host beside passes that are captured, have no order";

pub(crate) fn suite() -> Suite {
    let why = "a claim is left out on the thread that runs the graph";
    Suite::new()
        .except(Form::Workers, why, |suite| {
            suite
                .optional("programs_show_each_claim_that_is_left_out", "", claims::each_is_needed)
                .optional(
                    "graphs_in_graphs_show_each_claim_that_is_left_out",
                    "",
                    claims::each_is_needed_across_borders,
                )
        })
        .plain(
            "drawn_graphs_in_graphs_have_the_plan_of_their_flat_twins::host",
            graphs::are_the_same,
        )
        .except(Form::Workers, CALLS, |suite| {
            suite.except(Form::ReplayedAlways, CALLS, |suite| {
                suite.plain(
                    "drawn_graphs_in_graphs_make_the_calls_of_their_flat_twins::host",
                    graphs::have_the_same_calls,
                )
            })
        })
        .plain("random_programs_give_the_data_of_sequential_execution::host", search::simulated)
        .plain("programs_that_once_failed_give_right_data::host", search::known)
        .cuda("random_programs_give_the_data_of_sequential_execution", search::on_a_gpu)
}
