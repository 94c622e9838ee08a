//! Each call that `CudaDriver` makes fails in turn, with each error that CUDA documents for it: also the calls that no
//! call of the driver stands for, as those that open a device or make its memory pool.
//!
//! The driver runs on a `libcuda` of the tests (`fake_cuda`), so that no GPU is needed. A trial is a process where one
//! call fails. A program makes a platform, uses each part of it, and drops all; then it does the same again. A trial is
//! explained if exactly one error is reported, with the names of the function and of the error; if everything was given
//! back, except the object that the failed call was to give back; and if the program then succeeds or, after a sticky
//! error, is refused without a call of CUDA.
//!
//! A call fails with one sticky error, and with `STREAMFLOW_FAULTS=all` with each. `STREAMFLOW_FAULTS=table` prints the
//! fault table.

mod cudarc;
mod judge;
mod libraries;
mod library;
mod memory_streams;
mod plan_calls;
mod program;
mod trial;
mod trials;

use streamflow_tests::border::PROGRAMS;
use streamflow_tests::{Failed, Suite};

use super::faults::log;

type Test = fn() -> Result<(), Failed>;

/// Runs the role of a child process.
pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match role {
        cudarc::ROLE => cudarc::play(),
        libraries::ROLE => libraries::play(),
        memory_streams::ROLE => memory_streams::play(),
        plan_calls::ROLE => plan_calls::play(),
        _ => program::play_twice(),
    }
}

pub(crate) fn suite() -> Suite {
    let tests: [(&str, Test); 24] = [
        ("a_program_on_the_fake_is_right_and_gives_everything_back", trials::clean),
        ("each_call_of_the_cuda_driver_fails_with_each_documented_error", trials::each_call),
        ("a_function_that_the_library_lacks_is_named", trials::each_missing_function),
        ("a_missing_library_is_one_error_of_start", libraries::absent),
        ("a_library_without_a_function_is_one_error_of_start", libraries::old),
        ("a_steady_call_of_a_plan_makes_these_calls_and_no_others", plan_calls::steady),
        ("a_captured_call_of_a_plan_works_on_the_stream_that_it_gets", plan_calls::capturing),
        ("a_function_of_a_library_that_fails_is_one_error_of_its_operator", plan_calls::failing),
        ("a_library_without_memory_gets_what_pools_have_free", plan_calls::short),
        ("libraries_are_found_where_a_toolkit_and_wheels_have_them", plan_calls::installed),
        ("no_stream_with_work_allocates_or_frees_memory", memory_streams::working),
        ("control_memory_is_used_without_a_wait_for_its_allocation", memory_streams::unordered),
        ("control_a_stream_that_works_and_frees_is_counted", memory_streams::counted),
        ("memory_and_streams_go_to_cudarc_and_back", cudarc::there_and_back),
        ("another_device_or_platform_is_refused_by_the_border_to_cudarc", cudarc::errors),
        ("a_claim_whose_wait_cudarc_may_have_lost_waits_on_the_host", cudarc::lost_wait),
        ("a_stream_of_cudarc_lives_as_long_as_a_forgotten_external_stream", cudarc::kept_stream),
        ("work_comes_after_the_device_where_cudarc_orders_no_streams", cudarc::untracked),
        ("a_driver_that_could_not_take_memory_back_lends_none", cudarc::lent_by_an_old_driver),
        ("claims_for_cudarc_make_no_event_each", cudarc::kept_event),
        ("a_device_that_cudarc_finds_lost_ends_later_exchanges", cudarc::lost_device),
        ("a_stream_comes_after_what_cudarc_did_in_a_claim", cudarc::ordered_back),
        ("control_memory_of_cudarc_is_used_without_its_order", cudarc::unordered),
        ("a_context_that_is_lost_in_a_call_of_a_library_is_one_error", plan_calls::lost),
    ];
    let suite = tests.into_iter().fold(Suite::new(), |suite, (name, test)| {
        suite.optional(name, "", move || match library::missing() {
            Some(reason) => Ok(Some(reason)),
            None => test().map(|()| None),
        })
    });
    // These are the programs that can also run on a GPU.
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, _)| {
        suite.optional(name, "", move || match library::missing() {
            Some(reason) => Ok(Some(reason)),
            None => cudarc::clean(name).map(|()| None),
        })
    });
    suite.plain("control_wrong_reports_are_found", judge::controls)
}
