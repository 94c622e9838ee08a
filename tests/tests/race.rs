//! The race checker reports every kind of race, and does not report the same program with its dependency. The reports
//! depend on neither the seed nor the data.

mod bare;
mod cudarc;
mod graph;
mod platform;
mod queries;

use streamflow_tests::Suite;

pub(crate) use platform::in_child;

pub(crate) fn suite() -> Suite {
    let suite = queries::add(bare::add(Suite::new()));
    let suite = cudarc::add(suite);
    let suite = graph::add(suite);
    platform::add(suite)
}
