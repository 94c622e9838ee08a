//! Exploration of schedules: by seeds, and exhaustively. Missing edges are found, right programs are
//! not blamed, and what is said to be everything is everything.
#![allow(missing_docs, clippy::panic, reason = "a test binary; panics are part of what is tested")]

mod explore {
    pub(crate) mod counts;
    pub(crate) mod edges;
    pub(crate) mod limits;
    pub(crate) mod replay;
    pub(crate) mod seed_application;
    pub(crate) mod threads;
}

use std::process::ExitCode;

use explore::{counts, edges, limits, replay, seed_application, threads};
use streamflow_tests::{Suite, child, races};

fn main() -> ExitCode {
    if let Some(role) = child::role() {
        return child::play(&role, |role| match role {
            "two threads" => threads::child(),
            other => replay::child(other),
        });
    }
    let suite = races::ALL.iter().fold(Suite::new(), |suite, &(name, program)| {
        suite
            .plain(&format!("{name}_is_right_in_every_state"), move || edges::right(program))
            .plain(&format!("{name}_without_waits_is_found"), move || edges::found(program))
    });
    suite
        .plain("two_writers_leave_both_values", edges::two_writers)
        .plain("what_the_host_has_read_is_part_of_the_state", edges::read_by_the_host)
        .plain("a_panic_is_a_failure", edges::panic)
        .plain("independent_streams_have_a_product_of_states", counts::independent)
        .plain("an_edge_takes_states_away", counts::edge)
        .plain("the_default_stream_takes_states_away", counts::default_stream)
        .plain("a_failed_query_is_a_branch", counts::query)
        .plain("asking_until_it_is_done_ends", counts::polling)
        .plain("two_questions_are_answered_in_every_way", counts::two_questions)
        .plain("the_seeds_application_with_two_ticks", seed_application::right)
        .plain("the_seeds_application_in_two_threads", seed_application::in_two_threads)
        .plain("the_seeds_application_without_waits_is_found", seed_application::found)
        .plain("limits_say_where_it_stopped", limits::each)
        .plain("a_test_that_does_not_repeat_itself_is_noticed", limits::diverged)
        .plain("a_test_that_never_stops_submitting_ends", limits::endless)
        .plain("seeds_are_tried_in_order", replay::seeds)
        .plain("a_seed_is_replayed", replay::seed)
        .plain("a_schedule_is_replayed", replay::schedule)
        .plain("bad_variables_are_refused", replay::bad_variables)
        .plain("a_fault_of_two_threads_is_found_and_repeated_by_a_seed", threads::found_by_a_seed)
        .plain("a_fault_of_two_threads_is_found_exhaustively", threads::found_exhaustively)
        .plain("threads_are_right_with_two_preemptions", threads::right_with_two_preemptions)
        .plain("a_foreign_thread_is_named", threads::foreign)
        .plain("a_thread_that_is_blocked_outside_is_named", threads::blocked)
        .plain("a_panic_of_a_thread_is_as_in_std", threads::panics)
        .run()
}
