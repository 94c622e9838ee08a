//! `#[on_failure(…)]`: after a failed tick, a node stops the run, skips the tick, or goes on with a fresh
//! operator.

mod numbers;
mod random;
mod restart;
mod skip;
mod sticky;

use streamflow_tests::Suite;

pub(crate) fn suite() -> Suite {
    // The tests cause panics, and the harness reports any other.
    std::panic::set_hook(Box::new(|_| ()));
    let suite = skip::add(restart::add(Suite::new()));
    sticky::add(random::add(suite))
}
