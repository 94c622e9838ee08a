//! `#[on_failure(…)]`: after a failed tick, a node stops the run, skips the tick, or goes on with a new operator.

mod numbers;
mod random;
mod restart;
mod skip;
mod sticky;

use streamflow_tests::Suite;

pub(crate) fn suite() -> Suite {
    // The panics of these tests are caused on purpose, so they print nothing. The harness still reports every other
    // panic.
    std::panic::set_hook(Box::new(|_| ()));
    let suite = skip::add(restart::add(Suite::new()));
    sticky::add(random::add(suite))
}
