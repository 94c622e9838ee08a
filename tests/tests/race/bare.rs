//! One race and one edge at a time, on bare streams.

#[path = "bare/host.rs"]
mod host;
#[path = "bare/reports.rs"]
mod reports;
#[path = "bare/streams.rs"]
mod streams;

use streamflow::driver::race::RaceReports;
use streamflow::driver::{DriverResult, RawStream};
use streamflow::prelude::*;
use streamflow_tests::foreign::Bare;
use streamflow_tests::{Failed, Suite, check};

const STREAM: StreamFlags = StreamFlags::NonBlocking;

/// A program that is right when its edge is there.
type Program = fn(&Bare, edge: bool) -> DriverResult<()>;

const RACES: &[(&str, Program)] = &[
    ("a_read_after_a_write", streams::read_after_write),
    ("a_write_after_a_read", streams::write_after_read),
    ("a_write_after_two_reads", streams::write_after_two_reads),
    ("a_write_after_a_write", streams::write_after_write),
    ("a_free_after_a_read", streams::free_after_read),
    ("reuse_after_a_read", streams::reuse_after_read),
    ("a_use_before_the_allocation", streams::use_before_allocation),
    ("overlapping_parts", streams::overlapping_parts),
    ("a_part_of_what_was_written", streams::part_of_a_write),
    ("a_chain_of_streams", streams::chain),
    ("an_event_recorded_again", streams::recorded_again),
    ("a_wait_before_the_record", streams::wait_before_record),
    ("a_host_read_of_a_download", host::host_read),
    ("a_host_write_of_an_upload", host::host_write),
    ("a_host_that_synchronizes", host::synchronized),
    ("a_host_that_asks", host::asked),
    ("a_copy_to_ordinary_memory", host::blocking_copy),
    ("the_default_streams_barrier", streams::barrier_before),
    ("the_barrier_of_the_default_stream", streams::barrier_after),
    ("another_thread_synchronizes", host::another_thread),
];

pub(super) fn add(suite: Suite) -> Suite {
    let suite = RACES.iter().fold(suite, |suite, &(name, program)| {
        suite.both(name, move |platform| {
            expect(platform, program, false, 1)?;
            expect(platform, program, true, 0)
        })
    });
    suite
        .both("parts_that_do_not_touch", |platform| expect(platform, streams::parts, false, 0))
        .both("two_readers", |platform| expect(platform, streams::two_readers, false, 0))
        .both("memory_that_the_driver_hands_out_again", host::allocated_again)
        .both("both_readers_are_named", reports::both_readers_are_named)
        .both("too_many_races_are_counted", reports::too_many_races)
        .both("what_is_forgotten_is_counted", reports::forgotten)
        .both("unknown_memory_is_counted", reports::unknown)
        .plain("a_question_answered_with_no_orders_nothing::host", host::unanswered)
        .plain("a_host_function_that_was_called::host", host::host_function)
}

fn run(platform: &Platform, program: Program, edge: bool) -> Result<RaceReports, Failed> {
    let bare = Bare::new(platform.driver().clone())?;
    program(&bare, edge)?;
    let races = bare.races();
    drop(bare);
    // The platform's own checker, if it has one, is below, and has seen the same.
    let below = platform.take_races();
    let same = !platform.is_race_checked() || below.races.len() == races.races.len();
    check(same, || format!("{races}\nbelow: {below}"))?;
    Ok(races)
}

fn expect(platform: &Platform, program: Program, edge: bool, count: usize) -> Result<(), Failed> {
    let races = run(platform, program, edge)?;
    check(races.races.len() == count && races.more == 0, || {
        format!("with an edge: {edge}; not {count} races: {races}")
    })
}

fn two(bare: &Bare) -> DriverResult<[RawStream; 2]> {
    Ok([bare.stream(STREAM)?, bare.stream(STREAM)?])
}
