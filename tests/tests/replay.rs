//! Replay: `#[replay]` on a graph. A replayed graph computes the same, and each rule of `driver::replay` is needed.
#![allow(missing_docs, reason = "a test binary")]

#[path = "replay/data.rs"]
mod data;
#[path = "replay/nodes.rs"]
mod nodes;

use std::process::ExitCode;

use streamflow_tests::Suite;

fn main() -> ExitCode {
    data::add(Suite::new()).run()
}
