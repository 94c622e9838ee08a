//! `#[on_failure(…)]`: a node whose tick fails stops the run, skips the tick, or goes on with a fresh operator.
#![allow(missing_docs, reason = "a test binary")]

#[path = "on_failure/numbers.rs"]
mod numbers;
#[path = "on_failure/random.rs"]
mod random;
#[path = "on_failure/restart.rs"]
mod restart;
#[path = "on_failure/skip.rs"]
mod skip;
#[path = "on_failure/sticky.rs"]
mod sticky;

use std::process::ExitCode;

use streamflow_tests::Suite;

fn main() -> ExitCode {
    // The tests cause panics, and the harness reports any other.
    std::panic::set_hook(Box::new(|_| ()));
    let suite = skip::add(restart::add(Suite::new()));
    sticky::add(random::add(suite)).run()
}
