//! Drops the dependencies that the runtime issues, one at a time. The race checker must report each dropped dependency,
//! and without the checker the data must be wrong, also where no layer takes notes, as in a release build.
//!
//! Dependencies are waits of streams, records, deferred frees, declarations of a kernel's accesses, claims of a
//! library's call, and waits and queries of the host. The programs are graphs, some of them with long runs where
//! messages wait until each event was recorded again, graphs of graphs and of arrays, and host threads that exchange
//! halves of a buffer.
//!
//! A graph of graphs and of arrays has the dependencies of its flat twin, and without one of them both show the same
//! under the same seeds (`mutation/twins.rs`).
//!
//! `STREAMFLOW_TEST_SEEDS=n` runs each program also without a mutation under the seeds `0..n`: then nothing is reported.
//!
//! The test counts and prints the dependencies that may be dropped unnoticed. There are four kinds: declarations that
//! order nothing; a wait that was needed when it was issued, and that the stream's next wait implies; a wait that
//! repeats one which the stream's clock has forgotten; and, at the end of a run, waits for streams that others have
//! waited for by then. Every other unnoticed dependency is a failure.
//!
//! # Schedulers
//! The greedy scheduler runs all programs. Workers run the graphs, too: they take turns in an order that the seed draws, so
//! that a seed repeats the order of all calls. A dependency has the same name whichever worker makes it.
//! - Without `STREAMFLOW_WORKERS`, 2 workers run every fifth graph, with every second mutation.
//! - With `STREAMFLOW_WORKERS=n`, n workers run every graph, with every fourth mutation, in less than a minute. The greedy
//!   scheduler runs none: that is the test without the variable.
//! - With `STREAMFLOW_MUTATIONS=all`, the workers run every graph with every mutation.
//!
//! - With `STREAMFLOW_ASSIGN=planned:2`, operators share streams. Then a dependency may be one that the order on a
//!   shared stream makes unnecessary, or one that the checker reports and no data shows. Such dependencies are counted,
//!   and are no failure.
//! - With `STREAMFLOW_REPLAY=always`, each pass is a graph. Replay is below the checker, and puts graphs that access
//!   the same memory in order by itself: only the checker reports such dependencies. They are counted, and are no
//!   failure.
//!
//! So far, one kind of unnoticed wait occurs only with workers: a wait that repeats one that the clock has forgotten. A
//! clock has room for 8 streams, and each forgotten stream costs a wait that was not needed (`stream::order`). In
//! `random 0` the second download of a tick gets page-locked memory that the other download has left. So its stream
//! comes after that download's stream. The entry of that stream takes the place of the default stream's, so the stream
//! waits for the default stream once more. No seed of the greedy scheduler does this. The test replays the clocks'
//! entries from the log, and accepts such a wait only if the entry was taken (`mutation/remembered.rs`).
//!
//! The CudaStreamPool example's application has the same data in each tick, so that few orders show a missing wait of its
//! last node. If the checker reports it, and neither 2000 seeds nor an exploration shows it by the data, then a graph of the
//! same form with other data in each tick must show it (`mutation/same_data.rs`).
//!
//! # Edits of the library
//! Dropping an issued dependency does not cover edits of the code that issues it. Each of these edits was made by hand,
//! and the tests named beside it fail with it. Names with `::` are unit tests.
//!
//! | Edit | Fails |
//! |---|---|
//! | `stream::order`, rule 1: the point of a use is taken before its work | `memory::tests::access::a_use_is_noted_with_a_point_from_after_its_work` |
//! | rule 1: a use is not noted when queuing it unwinds | `memory::tests::access::work_that_was_queued_before_a_panic_is_noted` |
//! | rule 2: the number of records is raised after the driver has recorded | `stream::tests::order::a_record_that_is_under_way_does_not_count` |
//! | rule 2: a record's slot is prepared after the record | `stream::tests::order::a_wait_that_is_queued_during_a_record_is_not_covered` |
//! | rule 3: the clock is raised, or what the record covers is merged, before the driver has taken the wait | `stream::tests::order::a_wait_that_the_driver_refused_is_made_again` |
//! | rule 3: a record that was overwritten needs no wait | `stream::tests::waits::events_that_were_used_again_are_never_too_early` |
//! | rule 4: a wait is also omitted for the record after the awaited one | `stream::tests::waits::a_wait_that_is_implied_makes_no_call`, and others |
//! | rule 4: a wait implies what the other stream has waited for *by now* | `stream::tests::waits::a_wait_that_is_implied_by_a_third_stream_makes_no_call` |
//! | rule 4: the work that a wait implies is not noted | the same test |
//! | rule 4: the point is taken before the uses that it covers are forgotten | `memory::tests::access::a_use_that_the_stream_came_after_too_late_is_kept` |
//! | rule 4: `Claims::mark_written` forgets all reads | the same test, `memory::tests::access::two_unordered_uses_are_both_kept` |
//! | rule 3: a failed record stands for the work that it would cover | `stream::tests::order::a_record_that_failed_covers_nothing` |
//! | rule 5: `found_complete` counts the slot's current record as complete | `stream::tests::order::what_an_overwritten_record_covers_is_not_taken_for_complete` |
//! | rule 5: the record after a complete one counts as complete | `stream::tests::complete::work_that_is_known_to_be_complete_needs_no_wait`, and others |
//! | a thread that relies on work that another thread found complete does not declare it | `stream::tests::complete::relying_on_what_another_thread_found_complete_is_no_race`, `stream::tests::complete::a_record_that_another_thread_finds_complete_during_a_query_is_no_race` |
//! | `Clock::get` takes another stream's entry | `stream::seen::clock::tests::a_stream_that_takes_the_place_of_another_makes_it_forgotten` |
//! | `Timeline::reattach` does not wait | `stream::tests::external::a_stream_with_the_handle_of_a_detached_one_comes_after_it` |
//! | `PackedLastWrite::is_before` does not check for reads | `memory::tests::access::a_write_waits_for_a_read_after_the_only_write` |
//! | `MemoryPool::make_block` allocates in the room of others on the block's stream | `memory::tests::room::a_block_that_needs_the_room_of_others_comes_after_their_frees`, `no_stream_with_work_allocates_or_frees_memory` (`cuda_driver.rs`) |
//! | `MemoryPool::make_block`: the block's stream does not wait for such an allocation | the same tests |
//! | `StreamTable::return_memory_stream` gives the stream to the program | `memory::tests::room::a_stream_on_which_memory_was_freed_never_works_for_the_program`, `no_stream_with_work_allocates_or_frees_memory` (`cuda_driver.rs`) |
//! | `MemoryPool::release` does not wait before it frees | `memory::tests::freeing::a_drop_makes_no_stream_of_a_user_wait` |
//! | `MemoryPool::hand_over`: `allocated_on` before `wait_for_uses` | `memory::tests::reuse::memory_that_is_free_in_stream_order_is_preferred` |
//! | `PinnedPool::for_stream`: `allocated_on` before `wait_for_uses` | `memory::tests::downloads::a_download_that_was_dropped_does_not_write_into_the_next` |
//! | `PinnedPool::for_host` takes a block that is not complete | `memory::tests::pinned::page_locked_memory_is_reused_only_when_no_copy_uses_it` |
//! | `read_raw` and `write_raw` do not order the access | `law7_raw_addresses` (`ordering.rs`) |
//! | `Outlet::emit` does not order the message | `port::tests::a_message_is_sent_after_what_was_written_on_another_stream`, each test of `receive/uses.rs` |
//! | `Outlet::emit` takes the point before it orders the message | `port::tests::a_record_from_before_a_message_was_ordered_does_not_cover_it` |
//! | `receive_stream` waits for all messages but the first, or the last | each `…_comes_after_the_message` (`receive/uses.rs`) |
//! | `synchronize_streams` skips the first stream | `synchronize_streams_orders_its_target_after_the_messages` (`receive/uses.rs`) |
//! | a transfer leaves the other device bound | `a_hook_continues_with_its_own_device_after_a_transfer` (`transfers.rs`) |
//! | `Wakeup::watch` does not wait for the point that it watches | `stream::wakeup::tests::a_watched_point_is_reached_before_the_signal` |
//! | the pool waits for a returned stream, or does not allocate it again | `a_dropped_stream_is_allocated_again_without_a_wait` (`stream_pools.rs`) |
//! | the race checker keeps the old accesses of memory that is allocated again | `memory_that_the_driver_allocates_again_does_not_race` (`race/bare/host.rs`) |
//! | the race checker keeps the accesses to memory that comes back from other code, or forgets all of them | `race/bare/border.rs`, `an_exchange_there_and_back_is_ordered` (`foreign_memory.rs`) |
//! | the race checker begins no epoch when other code gets memory | `a_use_on_the_other_codes_stream_since_is_no_dependency` (`race/bare/border.rs`) |
//! | `Records::close` records a stream without a new point | `stream::tests::waits::a_stream_is_recorded_once_for_all_points_since_the_last_record` |
//! | `Ring` grows at any number, or never | `stream::ring::tests::a_ring_grows_when_overwritten_records_are_asked_for_and_each_record_keeps_its_slot` |
//! | `PackedLastWrite::set` drops that the memory was read | `memory::tests::access::a_write_waits_for_a_read_beside_the_only_write` |
//! | `Claims::allocated_on` keeps the reads of the owner before | `memory::tests::reuse::a_new_owner_has_no_uses_of_the_one_before` |
//! | `KnownOrder` takes all uses on a stream for complete when one is | `memory::tests::queries::a_use_after_a_complete_one_is_not_taken_for_complete` |
//! | memory that is written is not checked for a mark of a failed write | `memory::tests::marks::work_that_may_read_memory_that_is_not_written_is_refused` |
//! | a message that several consumers share is sent without its point | `port::tests::each_consumer_gets_the_point_at_which_its_message_is_ready` |
//! | a message is sent before the record of its tick | `operator::runner::tests::a_message_is_sent_after_the_record_of_its_tick` |
//! | the work of `start` is not recorded when `start` ends | `operator::runner::tests::hooks::the_work_of_start_is_recorded_when_start_ends` |
//! | a tick does nothing, of any kind of node, in any form | `operator::runner::tests::each_kind` |
//! | the scheduler ends each run at once | `a_graph_may_be_defined_in_a_function` (`graphs.rs`), and others |

mod build;
mod drop_each;
mod graphs;
mod libraries;
mod nested;
mod notice;
mod operators;
mod order;
mod plan;
mod random;
mod remembered;
mod runs;
mod same_data;
mod shapes;
mod threads;
mod twins;
mod unneeded;

use std::env;

use drop_each::{Part, drop_each};
use streamflow_tests::forms::Form;
use streamflow_tests::{Failed, Suite};

/// With `STREAMFLOW_WORKERS`, every n-th dependency is dropped, so that the test takes less than a minute.
const STRIDE: usize = 4;
/// Without `STREAMFLOW_WORKERS`, workers run every n-th program, and drop every n-th of its dependencies.
const SAMPLE: (usize, usize) = (5, 2);

fn greedy() -> Result<(), Failed> {
    drop_each(Part { workers: None, programs: 1, mutations: 1 })
}

/// Runs all programs with as many workers as `STREAMFLOW_WORKERS` says, or else a few programs with 2 workers.
fn with_workers() -> Result<(), Failed> {
    let (count, programs, mutations) = match env::var("STREAMFLOW_WORKERS") {
        Ok(count) => (count.trim().parse()?, 1, STRIDE),
        Err(_) => (2, SAMPLE.0, SAMPLE.1),
    };
    let (programs, mutations) = match env::var("STREAMFLOW_MUTATIONS").as_deref() {
        Ok("all") => (1, 1),
        Ok(other) => {
            return Err(Failed::msg(format!("`STREAMFLOW_MUTATIONS={other}` is not `all`")));
        }
        Err(_) => (programs, mutations),
    };
    drop_each(Part { workers: Some(count), programs, mutations })
}

pub(crate) fn suite() -> Suite {
    Suite::new()
        .except(Form::Workers, "another run has the greedy scheduler", |suite| {
            suite.plain("the_race_checker_and_the_data_show_each_dropped_dependency", greedy)
        })
        .plain("they_show_it_with_workers_that_take_turns", with_workers)
        .except(
            Form::ReplayedAlways,
            "a host beside passes that are captured has no order",
            |suite| {
                suite.plain(
                    "graphs_in_graphs_have_the_dependencies_of_their_flat_twins",
                    twins::are_the_same,
                )
            },
        )
}
