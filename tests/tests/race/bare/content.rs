//! Accesses that are wrong in any order: those to memory that was freed, and reads of memory that was never
//! written.

use streamflow::prelude::*;
use streamflow_driver::driver::race::{RaceAction, RaceKind};
use streamflow_driver::driver::{AccessMode, CopyKind, DriverResult};
use streamflow_tests::foreign::{BYTES, Bare, part};
use streamflow_tests::{Failed, Suite, check, check_text};

use super::{Program, STREAM, expect, rows, run, two};

/// Programs that have one wrong access without their dependency, and none with it. They run only on the
/// simulator, since a GPU may refuse a call with freed memory.
const FREED: &[(&str, Program)] = &[
    ("a_read_after_the_free_on_the_same_stream_is_reported", read_after_free),
    ("a_write_after_the_free_on_the_same_stream_is_reported", write_after_free),
    ("an_access_that_waits_for_the_free_is_reported", ordered_after_free),
    ("an_access_of_a_part_after_the_free_is_reported", part_after_free),
    ("a_host_access_after_page_locked_memory_was_freed_is_reported", pinned_after_free),
];

/// Programs that read memory that was never written without their dependency, and that have no wrong access with
/// it.
const UNWRITTEN: &[(&str, Program)] = &[
    ("a_read_of_memory_that_nobody_wrote_is_reported", read_of_new),
    ("a_read_of_a_byte_that_nobody_wrote_is_reported", read_of_a_byte_more),
    ("a_read_between_two_written_parts_is_reported", read_between),
    ("a_read_between_two_copied_rows_is_reported", rows::gap),
    ("a_read_of_memory_that_passed_to_a_new_owner_is_reported", read_of_recycled),
    ("a_download_of_memory_that_nobody_wrote_is_reported", download_of_new),
    (
        "memory_whose_address_left_is_blank_again_after_it_passed_on",
        recycled_after_its_address_left,
    ),
];

/// Programs that write memory, in each way there is.
const WRITTEN: &[(&str, Program)] = &[
    ("an_upload_counts_as_written", uploaded),
    ("a_copy_counts_as_written", copied),
    ("page_locked_memory_counts_as_written", pinned),
    ("memory_whose_address_left_counts_as_written", address_left),
    ("parts_that_were_written_are_read", parts),
    ("padding_between_copied_rows_counts_as_written", rows::padding),
];

pub(super) fn add(suite: Suite) -> Suite {
    let suite = FREED.iter().fold(suite, |suite, &(name, program)| {
        suite.host(name, move |platform| {
            expect_kind(platform, program, RaceKind::Freed)?;
            expect(platform, program, true, 0)
        })
    });
    let suite = UNWRITTEN.iter().fold(suite, |suite, &(name, program)| {
        suite.both(name, move |platform| {
            expect_kind(platform, program, RaceKind::Unwritten)?;
            expect(platform, program, true, 0)
        })
    });
    let suite = WRITTEN.iter().fold(suite, |suite, &(name, program)| {
        suite.both(name, move |platform| expect(platform, program, false, 0))
    });
    suite
        .both("a_read_of_what_nobody_wrote_names_the_bytes_and_the_allocation", names)
        .host("a_use_after_the_free_names_the_free", names_the_free)
}

fn expect_kind(platform: &Platform, program: Program, kind: RaceKind) -> Result<(), Failed> {
    let races = run(platform, program, false)?;
    check(races.races.len() == 1 && races.races[0].kind == kind, || races.to_string())
}

fn read_after_free(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    if dependency {
        bare.read(a, memory)?;
    }
    bare.free(a, memory)?;
    if !dependency {
        bare.read(a, memory)?;
    }
    Ok(())
}

fn write_after_free(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    if dependency {
        bare.write(a, memory)?;
    }
    bare.free(a, memory)?;
    if !dependency {
        bare.write(a, memory)?;
    }
    Ok(())
}

fn ordered_after_free(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    if dependency {
        bare.write(b, memory)?;
        bare.order(b, a, true)?;
    }
    bare.free(a, memory)?;
    if !dependency {
        bare.order(a, b, true)?;
        bare.write(b, memory)?;
    }
    Ok(())
}

fn part_after_free(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let (memory, other) = (bare.allocate(a)?, bare.allocate(a)?);
    bare.write(a, part(memory, 0, 64))?;
    bare.write(a, part(memory, 64, 128))?;
    bare.free(a, memory)?;
    bare.write(a, part(if dependency { other } else { memory }, 100, 101))
}

fn pinned_after_free(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let (memory, other) = (bare.allocate_pinned()?, bare.allocate_pinned()?);
    bare.host(memory, AccessMode::Write);
    bare.free_pinned(memory)?;
    bare.host(if dependency { other } else { memory }, AccessMode::Read);
    Ok(())
}

fn read_of_new(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    if dependency {
        bare.write(a, memory)?;
    }
    bare.read(a, memory)
}

fn read_of_a_byte_more(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    bare.write(a, part(memory, 0, 1000))?;
    bare.read(a, part(memory, 0, 1000 + u64::from(!dependency)))
}

fn read_between(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    bare.write(a, part(memory, 0, 1000))?;
    bare.write(a, part(memory, 1000 + u64::from(!dependency), BYTES))?;
    bare.read(a, memory)
}

fn read_of_recycled(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.read(a, memory)?;
    bare.recycle(a, memory)?;
    if dependency {
        bare.write(a, memory)?;
    }
    bare.read(a, memory)
}

fn download_of_new(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    if dependency {
        bare.write(a, memory)?;
    }
    bare.copy_pageable(CopyKind::DeviceToPageable, a, memory)
}

fn recycled_after_its_address_left(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    bare.address(a, memory, AccessMode::Read);
    bare.read(a, memory)?;
    if !dependency {
        bare.recycle(a, memory)?;
    }
    bare.read(a, memory)
}

fn uploaded(bare: &Bare, _: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    bare.copy_pageable(CopyKind::PageableToDevice, a, memory)?;
    bare.read(a, memory)
}

fn copied(bare: &Bare, _: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let (memory, other) = (bare.allocate(a)?, bare.allocate(a)?);
    bare.write(a, memory)?;
    bare.copy(CopyKind::DeviceToDevice, a, memory, other)?;
    bare.read(a, other)
}

fn pinned(bare: &Bare, _: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let (memory, pinned) = (bare.allocate(a)?, bare.allocate_pinned()?);
    bare.copy(CopyKind::PinnedToDevice, a, pinned, memory)?;
    bare.read(a, memory)?;
    bare.synchronize(a)
}

fn address_left(bare: &Bare, _: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    for mode in [AccessMode::Read, AccessMode::Write] {
        let memory = bare.allocate(a)?;
        bare.address(a, memory, mode);
        bare.read(a, memory)?;
    }
    Ok(())
}

fn parts(bare: &Bare, _: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    for from in [2000, 0, 1000] {
        bare.write(a, part(memory, from, from + 1000))?;
        bare.read(a, part(memory, from, from + 1000))?;
    }
    bare.read(a, part(memory, 0, 3000))?;
    bare.write(a, part(memory, 2500, BYTES))?;
    bare.read(a, memory)
}

fn names(platform: &Platform) -> Result<(), Failed> {
    fn program(bare: &Bare, _: bool) -> DriverResult<()> {
        let a = bare.stream(STREAM)?;
        let memory = bare.allocate(a)?;
        bare.write(a, part(memory, 0, 1000))?;
        bare.read(a, memory)
    }
    let races = run(platform, program, false)?;
    let [race] = &races.races[..] else { return Err(Failed::msg(races)) };
    let is_right = race.earlier.action == RaceAction::Allocate
        && race.later.action == RaceAction::Copy("source")
        && race.overlap == (1000..BYTES)
        && race.allocation == BYTES;
    check(is_right, || format!("{race:?}"))?;
    check_text(
        &races.to_string(),
        &[
            "a wrong access was found",
            "read of what nobody wrote: bytes 1000..4096 of an allocation of 4096",
            "earlier: it is allocated on stream 1",
            "later:   a copy reads its source on stream 1",
            "missing: work that writes all these bytes must be queued before the read",
        ],
    )
}

fn names_the_free(platform: &Platform) -> Result<(), Failed> {
    let races = run(platform, read_after_free, false)?;
    let [race] = &races.races[..] else { return Err(Failed::msg(races)) };
    check(race.earlier.action == RaceAction::Free, || format!("{race:?}"))?;
    check_text(
        &races.to_string(),
        &[
            "use after free: an access to bytes 0..4096 of an allocation of 4096",
            "earlier: it is freed on stream 1",
            "missing: the memory must be freed after its last use",
        ],
    )
}
