//! The content of a report: both places of a race, how often the race occurred, and how many accesses were not
//! checked.

use streamflow::prelude::*;
use streamflow_driver::driver::DriverResult;
use streamflow_driver::driver::race::RaceAction;
use streamflow_tests::foreign::{BYTES, Bare, part};
use streamflow_tests::{Failed, check, check_text};

use super::{STREAM, run, two};

pub(super) fn both_readers_are_named(platform: &Platform) -> Result<(), Failed> {
    fn program(bare: &Bare, _: bool) -> DriverResult<()> {
        let ([a, b], c) = (two(bare)?, bare.stream(STREAM)?);
        let memory = bare.allocate(a)?;
        bare.write(a, memory)?;
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

/// Checks that races at the same two places make one report with a count, and that races at places beyond the
/// limit are only counted.
pub(super) fn too_many_races(platform: &Platform) -> Result<(), Failed> {
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

pub(super) fn forgotten(platform: &Platform) -> Result<(), Failed> {
    fn program(bare: &Bare, _: bool) -> DriverResult<()> {
        let stream = bare.stream(STREAM)?;
        let memory = bare.allocate(stream)?;
        // The parts are adjacent, so no access replaces another one in the checker's list.
        (0..200).try_for_each(|i| bare.write(stream, part(memory, 16 * i, 16 * i + 16)))
    }
    let races = run(platform, program, false)?;
    // The allocation and 200 writes are 201 accesses. The checker keeps 128 of them.
    check(races.is_empty() && races.forgotten == 201 - 128, || races.to_string())?;
    check_text(&races.to_string(), &["73 accesses were forgotten"])
}

pub(super) fn unknown(platform: &Platform) -> Result<(), Failed> {
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
    // The platform's own race checker, which is below both, knows the memory and has found no race.
    let below = platform.take_races();
    check(below.is_empty(), || below.to_string())?;
    check_text(&races.to_string(), &["2 accesses to memory from elsewhere"])
}
