//! Replay: `#[replay]` on a graph. A replayed graph computes the same, and each rule of `driver::replay` is needed.
#![allow(missing_docs, reason = "a test binary")]

#[path = "replay/calls.rs"]
mod calls;
#[path = "replay/data.rs"]
mod data;
#[path = "replay/devices.rs"]
mod devices;
#[path = "replay/ends.rs"]
mod ends;
#[path = "replay/lost.rs"]
mod lost;
#[path = "replay/nodes.rs"]
mod nodes;
#[path = "replay/scalars.rs"]
mod scalars;
#[path = "replay/share.rs"]
mod share;
#[path = "replay/threads.rs"]
mod threads;

use std::process::ExitCode;

use streamflow_tests::Suite;
use streamflow_tests::forms::Form;

fn main() -> ExitCode {
    let replayed = [
        data::add,
        devices::add,
        ends::add,
        lost::add,
        scalars::add,
        share::add,
        threads::add,
        calls::add,
    ];
    let suite = Suite::new().except(Form::Workers, "workers switch replay off", |suite| {
        replayed.into_iter().fold(suite, |suite, add| add(suite))
    });
    ends::add_others(suite).run()
}
