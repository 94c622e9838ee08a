//! Parameters that are set before, during and between runs, from any thread, and from files.

mod assigned;
mod files;
mod limits;
mod operators;
mod reports;
mod setting;
mod threads;

use streamflow_tests::Suite;

pub(crate) fn suite() -> Suite {
    let suite = limits::add(setting::add(Suite::new()));
    files::add(threads::add(reports::add(assigned::add(suite))))
}
