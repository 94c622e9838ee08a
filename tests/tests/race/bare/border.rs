//! Memory that other code gets from streamflow and gives back. No call of the driver shows how that code orders
//! its own work. So memory that comes back counts as ordered after everything that the other code's work came
//! after.

use streamflow::driver::RawStream;
use streamflow_driver::driver::{AccessMode, DriverResult, MemoryRange};
use streamflow_tests::Suite;
use streamflow_tests::foreign::{BYTES, Bare, part};

use super::{Program, STREAM, expect, two};

/// Programs that have one race without their dependency, and none with it.
const PROGRAMS: &[(&str, Program)] = &[
    ("memory_that_comes_back_on_a_stream_comes_after_the_other_codes_work", on_a_stream),
    ("memory_that_comes_back_complete_comes_after_the_other_codes_work", complete),
    ("a_part_that_comes_back_comes_after_the_other_codes_work", part_of_it),
    ("what_the_host_has_found_complete_comes_before_memory_that_comes_back", found_complete),
    ("a_use_that_the_other_code_does_not_come_after_is_no_dependency", used_since),
    ("a_use_on_the_other_codes_stream_since_is_no_dependency", used_since_there),
    ("memory_that_comes_back_is_ordered_as_any_other", used_after),
    ("an_earlier_owners_exchange_is_no_dependency", recycled),
];

pub(super) fn add(suite: Suite) -> Suite {
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, program)| {
        suite.both(name, move |platform| {
            expect(platform, program, false, 1)?;
            expect(platform, program, true, 0)
        })
    });
    suite
        .both("memory_that_comes_back_counts_as_written", |platform| {
            expect(platform, written, false, 0)
        })
        .host("memory_of_other_code_at_an_old_address_begins_anew", |platform| {
            expect(platform, adopted_twice, false, 1)?;
            expect(platform, adopted_twice, true, 0)
        })
}

/// Other code frees its memory, and its next allocation has the same address.
fn adopted_twice(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let storage = vec![0_u8; BYTES as usize].leak();
    let address = storage.as_mut_ptr().expose_provenance() as u64;
    let memory = MemoryRange { address, bytes: BYTES };
    bare.adopt(memory)?;
    bare.write(a, memory)?;
    if dependency {
        bare.disown(a, memory)?;
        bare.adopt(memory)?;
    }
    bare.write(b, memory)?;
    bare.order(b, a, true)?;
    bare.disown(a, memory)
}

/// Returns memory that stream `a` has written, and that other code gets for work on a stream.
fn handed_out(bare: &Bare, a: RawStream, to: RawStream) -> DriverResult<MemoryRange> {
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.order(a, to, true)?;
    bare.address(to, memory, AccessMode::Write);
    Ok(memory)
}

fn on_a_stream(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, theirs], b) = (two(bare)?, bare.stream(STREAM)?);
    let memory = handed_out(bare, a, theirs)?;
    // At this point the other code makes `b` wait for `theirs`, by a call that the checker does not see.
    if dependency {
        bare.adopt(memory)?;
    }
    bare.address(b, memory, AccessMode::Write);
    bare.read(b, memory)?;
    if dependency {
        bare.disown(b, memory)?;
    }
    bare.order(b, a, true)
}

/// The host of the other code has waited for its work, so the memory comes back without a stream.
fn complete(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, theirs], b) = (two(bare)?, bare.stream(STREAM)?);
    let memory = handed_out(bare, a, theirs)?;
    if dependency {
        bare.adopt(memory)?;
    }
    bare.write(b, memory)?;
    if dependency {
        bare.disown(b, memory)?;
    }
    bare.order(b, a, true)
}

/// Other code made the allocation. It is larger than the tensor in it, and only the tensor's memory is adopted.
fn part_of_it(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, theirs], b) = (two(bare)?, bare.stream(STREAM)?);
    let memory = part(bare.allocate(a)?, 0, BYTES - 96);
    bare.order(a, theirs, true)?;
    bare.address(theirs, memory, AccessMode::Write);
    if dependency {
        bare.adopt(memory)?;
    }
    bare.write(b, memory)?;
    if dependency {
        bare.disown(b, memory)?;
    }
    bare.order(b, a, true)
}

fn found_complete(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    if dependency {
        bare.synchronize(a)?;
    }
    bare.adopt(memory)?;
    bare.write(b, memory)?;
    bare.disown(b, memory)?;
    bare.order(b, a, true)
}

fn used_since(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, theirs], b) = (two(bare)?, bare.stream(STREAM)?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    if dependency {
        bare.read(a, memory)?;
    }
    bare.order(a, theirs, true)?;
    bare.address(theirs, memory, AccessMode::Read);
    if !dependency {
        bare.read(a, memory)?;
    }
    bare.adopt(memory)?;
    bare.address(b, memory, AccessMode::Write);
    bare.disown(b, memory)?;
    bare.order(b, a, true)
}

/// streamflow uses the memory on the other code's stream, after that code has queued its work there.
fn used_since_there(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, theirs], b) = (two(bare)?, bare.stream(STREAM)?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.order(a, theirs, true)?;
    bare.address(theirs, memory, AccessMode::Read);
    if !dependency {
        bare.read(theirs, memory)?;
    }
    bare.adopt(memory)?;
    bare.address(b, memory, AccessMode::Write);
    bare.disown(b, memory)?;
    bare.order(b, a, true)
}

fn used_after(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, theirs], b) = (two(bare)?, bare.stream(STREAM)?);
    let memory = handed_out(bare, a, theirs)?;
    bare.adopt(memory)?;
    bare.address(b, memory, AccessMode::Write);
    bare.order(b, a, dependency)?;
    bare.read(a, memory)?;
    bare.order(b, a, true)?;
    bare.disown(a, memory)
}

/// The memory has got another owner since the other code had it.
fn recycled(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, theirs], b) = (two(bare)?, bare.stream(STREAM)?);
    let memory = handed_out(bare, a, theirs)?;
    bare.order(theirs, a, true)?;
    bare.recycle(a, memory)?;
    bare.write(a, memory)?;
    if dependency {
        bare.order(a, theirs, true)?;
        bare.address(theirs, memory, AccessMode::Write);
    }
    bare.adopt(memory)?;
    bare.write(b, memory)?;
    bare.disown(b, memory)?;
    bare.order(b, a, true)
}

fn written(bare: &Bare, _: bool) -> DriverResult<()> {
    let a = bare.stream(STREAM)?;
    let memory = bare.allocate(a)?;
    bare.adopt(memory)?;
    bare.read(a, memory)?;
    bare.disown(a, memory)
}
