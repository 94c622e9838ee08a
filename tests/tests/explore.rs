//! Exploration of schedules, by seeds and exhaustively. Exploration finds missing edges, reports no right program,
//! and claims completeness only after visiting all states.
#![allow(clippy::panic, reason = "panics are part of what is tested")]

mod counts;
mod edges;
mod judged;
mod limits;
mod plans;
mod replay;
mod seed_application;
mod threads;

use streamflow_tests::{Failed, Suite, races};

/// Runs the role of a child process.
pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match role {
        "two threads" => threads::child(),
        other => replay::child(other),
    }
}

pub(crate) fn suite() -> Suite {
    let suite = races::ALL.iter().fold(Suite::new(), |suite, &(name, program)| {
        suite
            .plain(&format!("{name}_is_right_in_every_state"), move || edges::right(program))
            .plain(&format!("{name}_without_waits_is_found"), move || edges::found(program))
    });
    suite
        .plain("two_writers_leave_both_values", edges::two_writers)
        .plain("values_that_the_host_has_read_are_part_of_the_state", edges::read_by_the_host)
        .plain("a_panic_is_a_failure", edges::panic)
        .plain("states_of_independent_streams_multiply", counts::independent)
        .plain("an_edge_reduces_the_number_of_states", counts::edge)
        .plain("the_default_stream_reduces_the_number_of_states", counts::default_stream)
        .plain("each_answer_of_a_query_is_a_branch", counts::query)
        .plain("polling_has_finitely_many_states", counts::polling)
        .plain("two_queries_get_every_combination_of_answers", counts::two_queries)
        .plain("the_seeds_application_is_right_in_every_state", seed_application::right)
        .plain("the_seeds_application_is_right_in_two_threads", seed_application::in_two_threads)
        .plain("the_seeds_application_without_waits_is_found", seed_application::found)
        .plain("a_graph_of_plans_is_right_in_each_seed", plans::right)
        .plain("a_graph_of_plans_without_waits_is_found", plans::found)
        .plain("an_exploration_that_reaches_a_limit_names_it", limits::each)
        .plain("a_test_that_is_not_reproducible_is_reported", limits::diverged)
        .plain("a_test_that_never_stops_submitting_ends", limits::endless)
        .plain("seeds_are_tried_in_order", replay::seeds)
        .plain("a_failure_is_replayed_by_its_seed", replay::seed)
        .plain("a_failure_is_replayed_by_its_schedule", replay::schedule)
        .plain(
            "a_failure_without_a_checker_is_found_and_replayed_by_its_schedule",
            replay::unwatched,
        )
        .plain("invalid_variables_are_an_error", replay::bad_variables)
        .plain("a_fault_of_two_threads_is_found_and_reproduced_by_a_seed", threads::found_by_a_seed)
        .plain("a_fault_of_two_threads_is_found_exhaustively", threads::found_exhaustively)
        .plain(
            "an_exploration_of_threads_names_its_bound_of_two_preemptions",
            threads::right_with_two_preemptions,
        )
        .plain("a_thread_outside_of_the_exploration_is_named", threads::foreign)
        .plain("a_blocked_thread_is_named", threads::blocked)
        .plain("a_run_that_nothing_can_notify_is_an_error", threads::never_notified)
        .plain("a_platform_that_a_test_makes_is_refused", judged::own_platform)
        .plain("a_test_that_does_not_use_its_platform_fails", judged::unused_platform)
        .plain("a_graph_of_a_platform_from_outside_is_refused", judged::other_platform)
        .plain("a_test_without_a_device_is_explored", judged::without_a_device)
        .plain("a_race_that_a_test_has_not_taken_fails_it", judged::races)
        .plain("work_that_a_test_leaves_may_fail_it", judged::work_that_is_left)
        .plain("a_panic_of_a_scoped_thread_behaves_as_in_std", threads::panics)
}
