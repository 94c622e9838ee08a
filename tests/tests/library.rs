//! Libraries on streams: each call is one operation with its accesses, on both platforms.
#![allow(missing_docs, reason = "a test binary")]

mod library {
    pub(crate) mod every_plan;
    pub(crate) mod extremes;
    pub(crate) mod fft;
    pub(crate) mod forgotten;
    pub(crate) mod graphs;
    pub(crate) mod in_tick;
    pub(crate) mod lines;
    pub(crate) mod matmul;
    pub(crate) mod matrices;
    pub(crate) mod operators;
    pub(crate) mod random;
    pub(crate) mod random_oracle;
    pub(crate) mod seam;
    pub(crate) mod solve_batches;
    pub(crate) mod solve_decompositions;
    pub(crate) mod solve_errors;
    pub(crate) mod solve_order;
    pub(crate) mod solve_refused;
    pub(crate) mod solve_systems;
    pub(crate) mod sparse;
    pub(crate) mod unwritten;
}

use std::process::ExitCode;

use library::{
    every_plan, extremes, fft, forgotten, graphs, lines, matmul, operators, random, random_oracle,
    seam, solve_batches, solve_decompositions, solve_errors, solve_order, solve_refused,
    solve_systems, sparse, unwritten,
};
use streamflow_tests::Suite;

fn main() -> ExitCode {
    let suite = Suite::new();
    let suite = seam::add(suite);
    let suite = operators::add(forgotten::add(suite));
    let suite = random_oracle::add(random::add(suite));
    let suite = matmul::add(suite);
    let suite = solve_decompositions::add(solve_systems::add(suite));
    let suite = solve_batches::add(suite);
    let suite = solve_refused::add(solve_errors::add(suite));
    let suite = solve_order::add(suite);
    let suite = extremes::add(sparse::add(suite));
    let suite = unwritten::add(every_plan::add(graphs::add(lines::add(fft::add(suite)))));
    suite.run()
}
