//! Parameters: set before, during and between runs, from any thread, and from files.
#![allow(missing_docs, reason = "a test binary")]

mod parameters {
    pub(crate) mod assigned;
    pub(crate) mod files;
    pub(crate) mod limits;
    pub(crate) mod operators;
    pub(crate) mod reports;
    pub(crate) mod setting;
    pub(crate) mod threads;
}

use std::process::ExitCode;

use parameters::{assigned, files, limits, reports, setting, threads};
use streamflow_tests::Suite;

fn main() -> ExitCode {
    let suite = limits::add(setting::add(Suite::new()));
    files::add(threads::add(reports::add(assigned::add(suite)))).run()
}
