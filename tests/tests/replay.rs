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

fn main() -> ExitCode {
    let suite = data::add(Suite::new());
    let suite = devices::add(suite);
    let suite = ends::add(suite);
    let suite = lost::add(suite);
    let suite = scalars::add(suite);
    let suite = share::add(suite);
    let suite = threads::add(suite);
    calls::add(suite).run()
}
