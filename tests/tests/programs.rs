//! Random programs: each is safe, so each must give the data that its calls give one after the other, in
//! whatever order the device executes them.
//!
//! - `STREAMFLOW_PROGRAMS_SECONDS=n` runs programs for so long; 60 by default.
//! - `STREAMFLOW_PROGRAMS_SEED=n` runs one program alone, in many ways: how a failure is repeated.
#![allow(missing_docs, reason = "a test binary")]

mod programs {
    pub(crate) mod code;
    pub(crate) mod count;
    pub(crate) mod pieces;
    pub(crate) mod program;
    pub(crate) mod search;
    pub(crate) mod shrink;
    pub(crate) mod graphs {
        mod build;
        mod calls;
        mod code;
        mod draw;
        mod generate;
        mod item;
        mod known;
        mod operators;
        mod plan;
        mod script;
        mod shrink;

        pub(crate) use build::run;
        pub(crate) use code::{ITEM, print};
        pub(crate) use generate::flow as draw;
        pub(crate) use known::left_out_wait;
        pub(crate) use plan::Flow;
        pub(crate) use shrink::smaller;
    }
    pub(crate) mod threads {
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
}

use std::process::ExitCode;

use programs::search;
use streamflow_tests::Suite;

fn main() -> ExitCode {
    Suite::new()
        .plain("random_programs::host", search::simulated)
        .plain("known_programs::host", search::known)
        .cuda("random_programs", search::on_a_gpu)
        .run()
}
