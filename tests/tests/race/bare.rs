//! One race and one edge at a time, on bare streams.

use std::sync::Arc;
use std::thread;

use streamflow::driver::host::{HostDriver, Policy};
use streamflow::driver::race::{RaceAction, RaceReports};
use streamflow::driver::{AccessMode, CopyKind, DriverResult, RawStream};
use streamflow::prelude::*;
use streamflow_tests::foreign::{BYTES, Bare, part};
use streamflow_tests::{Failed, Suite, check, check_text};

const STREAM: StreamFlags = StreamFlags::NonBlocking;

/// A program that is right when its edge is there.
type Program = fn(&Bare, edge: bool) -> DriverResult<()>;

const RACES: &[(&str, Program)] = &[
    ("a_read_after_a_write", read_after_write),
    ("a_write_after_a_read", write_after_read),
    ("a_write_after_two_reads", write_after_two_reads),
    ("a_write_after_a_write", write_after_write),
    ("a_free_after_a_read", free_after_read),
    ("reuse_after_a_read", reuse_after_read),
    ("a_use_before_the_allocation", use_before_allocation),
    ("overlapping_parts", overlapping_parts),
    ("a_part_of_what_was_written", part_of_a_write),
    ("a_chain_of_streams", chain),
    ("an_event_recorded_again", recorded_again),
    ("a_wait_before_the_record", wait_before_record),
    ("a_host_read_of_a_download", host_read),
    ("a_host_write_of_an_upload", host_write),
    ("a_host_that_synchronizes", synchronized),
    ("a_host_that_asks", asked),
    ("a_copy_to_ordinary_memory", blocking_copy),
    ("the_default_streams_barrier", barrier_before),
    ("the_barrier_of_the_default_stream", barrier_after),
    ("another_thread_synchronizes", another_thread),
];

pub(super) fn add(suite: Suite) -> Suite {
    let suite = RACES.iter().fold(suite, |suite, &(name, program)| {
        suite.both(name, move |platform| {
            expect(platform, program, false, 1)?;
            expect(platform, program, true, 0)
        })
    });
    suite
        .both("parts_that_do_not_touch", |platform| expect(platform, parts, false, 0))
        .both("two_readers", |platform| expect(platform, two_readers, false, 0))
        .both("memory_that_the_driver_hands_out_again", allocated_again)
        .both("both_readers_are_named", both_readers_are_named)
        .both("too_many_races_are_counted", too_many_races)
        .both("what_is_forgotten_is_counted", forgotten)
        .both("unknown_memory_is_counted", unknown)
        .plain("a_question_answered_with_no_orders_nothing::host", unanswered)
        .plain("a_host_function_that_was_called::host", host_function)
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

fn read_after_write(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    bare.order(a, b, edge)?;
    bare.read(b, memory)
}

fn write_after_read(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.order(a, b, true)?;
    bare.read(b, memory)?;
    bare.order(b, a, edge)?;
    bare.write(a, memory)
}

/// One of the two is waited for: the other is the race.
fn write_after_two_reads(bare: &Bare, edge: bool) -> DriverResult<()> {
    let ([a, b], c) = (two(bare)?, bare.stream(STREAM)?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    for reader in [b, c] {
        bare.order(a, reader, true)?;
        bare.read(reader, memory)?;
    }
    bare.order(c, a, true)?;
    bare.order(b, a, edge)?;
    bare.write(a, memory)
}

fn write_after_write(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    bare.order(a, b, edge)?;
    bare.write(b, memory)
}

fn free_after_read(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.read(b, memory)?;
    bare.order(b, a, edge)?;
    bare.free(a, memory)
}

/// Within a pool: neither a free nor an allocation is called.
fn reuse_after_read(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.read(b, memory)?;
    bare.order(b, a, edge)?;
    bare.recycle(a, memory)
}

fn use_before_allocation(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, edge)?;
    bare.write(b, memory)
}

fn overlapping_parts(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, part(memory, 0, 1001))?;
    bare.order(a, b, edge)?;
    bare.write(b, part(memory, 1000, BYTES))
}

fn part_of_a_write(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    // It covers a part of the write, whose rest is as unordered as before.
    bare.write(a, part(memory, 0, 512))?;
    bare.order(a, b, edge)?;
    bare.read(b, part(memory, 1024, 1028))
}

fn parts(bare: &Bare, _: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, part(memory, 0, 1000))?;
    bare.write(b, part(memory, 1000, BYTES))?;
    bare.read(a, part(memory, 0, 1000))?;
    bare.write(b, part(memory, 2000, 3000))?;
    bare.order(b, a, true)
}

fn two_readers(bare: &Bare, _: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.order(a, b, true)?;
    bare.read(a, memory)?;
    bare.read(b, memory)?;
    bare.order(b, a, true)
}

/// The driver sees to it itself that a new owner's work comes after the free. Another thread waits for that, so that the
/// driver can give the memory to another stream, and this thread has seen no order.
fn allocated_again(platform: &Platform) -> Result<(), Failed> {
    fn program(bare: &Bare, given: &mut Vec<u64>) -> DriverResult<()> {
        for stream in two(bare)?.into_iter().cycle().take(4) {
            let memory = bare.allocate(stream)?;
            given.push(memory.address);
            bare.write(stream, memory)?;
            bare.free(stream, memory)?;
            let driver = BareDriver(bare.driver());
            let waited = thread::spawn(move || driver.wait_for_all(stream));
            waited.join().unwrap_or(Ok(()))?;
        }
        Ok(())
    }
    let (bare, mut given) = (Bare::new(platform.driver().clone())?, Vec::new());
    program(&bare, &mut given)?;
    let races = bare.races();
    drop(bare);
    let below = platform.take_races();
    check(races.is_empty() && below.is_empty(), || format!("{races}\nbelow: {below}"))?;
    // What a GPU's driver does with memory that was freed is its own affair.
    let is_same = given.iter().all(|address| *address == given[0]);
    check(is_same || platform.name() != "host", || format!("inconclusive: {given:x?}"))
}

/// An order of two steps; the edge is the first of them.
fn chain(bare: &Bare, edge: bool) -> DriverResult<()> {
    let ([a, b], c) = (two(bare)?, bare.stream(STREAM)?);
    let memory = bare.allocate(a)?;
    bare.order(a, c, true)?;
    bare.write(a, memory)?;
    bare.order(a, b, edge)?;
    bare.order(b, c, true)?;
    bare.read(c, memory)
}

/// Only the latest record counts: one of another stream hides the first.
fn recorded_again(bare: &Bare, edge: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    if !edge {
        bare.record(event, b)?;
    }
    bare.wait(b, event)?;
    bare.read(b, memory)
}

/// A wait is for the record that there is, not for one to come.
fn wait_before_record(bare: &Bare, edge: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    bare.wait(b, event)?;
    bare.record(event, a)?;
    if edge {
        bare.wait(b, event)?;
    }
    bare.read(b, memory)
}

fn host_read(bare: &Bare, edge: bool) -> DriverResult<()> {
    let (a, event) = (bare.stream(STREAM)?, bare.event()?);
    let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
    bare.copy(CopyKind::DeviceToPinned, a, memory, pinned)?;
    bare.record(event, a)?;
    if edge {
        bare.synchronize_event(event)?;
    }
    bare.host(pinned, AccessMode::Read);
    bare.synchronize(a)
}

/// To read what is being uploaded is no race; to write it is one.
fn host_write(bare: &Bare, edge: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
    bare.copy(CopyKind::PinnedToDevice, a, pinned, memory)?;
    bare.host(pinned, AccessMode::Read);
    if edge {
        bare.synchronize(a)?;
    }
    bare.host(pinned, AccessMode::Write);
    bare.synchronize(a)
}

/// What is queued after the host has waited comes after what it has waited for.
fn synchronized(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    if edge {
        bare.synchronize(a)?;
    }
    bare.write(b, memory)
}

fn asked(bare: &Bare, edge: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    while edge && !bare.query_event(event)? {}
    bare.write(b, memory)
}

/// A copy from ordinary memory returns perhaps before the data has arrived.
fn blocking_copy(bare: &Bare, edge: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    let kind = if edge { CopyKind::DeviceToPageable } else { CopyKind::PageableToDevice };
    bare.copy_pageable(kind, a, memory)?;
    bare.write(b, memory)
}

fn flags(edge: bool) -> StreamFlags {
    if edge { StreamFlags::Blocking } else { StreamFlags::NonBlocking }
}

fn barrier_before(bare: &Bare, edge: bool) -> DriverResult<()> {
    let (a, default) = (bare.stream(flags(edge))?, bare.default_stream()?);
    let memory = bare.allocate(a)?;
    bare.order(a, default, true)?;
    bare.write(a, memory)?;
    bare.read(default, memory)
}

fn barrier_after(bare: &Bare, edge: bool) -> DriverResult<()> {
    let (a, default) = (bare.stream(flags(edge))?, bare.default_stream()?);
    let memory = bare.allocate(a)?;
    bare.order(a, default, true)?;
    bare.write(default, memory)?;
    bare.read(a, memory)
}

/// What a thread has found complete, another goes by only if it says so.
fn another_thread(bare: &Bare, edge: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    let driver = bare.driver();
    let found = thread::spawn(move || {
        let bare = BareDriver(driver);
        bare.wait_for(event)
    });
    found.join().unwrap_or(Ok(()))?;
    if edge {
        bare.relies(a, Some(b));
    }
    bare.write(b, memory)
}

/// A driver on another thread.
struct BareDriver(Arc<dyn streamflow::driver::Driver>);

impl BareDriver {
    fn wait_for(&self, event: streamflow::driver::RawEvent) -> DriverResult<()> {
        self.0.bind(device(0))?;
        streamflow_tests::foreign::synchronize_event(&*self.0, event)
    }

    fn wait_for_all(&self, stream: RawStream) -> DriverResult<()> {
        self.0.bind(device(0))?;
        streamflow_tests::foreign::synchronize_stream(&*self.0, stream)
    }
}

fn both_readers_are_named(platform: &Platform) -> Result<(), Failed> {
    fn program(bare: &Bare, _: bool) -> DriverResult<()> {
        let ([a, b], c) = (two(bare)?, bare.stream(STREAM)?);
        let memory = bare.allocate(a)?;
        for reader in [b, c] {
            bare.order(a, reader, true)?;
            bare.read(reader, part(memory, 64, 256))?;
        }
        bare.write(a, part(memory, 128, 512))
    }
    let races = run(platform, program, false)?;
    check(races.races.len() == 2, || races.to_string())?;
    for (race, stream) in races.races.iter().zip(["stream 2", "stream 3"]) {
        check(race.earlier.stream.as_deref() == Some(stream), || races.to_string())?;
        check(race.later.stream.as_deref() == Some("stream 1"), || races.to_string())?;
        check(race.earlier.action == RaceAction::Copy("source"), || races.to_string())?;
        check(race.later.action == RaceAction::Fill, || races.to_string())?;
        check(race.overlap == (128..256) && race.allocation == BYTES, || races.to_string())?;
    }
    check_text(
        &races.to_string(),
        &[
            "2 races between streams",
            "bytes 128..256 of an allocation of 4096",
            "earlier: a copy reads its source on stream 2",
            "later:   a fill writes it on stream 1",
            "stream 1 must wait for an event that is recorded on stream 3 after the earlier access",
            "flowchart LR",
        ],
    )
}

/// Of the same places one report with a number; of too many places a number alone.
fn too_many_races(platform: &Platform) -> Result<(), Failed> {
    fn program(bare: &Bare, _: bool) -> DriverResult<()> {
        let writer = bare.stream(STREAM)?;
        for _ in 0..40 {
            let stream = bare.stream(STREAM)?;
            let memory = bare.allocate(stream)?;
            bare.order(stream, writer, true)?;
            for _ in 0..3 {
                bare.write(stream, memory)?;
                bare.write(writer, memory)?;
                bare.order(writer, stream, true)?;
            }
        }
        Ok(())
    }
    let races = run(platform, program, false)?;
    check(races.races.len() == 32, || races.to_string())?;
    check(races.races.iter().all(|race| race.times == 3), || races.to_string())?;
    check(races.more == 8 * 3, || races.to_string())?;
    check_text(&races.to_string(), &["found:   3 times", "24 more were found at other places"])
}

fn forgotten(platform: &Platform) -> Result<(), Failed> {
    fn program(bare: &Bare, _: bool) -> DriverResult<()> {
        let stream = bare.stream(STREAM)?;
        let memory = bare.allocate(stream)?;
        // One part beside the other, so that none takes another's place.
        (0..200).try_for_each(|i| bare.write(stream, part(memory, 16 * i, 16 * i + 16)))
    }
    let races = run(platform, program, false)?;
    // The allocation and 200 writes, of which 128 are kept.
    check(races.is_empty() && races.forgotten == 201 - 128, || races.to_string())?;
    check_text(&races.to_string(), &["73 accesses were forgotten"])
}

fn unknown(platform: &Platform) -> Result<(), Failed> {
    let before = Bare::new(platform.driver().clone())?;
    let stream = before.stream(STREAM)?;
    let memory = before.allocate(stream)?;
    before.synchronize(stream)?;
    let bare = Bare::new(platform.driver().clone())?;
    let [a, b] = two(&bare)?;
    bare.write(a, memory)?;
    bare.order(a, b, true)?;
    bare.write(b, memory)?;
    let races = bare.races();
    bare.synchronize(b)?;
    check(races.is_empty() && races.unknown == 2, || races.to_string())?;
    // To the platform's own checker, below both, it is not unknown; nothing raced there.
    let below = platform.take_races();
    check(below.is_empty(), || below.to_string())?;
    check_text(&races.to_string(), &["2 accesses to memory from elsewhere"])
}

/// On the simulator under the lazy policy, nothing is complete before somebody waits.
fn unanswered() -> Result<(), Failed> {
    let driver = HostDriver::builder().policy(Policy::Lazy).build();
    let bare = Bare::new(Arc::new(driver))?;
    let ([a, b], event) = (two(&bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.synchronize(a)?;
    bare.write(a, memory)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    check(!bare.query_event(event)? && !bare.query(a)?, || "complete already".into())?;
    bare.write(b, memory)?;
    let races = bare.races();
    check(races.races.len() == 1, || races.to_string())
}

/// That a host function is called says that all before is complete, to whoever goes by it, and to
/// nobody else: on the simulator it is called on the thread that submits.
fn host_function() -> Result<(), Failed> {
    for relies in [false, true] {
        let driver = HostDriver::builder().policy(Policy::Eager).build();
        let bare = Bare::new(Arc::new(driver))?;
        let a = bare.stream(STREAM)?;
        let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
        bare.copy(CopyKind::DeviceToPinned, a, memory, pinned)?;
        check(bare.host_function(a)?, || "it was not called".into())?;
        if relies {
            bare.relies(a, None);
        }
        bare.host(pinned, AccessMode::Read);
        let races = bare.races();
        check(races.is_empty() == relies, || races.to_string())?;
    }
    Ok(())
}
