//! Planned streams, `Assign::Planned`: which operators share a stream, and that a graph computes the same with
//! shared streams.

mod complete;
mod conditions;
mod differing;
mod keeps;
mod nested;
mod nodes;
mod pools;
mod records;
mod shapes;
mod waits;

use streamflow_tests::Suite;

pub(crate) fn suite() -> Suite {
    let suite = Suite::new();
    let suite = shapes::add(suite);
    let suite = conditions::add(suite);
    let suite = keeps::add(suite);
    let suite = pools::add(suite);
    let suite = waits::add(suite);
    let suite = differing::add(suite);
    let suite = complete::add(suite);
    let suite = nested::add(suite);
    records::add(suite)
}
