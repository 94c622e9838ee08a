//! Code of a user that the library calls: parameters' `Clone`, `Debug` and `Drop`, wakers, log lines, errors, closures,
//! and writers of a `Debug` form. The library calls such code without holding a lock, so the code may call the library
//! again, or wait for another thread that does. Destructors of a thread's variables may call the library as well.
//!
//! Where a lock is held, or a variable is gone, the process hangs or is aborted: so each test is a process of its own.
#![allow(clippy::panic, reason = "a test is about panics")]

mod debug;
mod lines;
mod parameters;
mod thread_ends;
mod wakers;
mod workers;

use streamflow_tests::{Failed, Suite, child};

type Body = fn() -> Result<(), Failed>;

/// The names of the tests, with their bodies.
const ALL: &[(&str, Body)] = &[
    ("a_parameter_is_asked_for_while_it_is_copied", parameters::get_in_clone),
    ("a_parameter_is_set_while_it_is_copied", parameters::set_in_clone),
    ("a_parameter_is_asked_for_while_it_is_written", parameters::get_in_debug),
    ("a_file_of_parameters_is_read_while_one_is_dropped", parameters::load_in_drop),
    ("a_download_is_awaited_while_a_waker_is_dropped", wakers::dropped),
    ("a_download_is_awaited_while_a_task_is_woken", wakers::woken),
    ("a_port_is_asked_while_its_task_is_woken_and_dropped", wakers::of_a_port),
    ("a_message_comes_while_a_waker_is_cloned", wakers::of_a_clone),
    ("a_port_is_polled_while_its_task_is_woken", wakers::of_a_poll),
    ("a_future_is_dropped_while_its_task_is_woken", wakers::of_an_end),
    ("a_run_is_asked_while_its_task_is_woken_and_dropped", wakers::of_a_run),
    ("a_pool_is_asked_by_what_gets_its_log_lines", lines::of_a_pool),
    ("a_library_is_loaded_again_by_what_gets_its_log_lines", lines::of_a_setting),
    ("a_pool_allocates_while_it_is_written", debug::of_a_pool),
    ("a_handle_notifies_while_it_is_written", debug::of_a_handle),
    ("a_log_of_calls_is_read_while_its_calls_are_counted", debug::of_a_recorder),
    ("two_workers_wait_for_each_others_errors", workers::errors),
    ("a_graph_runs_while_its_thread_ends", thread_ends::runs),
    ("streams_work_while_their_thread_ends", thread_ends::streams),
    ("a_test_is_explored_while_its_thread_ends", thread_ends::explored),
];

/// Runs the role of a child process.
pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match ALL.iter().find(|(name, _)| *name == role) {
        Some((_, body)) => body(),
        None => Err(Failed::msg(format!("no role: {role}"))),
    }
}

pub(crate) fn suite() -> Suite {
    ALL.iter().fold(Suite::new(), |suite, &(name, _)| {
        // No setting of the library has this value, so reading the variable logs a line.
        suite.plain(name, move || {
            child::run("users_code", name, &[("STREAMFLOW_CHECK_BOUNDS", "weird")])
        })
    })
}
