//! Races between streams, and the dependencies that order them: records, waits, and the default stream's barrier.

use streamflow::stream::StreamFlags;
use streamflow_driver::driver::DriverResult;
use streamflow_tests::foreign::{BYTES, Bare, part};

use super::{STREAM, two};

pub(super) fn read_after_write(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    bare.order(a, b, dependency)?;
    bare.read(b, memory)
}

pub(super) fn write_after_read(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.order(a, b, true)?;
    bare.read(b, memory)?;
    bare.order(b, a, dependency)?;
    bare.write(a, memory)
}

/// The write waits for one of two reads, and races with the other read.
pub(super) fn write_after_two_reads(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, b], c) = (two(bare)?, bare.stream(STREAM)?);
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    for reader in [b, c] {
        bare.order(a, reader, true)?;
        bare.read(reader, memory)?;
    }
    bare.order(c, a, true)?;
    bare.order(b, a, dependency)?;
    bare.write(a, memory)
}

pub(super) fn write_after_write(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    bare.order(a, b, dependency)?;
    bare.write(b, memory)
}

pub(super) fn free_after_read(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.order(a, b, true)?;
    bare.read(b, memory)?;
    bare.order(b, a, dependency)?;
    bare.free(a, memory)
}

/// Memory is used again within a pool, so the driver sees neither a free nor an allocation.
pub(super) fn reuse_after_read(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.order(a, b, true)?;
    bare.read(b, memory)?;
    bare.order(b, a, dependency)?;
    bare.recycle(a, memory)
}

pub(super) fn use_before_allocation(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, dependency)?;
    bare.write(b, memory)
}

pub(super) fn overlapping_parts(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, part(memory, 0, 1001))?;
    bare.order(a, b, dependency)?;
    bare.write(b, part(memory, 1000, BYTES))
}

pub(super) fn part_of_a_write(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    // This write covers a part of the first one. The remaining part is as unordered as before.
    bare.write(a, part(memory, 0, 512))?;
    bare.order(a, b, dependency)?;
    bare.read(b, part(memory, 1024, 1028))
}

pub(super) fn parts(bare: &Bare, _: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, part(memory, 0, 1000))?;
    bare.write(b, part(memory, 1000, BYTES))?;
    bare.read(a, part(memory, 0, 1000))?;
    bare.write(b, part(memory, 2000, 3000))?;
    bare.order(b, a, true)
}

pub(super) fn two_readers(bare: &Bare, _: bool) -> DriverResult<()> {
    let [a, b] = two(bare)?;
    let memory = bare.allocate(a)?;
    bare.write(a, memory)?;
    bare.order(a, b, true)?;
    bare.read(a, memory)?;
    bare.read(b, memory)?;
    bare.order(b, a, true)
}

/// Stream `c` comes after `a` by two dependencies. The program can omit the first one.
pub(super) fn chain(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, b], c) = (two(bare)?, bare.stream(STREAM)?);
    let memory = bare.allocate(a)?;
    bare.order(a, c, true)?;
    bare.write(a, memory)?;
    bare.order(a, b, dependency)?;
    bare.order(b, c, true)?;
    bare.read(c, memory)
}

/// Only the latest record of an event counts: a record on another stream replaces the earlier one.
pub(super) fn recorded_again(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    bare.record(event, a)?;
    if !dependency {
        bare.record(event, b)?;
    }
    bare.wait(b, event)?;
    bare.read(b, memory)
}

/// A wait is for the record that was made before it, and not for a later record.
pub(super) fn wait_before_record(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let ([a, b], event) = (two(bare)?, bare.event()?);
    let memory = bare.allocate(a)?;
    bare.order(a, b, true)?;
    bare.write(a, memory)?;
    bare.wait(b, event)?;
    bare.record(event, a)?;
    if dependency {
        bare.wait(b, event)?;
    }
    bare.read(b, memory)
}

fn flags(dependency: bool) -> StreamFlags {
    if dependency { StreamFlags::Blocking } else { StreamFlags::NonBlocking }
}

pub(super) fn barrier_before(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let (a, default) = (bare.stream(flags(dependency))?, bare.default_stream()?);
    let memory = bare.allocate(a)?;
    bare.order(a, default, true)?;
    bare.write(a, memory)?;
    bare.read(default, memory)
}

pub(super) fn barrier_after(bare: &Bare, dependency: bool) -> DriverResult<()> {
    let (a, default) = (bare.stream(flags(dependency))?, bare.default_stream()?);
    let memory = bare.allocate(a)?;
    bare.order(a, default, true)?;
    bare.write(default, memory)?;
    bare.read(a, memory)
}
