//! Products of matrices: results against double precision, order, and refused plans and calls.

mod blas;
mod digits;
pub(crate) mod hook;
mod operators;
mod order;
mod products;
mod refused;
mod stored;
mod triangles;

use streamflow_tests::Suite;

pub(crate) fn add(suite: Suite) -> Suite {
    let suite = order::add(refused::add(products::add(suite)));
    let suite = digits::add(suite);
    operators::add(stored::add(triangles::add(blas::add(suite))))
}
