//! The operators, methods and casts of kernels with one body have Rust's meaning, on each platform.
//!
//! The kernels of `kernels.rs` have one operation in each arm of a `match`. Each one is tried with the values at the edges of its
//! type, and the results are compared with those of Rust's own operators: bit for bit, where NaN equals NaN, or within the errors
//! of `errors.rs` for the functions that are not exact.
//!
//! `compiled.rs` has the same kernels' CUDA text as C++ for the host, and `mutants.rs` shows that the cases notice a mistake in it.
//! `codes.rs` has the loops around a body, with the threads of a grid one after the other.

mod cases;
mod codes;
pub(crate) mod compiled;
mod errors;
mod kernels;
mod mutants;
mod types;
mod values;

use streamflow::prelude::*;
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite};

use self::cases::Subject;

/// The variable that makes a missing compiler of C++ a failure.
pub(crate) const REQUIRE: &str = "STREAMFLOW_REQUIRE_CXX";

pub(crate) fn suite() -> Suite {
    Suite::new()
        .values(|suite| {
            suite
                .both("integers_have_the_operators_of_rust", |on| run(on, kernels::integers()))
                .both("floats_have_the_operators_of_rust", |on| run(on, kernels::floats()))
                .both("casts_and_bools_are_those_of_rust", |on| run(on, kernels::casts()))
                .both("instances_arrays_and_structs_are_those_of_rust", |on| run(on, types::all()))
        })
        .large(|suite| {
            suite.both("random_bodies_are_those_of_rust", |on| run(on, kernels::random::all()))
        })
        .optional("random_bodies_in_cuda_are_those_of_rust", REQUIRE, compiled::random)
        .optional("the_text_in_cuda_has_the_operators_of_rust", REQUIRE, compiled::all)
        .optional("each_code_has_the_elements_of_its_places", REQUIRE, codes::all)
        .optional("each_mistake_in_the_text_of_the_operators_is_noticed", REQUIRE, mutants::all)
        .optional("a_struct_whose_fields_have_another_order_is_noticed", REQUIRE, mutants::fields)
        .optional("the_text_of_another_instance_is_noticed", REQUIRE, mutants::instances)
}

fn run(platform: &Platform, subjects: Vec<Subject>) -> Result<(), Failed> {
    let stream = stream(platform)?;
    subjects.iter().try_for_each(|subject| subject.run(platform, &stream))
}
