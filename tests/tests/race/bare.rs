//! Single races and single dependencies, on bare streams. Each program in `RACES` has one race without its dependency,
//! and none with it.

#[path = "bare/border.rs"]
mod border;
#[path = "bare/content.rs"]
mod content;
#[path = "bare/host.rs"]
mod host;
#[path = "bare/meanwhile.rs"]
mod meanwhile;
#[path = "bare/reports.rs"]
mod reports;
#[path = "bare/rows.rs"]
mod rows;
#[path = "bare/stale.rs"]
mod stale;
#[path = "bare/streams.rs"]
mod streams;

use streamflow::driver::RawStream;
use streamflow::driver::race::RaceReports;
use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow_driver::driver::DriverResult;
use streamflow_tests::foreign::Bare;
use streamflow_tests::{Failed, Suite, check};

const STREAM: StreamFlags = StreamFlags::NonBlocking;

/// A program without a race if `dependency` is true, and with one race otherwise.
type Program = fn(&Bare, dependency: bool) -> DriverResult<()>;

const RACES: &[(&str, Program)] = &[
    ("a_read_after_a_write_needs_a_dependency", streams::read_after_write),
    ("a_write_after_a_read_needs_a_dependency", streams::write_after_read),
    ("a_write_after_two_reads_needs_a_dependency_from_each", streams::write_after_two_reads),
    ("a_write_after_a_write_needs_a_dependency", streams::write_after_write),
    ("a_free_after_a_read_needs_a_dependency", streams::free_after_read),
    ("recycling_after_a_read_needs_a_dependency", streams::reuse_after_read),
    (
        "a_use_on_another_stream_than_the_allocation_needs_a_dependency",
        streams::use_before_allocation,
    ),
    ("overlapping_writes_need_a_dependency", streams::overlapping_parts),
    ("a_read_of_part_of_a_write_needs_a_dependency", streams::part_of_a_write),
    ("copies_to_overlapping_columns_need_a_dependency", rows::overlapping),
    ("a_write_after_a_copy_of_columns_needs_a_dependency", rows::read),
    ("a_chain_of_streams_needs_each_dependency", streams::chain),
    ("a_wait_for_an_event_recorded_again_misses_its_first_record", streams::recorded_again),
    ("a_wait_before_the_record_orders_nothing", streams::wait_before_record),
    ("a_host_read_of_a_download_needs_a_host_wait", host::host_read),
    ("a_host_write_of_an_upload_needs_a_host_wait", host::host_write),
    ("work_after_a_host_wait_comes_after_the_awaited_work", host::synchronized),
    ("work_after_a_successful_query_comes_after_the_queried_work", host::queried),
    ("only_a_pageable_copy_to_the_host_blocks_the_host", host::blocking_copy),
    ("the_default_stream_waits_for_blocking_streams", streams::barrier_before),
    ("blocking_streams_wait_for_the_default_stream", streams::barrier_after),
    ("work_relies_on_another_threads_wait_only_if_declared", host::another_thread),
];

pub(super) fn add(suite: Suite) -> Suite {
    let suite = border::add(stale::add(meanwhile::add(content::add(suite))));
    let suite = RACES.iter().fold(suite, |suite, &(name, program)| {
        suite.both(name, move |platform| {
            expect(platform, program, false, 1)?;
            expect(platform, program, true, 0)
        })
    });
    suite
        .both("adjacent_parts_do_not_race", |platform| expect(platform, streams::parts, false, 0))
        .both("copies_to_other_columns_do_not_race", |platform| {
            expect(platform, rows::disjoint, false, 0)
        })
        .both("two_reads_do_not_race", |platform| expect(platform, streams::two_readers, false, 0))
        .both("memory_that_the_driver_allocates_again_does_not_race", host::allocated_again)
        .both("a_write_races_with_both_readers_by_name", reports::both_readers_are_named)
        .both("races_beyond_the_limit_are_counted", reports::too_many_races)
        .both("forgotten_accesses_are_counted", reports::forgotten)
        .both("accesses_to_unknown_memory_are_counted", reports::unknown)
        .plain("a_query_that_returns_false_orders_nothing::host", host::incomplete_query)
        .plain("a_called_host_function_orders_only_with_reliance::host", host::host_function)
}

fn run(platform: &Platform, program: Program, dependency: bool) -> Result<RaceReports, Failed> {
    let bare = Bare::new(platform.driver().clone())?;
    program(&bare, dependency)?;
    let races = bare.races();
    drop(bare);
    // The platform's own race checker, if there is one, is below this one, and has seen the same calls.
    let below = platform.take_races();
    let same = !platform.is_race_checked() || below.races.len() == races.races.len();
    check(same, || format!("{races}\nbelow: {below}"))?;
    Ok(races)
}

fn expect(
    platform: &Platform,
    program: Program,
    dependency: bool,
    count: usize,
) -> Result<(), Failed> {
    let races = run(platform, program, dependency)?;
    check(races.races.len() == count && races.more == 0, || {
        format!("with a dependency: {dependency}; not {count} races: {races}")
    })
}

fn two(bare: &Bare) -> DriverResult<[RawStream; 2]> {
    Ok([bare.stream(STREAM)?, bare.stream(STREAM)?])
}
