//! Calls of libraries on streams: each call is one operation with its accesses, on both platforms.

mod direct;
mod every_plan;
mod extremes;
mod fft;
mod forgotten;
mod graphs;
mod in_tick;
mod lines;
mod matmul;
mod matrices;
mod operators;
mod random;
mod random_oracle;
mod seam;
mod solve_batches;
mod solve_decompositions;
mod solve_errors;
mod solve_order;
mod solve_refused;
mod solve_systems;
mod sparse;
mod unwritten;

use streamflow_tests::Suite;

pub(crate) fn suite() -> Suite {
    let suite = Suite::new();
    let suite = seam::add(suite);
    let suite = operators::add(forgotten::add(suite));
    let suite = random_oracle::add(random::add(suite));
    let suite = matmul::add(suite);
    let suite = solve_decompositions::add(solve_systems::add(suite));
    let suite = solve_batches::add(suite);
    let suite = solve_refused::add(solve_errors::add(suite));
    let suite = direct::add(solve_order::add(suite));
    let suite = extremes::add(sparse::add(suite));
    unwritten::add(every_plan::add(graphs::add(lines::add(fft::add(suite)))))
}
