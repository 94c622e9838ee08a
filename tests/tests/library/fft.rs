//! Fourier transforms: results, order, and refused plans and calls.

mod compare;
mod dft;
mod layouts;
mod operators;
mod order;
mod refused;
mod results;
mod within;

use streamflow_tests::Suite;

pub(crate) fn add(suite: Suite) -> Suite {
    let suite = layouts::add(results::add(suite));
    operators::add(refused::add(order::add(suite)))
}
